"""The report: assembled, checked against its schema, and read back."""

import copy
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.reports.sample import (
    Data,
    comparison_events,
    comparison_report,
    finding,
    good_events,
    good_report,
)

from saverproof_reports import assemble, html, markdown, report_of, validate
from saverproof_reports.schemas import schema

ENVIRONMENT = {"python": "3.11.7", "platform": "Linux", "packages": {"langgraph": "1.2.22"}}
RUN = {
    "profile": "quick",
    "seed": 0,
    "started": "2026-11-21T22:18:04Z",
    "duration_s": 1.5,
    "workers": 1,
}
SAVER = {"name": "mine", "class": "mine.Saver", "distribution": None, "version": None}
CONTRACT = {
    "id": "ordering/list-newest-first",
    "family": "ordering",
    "level": "must",
    "since": None,
    "statement": "newest first",
    "source": "base",
    "verdict": "violated",
    "reason": None,
    "checked": {"sync": 3},
}
NEVER = {"sync": 0, "async": 0, "crossed": 0}
VIOLATION = {
    "api": "sync",
    "phase": "functional",
    "summary": "oldest first",
    "expected": "2, 1",
    "observed": "1, 2",
    "steps": ["put 1", "put 2", "list"],
    "reproducer_source": "assert False",
}


def one_saver(*violations: Data, **changes: object) -> Data:
    contract = {**CONTRACT, "violations": list(violations), **changes}
    return assemble(ENVIRONMENT, RUN, [{"saver": SAVER, "contracts": [contract]}], True)


@pytest.mark.parametrize("build", [good_report, comparison_report])
def test_whole_runs_keep_the_schema(build: Any) -> None:
    assert validate(build()) == []


def test_the_smallest_run_keeps_the_schema_and_counts_its_contracts() -> None:
    report = one_saver(VIOLATION)
    assert validate(report) == []
    assert report["savers"][0]["summary"]["must"]["violated"] == 1
    assert report["savers"][0]["crash"]["trials"] == 0


@pytest.mark.parametrize(
    "field", ["schema", "complete", "environment", "run", "savers"], ids=lambda name: name
)
def test_a_missing_field_is_named(field: str) -> None:
    report = one_saver(VIOLATION)
    del report[field]
    assert validate(report) == [f"the whole: found no {field}, which is required"]


def _required(part: object) -> set[str]:
    if isinstance(part, dict):
        own = set(part.get("required", ())) if isinstance(part.get("required"), list) else set()
        return own.union(*(_required(value) for value in part.values()))
    return set()


def test_every_field_that_the_design_fixes_is_required() -> None:
    fixed = """
        schema complete environment python platform packages run profile seed started duration_s
        workers savers saver name class distribution version summary must should contracts id
        family level since statement source verdict reason checked violations sync async crossed
        api phase expected observed steps reproducer artefact faults points injected by_kind crash
        trials kill_points recovery_ms p50 p99 lost torn power images lost_acknowledged_max
        corrupt timing operations saver_s total_s
    """
    assert set(fixed.split()) <= _required(schema("report-1"))


def test_fields_may_be_added() -> None:
    report = one_saver(VIOLATION)
    report["savers"][0]["contracts"][0]["violations"][0]["colour"] = "red"
    assert validate(report) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"verdict": "held", "violations": [], "checked": NEVER}, "held, but it was never judged"),
        ({"violations": []}, "violated without a violation that shows it"),
        ({"verdict": "held"}, "held, but it has violations"),
        ({"family": "upsert"}, "found family upsert"),
        ({"verdict": "fine"}, 'found "fine", expected one of held, violated'),
    ],
)
def test_a_report_that_contradicts_itself_is_told_so(changes: Any, said: str) -> None:
    report = copy.deepcopy(one_saver(VIOLATION))
    report["savers"][0]["contracts"][0] |= changes
    assert said in "\n".join(validate(report))


def test_a_summary_that_miscounts_is_told_so() -> None:
    report = one_saver(VIOLATION)
    report["savers"][0]["summary"]["must"]["held"] = 55
    assert "summary.must" in validate(report)[0]


def test_a_contract_that_stands_twice_is_told_so() -> None:
    report = one_saver(VIOLATION)
    contracts = report["savers"][0]["contracts"]
    contracts.append(contracts[0])
    assert "found 2 times" in "\n".join(validate(report))


def test_reproducers_get_names_of_their_own() -> None:
    report = one_saver(VIOLATION, VIOLATION, {**VIOLATION, "api": "async"})
    names = [one["reproducer"] for one in report["savers"][0]["contracts"][0]["violations"]]
    stem = "reproducers/mine-ordering-list-newest-first"
    assert names == [
        f"{stem}-sync-functional.py",
        f"{stem}-sync-functional-2.py",
        f"{stem}-async-functional.py",
    ]


def test_a_violation_without_a_script_names_none() -> None:
    report = one_saver({**VIOLATION, "reproducer_source": ""})
    violation = report["savers"][0]["contracts"][0]["violations"][0]
    assert violation["reproducer"] is None
    assert "reproducer_source" not in violation


@pytest.mark.parametrize("name", ["report-1", "artefact-1"])
def test_each_schema_is_a_json_schema(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))


def test_the_order_in_which_items_come_in_makes_no_difference() -> None:
    run, saver, *items, end = comparison_events()[:20]
    one = report_of([run, saver, *items, end])
    assert report_of([run, saver, *reversed(items), end]) == one


def test_every_difference_that_was_seen_is_accounted_for() -> None:
    events = good_events()
    saver, first, second = events[1:4]
    broken, held = saver["contracts"][0]["id"], saver["contracts"][1]["id"]
    first["findings"] = [finding(broken, api=first["api"])]
    first["extra"] = {"differences": {"seen": 4, "shown": 1, "explained": 3, "unknown": 0}}
    second["extra"] = {
        "differences": {
            "seen": 3,
            "shown": 0,
            "explained": 2,
            "unknown": 1,
            "elsewhere": [
                {"contracts": [broken], "times": 2},
                {"contracts": [held], "times": 1, "steps": ["put checkpoint 1", "get it"]},
            ],
        }
    }
    report = report_of(events)
    assert validate(report) == []
    differences = report["savers"][0]["differences"]
    # What the other families' programs met of the broken contract is explained by its finding.
    assert differences == {
        "seen": 10,
        "shown": 1,
        "explained": 7,
        "unknown": 2,
        "unsettled": {held: 1},
    }
    contracts = {one["id"]: one for one in report["savers"][0]["contracts"]}
    assert contracts[broken]["verdict"] == "violated"
    # What may be broken, as programs of another family show, is not said to hold.
    assert contracts[held]["verdict"] == "unknown"
    assert contracts[held]["reason"] == (
        f"1 answer was not as promised, in programs of {second['family']} ({second['api']}); which "
        "contract that breaks is not certain (the programs of its own family did not break it); "
        "the shortest program: put checkpoint 1; get it"
    )
    assert "10 differences seen: 1 shown, 7 explained by these, 2 not settled" in markdown(report)


def test_the_report_says_who_made_the_programs() -> None:
    events = good_events()
    first, second = events[2:4]
    random = {"programs": 20, "steps": 1_200}
    first["extra"] = {"programs": {"random": random, "directed": {"programs": 1, "steps": 1}}}
    second["extra"] = {"programs": {"random": random, "hypothesis": {"programs": 3, "steps": 90}}}
    report = report_of(events)
    assert validate(report) == []
    assert report["savers"][0]["programs"] == {
        "random": {"programs": 40, "steps": 2_400},
        "directed": {"programs": 1, "steps": 1},
        "hypothesis": {"programs": 3, "steps": 90},
    }
    said = (
        "44 programs: 40 by the random driver (2,400 steps), 3 by Hypothesis (90 steps), "
        "1 directed (1 step)"
    )
    assert said in markdown(report)
    assert said in html(report)


def test_a_saver_may_hold_less_than_at_first() -> None:
    """Objects that an import or a cache left are freed later: no reason to lose a report."""
    held = {
        "work": "opening and closing the saver",
        "api": "sync",
        "kind": "objects",
        "order": "constant",
        "times": [4, 12, 36, 144],
        "counts": [240, 304, 640, -32],
    }
    events = good_events()
    item = next(event for event in events if event["event"] == "item")
    item["extra"] = {**item.get("extra", {}), "resources": {"held": [held]}}
    report = report_of(events)
    assert validate(report) == []
    assert report["savers"][0]["resources"]["held"] == [held]
