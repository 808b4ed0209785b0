"""Differences that nothing explains, and findings that belong to other families."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from tests.reports.sample import Data, finding, run_event, saver_events

from saverproof_reports import html, markdown, merged, report_of, validate
from saverproof_reports.github import annotations
from saverproof_reports.unsettled import failing, groups

REPLACES, SORTED, PAGES = "upsert/put-replaces", "ordering/writes-sorted", "ordering/pages-tile"
STEPS = ["put checkpoint 1", "write twice", "get it"]


def seen(times: int = 3, steps: Iterable[str] = STEPS, **changes: Any) -> Data:
    why = "it could not be shown again"
    return {"times": times, "why": why, "steps": [*steps], "program": [{"op": "put"}], **changes}


def events(
    *,
    families: Iterable[str] | None = None,
    contracts: Iterable[str] | None = None,
    inapplicable: Mapping[str, str] | None = None,
    lenient: bool = False,
    **items: Data,
) -> list[Data]:
    """A run in which the items of the families in ``items`` say something more."""
    run = run_event(**({"lenient": True} if lenient else {}))
    found: list[Data] = []
    for event in [run, *saver_events("x", inapplicable=inapplicable), {"event": "end"}]:
        if "items" in event:
            pairs = [p for p in event["items"] if families is None or p[0] in families]
            asked = [
                {**one, "selected": contracts is None or one["id"] in contracts}
                for one in event["contracts"]
            ]
            found.append({**event, "items": pairs, "contracts": asked})
        elif event["event"] != "item":
            found.append(event)
        elif families is None or event["family"] in families:
            found.append({**event, **items.get(event["family"], {})})
    return found


def judged(told: list[Data]) -> Data:
    report = report_of(told)
    assert validate(report) == []
    saver: Data = report["savers"][0]
    return {**saver, "by_id": {one["id"]: one for one in saver["contracts"]}}


def elsewhere(*contracts: str, times: int = 3) -> Data:
    left = [{"contracts": list(contracts), "times": times, "steps": STEPS}]
    counts = {"seen": 0, "shown": 0, "explained": 0, "unknown": 0}
    return {"extra": {"differences": {**counts, "elsewhere": left}}}


def test_a_contract_with_something_unsettled_is_unknown_and_fails() -> None:
    saver = judged(events(upsert={"unsettled": {REPLACES: seen()}}))
    one = saver["by_id"][REPLACES]
    assert one["verdict"] == "unknown"
    assert one["reason"] == (
        "6 answers were not as promised, in programs of upsert (sync, async); which contract that "
        "breaks is not certain (it could not be shown again); the shortest program: "
        "put checkpoint 1; write twice; get it"
    )
    entry = one["unsettled"]
    assert (entry["times"], entry["steps"], entry["fails"]) == (6, STEPS, True)
    assert entry["program"] == [{"op": "put"}]
    assert entry["contracts"] == [REPLACES]
    assert [one["id"] for one in failing(saver)] == [REPLACES]


def test_the_shortest_program_stands_for_all() -> None:
    told = events(
        ordering={"unsettled": {REPLACES: seen(steps=STEPS[:1], why="shorter")}},
        upsert={"unsettled": {REPLACES: seen()}},
        filter={"unsettled": {REPLACES: seen(steps=())}},
    )
    entry = judged(told)["by_id"][REPLACES]["unsettled"]
    assert (entry["steps"], entry["why"], entry["times"]) == (STEPS[:1], "shorter", 18)
    assert [(part["family"], part["api"]) for part in entry["seen_by"]] == [
        (family, api) for family in ("ordering", "upsert", "filter") for api in ("sync", "async")
    ]


def test_a_violation_outweighs_what_is_unsettled() -> None:
    told = events(upsert={"unsettled": {REPLACES: seen()}, "findings": [finding(REPLACES)]})
    one = judged(told)["by_id"][REPLACES]
    assert one["verdict"] == "violated"
    assert "unsettled" not in one


def test_what_does_not_apply_is_not_unsettled() -> None:
    told = events(upsert={"unsettled": {PAGES: seen()}}, inapplicable={"ordering": "too old"})
    assert judged(told)["by_id"][PAGES]["verdict"] == "not-applicable"


@pytest.mark.parametrize(
    ("excuse", "lenient"), [({"known": {"reason": "r"}}, False), ({"baseline": True}, False),
                            ({}, True)],
)  # fmt: skip
def test_what_is_unsettled_may_be_excused(excuse: Data, lenient: bool) -> None:
    item = {"unsettled": {REPLACES: seen()}, "excuses": {REPLACES: excuse}}
    saver = judged(events(upsert=item, lenient=lenient))
    assert saver["by_id"][REPLACES]["verdict"] == "unknown"
    assert failing(saver) == []


def test_an_entry_for_another_contract_excuses_nothing() -> None:
    listed = {**finding(SORTED), "known": {"reason": "by design", "link": None}}
    told = events(ordering={"findings": [listed]}, upsert={"unsettled": {REPLACES: seen()}})
    saver = judged(told)
    assert saver["by_id"][SORTED]["verdict"] == "known"
    assert [one["id"] for one in failing(saver)] == [REPLACES]


def test_advice_that_is_unsettled_fails_nothing() -> None:
    saver = judged(events(filter={"unsettled": {"filter/none": seen()}}))
    assert saver["by_id"]["filter/none"]["verdict"] == "unknown"
    assert failing(saver) == []


def test_what_other_families_may_explain_is_unsettled_until_they_do() -> None:
    saver = judged(events(upsert=elsewhere(SORTED, PAGES)))
    assert {one["id"] for one in failing(saver)} == {SORTED, PAGES}
    (group,) = groups(saver["contracts"])
    assert len(group) == 2, "one program, one heading"
    assert group[0]["unsettled"]["contracts"] == [SORTED, PAGES]
    explained = events(upsert=elsewhere(SORTED, PAGES), ordering={"findings": [finding(PAGES)]})
    assert failing(judged(explained)) == []


def test_what_is_unsettled_fails_a_part_that_did_not_judge_the_family_in_question() -> None:
    saver = judged(events(families=["upsert"], upsert=elsewhere(SORTED)))
    assert [one["id"] for one in failing(saver)] == [SORTED]


def test_nobody_asked_about_other_contracts() -> None:
    told = events(families=["upsert"], contracts=[REPLACES], upsert=elsewhere(SORTED))
    saver = judged(told)
    assert failing(saver) == []
    assert saver["by_id"][SORTED]["verdict"] == "not-exercised"


def test_what_another_family_saw_broken_is_broken() -> None:
    long, short = finding(SORTED, steps=STEPS), finding(SORTED, steps=STEPS[:2])
    told = events(upsert={"handed": [long]}, filter={"handed": [short]})
    one = judged(told)["by_id"][SORTED]
    assert one["verdict"] == "violated"
    (violation,) = one["violations"]
    assert (violation["seen_by"], violation["steps"]) == ("filter", STEPS[:2])


def test_what_its_own_family_found_is_shown_instead() -> None:
    told = events(
        upsert={"handed": [finding(SORTED, steps=STEPS[:1])]},
        ordering={"findings": [finding(SORTED, steps=STEPS)]},
    )
    violations = judged(told)["by_id"][SORTED]["violations"]
    assert {tuple(one["steps"]) for one in violations} == {tuple(STEPS)}
    assert not any("seen_by" in one for one in violations)


def test_what_was_handed_on_and_is_listed_is_known() -> None:
    listed = {**finding(SORTED), "known": {"reason": "by design", "link": None}}
    assert judged(events(upsert={"handed": [listed]}))["by_id"][SORTED]["verdict"] == "known"


@pytest.mark.parametrize(
    "asked", [{"families": ["upsert"]}, {"contracts": [REPLACES]}], ids=["families", "contracts"]
)
def test_what_nobody_asked_about_is_told_beside_and_fails_nothing(asked: Any) -> None:
    saver = judged(events(**asked, upsert={"handed": [finding(SORTED)]}))
    assert saver["by_id"][SORTED]["verdict"] == "not-exercised"
    (beside,) = saver["beside"]
    assert (beside["contract"], beside["seen_by"]) == (SORTED, "upsert")
    assert beside["artefact"]


def test_what_is_handed_on_settles_what_is_in_question() -> None:
    told = events(upsert={**elsewhere(SORTED, PAGES), "handed": [finding(SORTED)]})
    assert failing(judged(told)) == []


def test_what_was_seen_beside_settles_what_another_family_left_open() -> None:
    items: Any = {"upsert": elsewhere(SORTED, PAGES), "filter": {"handed": [finding(SORTED)]}}
    whole = judged(events(families=items, **items))
    assert [one["contract"] for one in whole["beside"]] == [SORTED]
    parts = [report_of(events(families=[name], **items)) for name in items]
    for together in (merged(parts), merged(parts[::-1])):
        assert together["savers"][0]["contracts"] == whole["contracts"]
        assert together["savers"][0]["differences"] == whole["differences"]
    assert failing(whole) == []


def test_parts_of_a_run_agree_with_the_whole() -> None:
    items: Any = {
        "upsert": {
            "handed": [finding(SORTED)],
            "unsettled": {REPLACES: seen()},
            **elsewhere("filter/equality", "identity/parent"),
        },
        "isolation": elsewhere(PAGES, SORTED),
        "identity": {"unknown": {"identity/parent": "cut off"}},
    }
    names = {event["family"] for event in events() if "family" in event}
    first = {"upsert", "filter"}
    parts = [report_of(events(families=part, **items)) for part in (first, names - first)]
    whole = report_of(events(**items))
    for together in (merged(parts), merged(parts[::-1])):
        assert validate(together) == []
        contracts = {one["id"]: one for one in together["savers"][0]["contracts"]}
        for one in whole["savers"][0]["contracts"]:
            assert contracts[one["id"]] == one
        assert "beside" not in together["savers"][0]


@pytest.mark.parametrize("lenient", [False, True])
def test_every_format_has_a_heading_for_it(lenient: bool) -> None:
    told = events(upsert=elsewhere(SORTED, PAGES), lenient=lenient)
    report = report_of(told)
    page, text = html(report), markdown(report)
    assert "2 unsettled." in page
    assert f"Unsettled: `{PAGES}`, `{SORTED}`" in text
    assert f"<summary><code>{PAGES}, {SORTED}</code>" in page
    for format_ in (page, text):
        assert "write twice" in format_
        assert "--saver-lenient" in format_
        assert ("fails nothing: advice, or --saver-lenient" in format_) == lenient
    assert f'class="verdict {"open" if lenient else "bad"}"' in page
    levels = {line.partition(" ")[0] for line in annotations(report)}
    assert levels == {"::warning" if lenient else "::error"}


def test_every_format_tells_whose_programs_showed_it_and_what_was_seen_beside() -> None:
    report = report_of(events(upsert={"handed": [finding(SORTED)]}))
    beside = report_of(events(families=["upsert"], upsert={"handed": [finding(SORTED)]}))
    for show in (html, markdown):
        assert "by programs of upsert" in show(report)
        assert "een beside what was asked: ordering/writes-sorted" in show(beside)
