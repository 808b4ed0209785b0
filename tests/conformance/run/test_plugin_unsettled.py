"""Wrong answers that nothing settles, and findings of other families, as a run tells them.

By night, a strict run of workers.
"""

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.plugin_support import Project, Result, count
from tests.nights import by_night

from saverproof_reports import validate

REPLACES, SORTED = "upsert/put-replaces", "ordering/writes-sorted"
SEEN = {
    "times": 83,
    "why": "two contracts may be behind it",
    "steps": ["put checkpoint 1", "write \x1b[31m twice", "get it"],
    "program": [{"op": "put"}],
}
UPSERT = "--saver-families=upsert"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def unsettled(project: Project, *options: str, **environment: str) -> Result:
    project.script(upsert={"unsettled": {REPLACES: SEEN}})
    return project.judge(UPSERT, *options, **environment)


def contracts(result: Result, folder: str = ".saverproof") -> Any:
    report = result.report(folder)
    assert validate(report) == []
    return {one["id"]: one for one in report["savers"][0]["contracts"]}


@pytest.mark.parametrize("workers", [(), ("-n", "2"), ("--saver-in-process",)], ids=str)
def test_what_is_unsettled_fails_the_run_once(project: Project, workers: tuple[str, ...]) -> None:
    result = unsettled(project, *workers, "--junitxml=junit.xml", GITHUB_ACTIONS="true")
    assert result.status == 1
    assert result.outcomes["failed"] == 1, "once, not for each API"
    for said in (
        f"UNSETTLED {REPLACES}: 166 answers were not as promised, in programs of upsert (sync, asy",
        "why       two contracts may be behind it",
        "1. put checkpoint 1",
        "--saver-lenient",
        f"::error title=toy%3A {REPLACES}::166 answers were not as promised",
        "1 unsettled",
    ):
        assert said in result.output
    assert "not judged" not in result.output
    assert "\x1b[31m" not in result.output
    assert contracts(result)[REPLACES]["unsettled"]["fails"]
    root = ElementTree.parse(project.folder / "junit.xml").getroot()
    failed = [case for case in root.iter("testcase") if case.find("failure") is not None]
    assert [case.get("name") for case in failed] == [f"{REPLACES}[toy]"]
    (failure,) = failed[0].iter("failure")
    assert "put checkpoint 1" in str(failure.text)


def test_a_lenient_run_tells_it_and_passes(project: Project) -> None:
    result = unsettled(project, "--saver-lenient")
    assert result.status == 0
    assert "failed" not in result.outcomes
    assert f"UNSETTLED {REPLACES}" in result.output
    assert "[100%]" in result.output


def test_a_run_may_be_strict_and_lenient(project: Project) -> None:
    assert unsettled(project, "--saver-strict", "--saver-lenient").status == 0


def test_what_is_unsettled_may_be_listed(project: Project) -> None:
    project.write("known.toml", f'[[known]]\nid = "{REPLACES}"\nreason = "being looked into"\n')
    result = unsettled(project, "--saver-known=known.toml", "--saver-strict")
    assert result.status == 0
    assert "known: being looked into" in result.output
    assert "stale" not in result.output


def test_an_entry_for_another_contract_excuses_nothing(project: Project) -> None:
    other = "upsert/put-is-idempotent"
    project.write("known.toml", f'[[known]]\nid = "{other}"\nreason = "by design"\n')
    project.script(upsert={"unsettled": {REPLACES: SEEN}, "findings": [other]})
    result = project.judge(UPSERT, "--saver-known=known.toml")
    assert result.status == 1
    assert result.outcomes["failed"] == 1


def test_a_baseline_excuses_what_was_unsettled_before(project: Project) -> None:
    unsettled(project, "--saver-report=old")
    again = unsettled(project, "--saver-baseline=old")
    assert again.status == 0
    assert "as in the baseline" in again.output
    project.script()
    project.judge(UPSERT, "--saver-report=good")
    worse = unsettled(project, "--saver-baseline=good")
    assert worse.status == 1
    assert f"toy: got worse: {REPLACES}: 166 answers" in worse.output


def test_last_failed_runs_the_items_of_what_is_unsettled(project: Project) -> None:
    project.script(upsert={"unsettled": {REPLACES: SEEN}})
    project.judge("--saver-families=upsert,filter")
    again = project.judge("--lf", "--co", "-q", "--saver-families=upsert,filter")
    found = [line for line in again.output.splitlines() if line.startswith("saverproof::")]
    assert found == [f"saverproof::upsert[toy-{api}]" for api in ("sync", "async")]


def test_what_another_family_saw_broken_fails_the_run(project: Project) -> None:
    project.script(upsert={"handed": [SORTED]})
    result = project.judge("--saver-families=upsert,ordering", "--saver-api=sync", "-rf")
    assert result.status == 1
    assert result.outcomes["failed"] == 1
    assert f"VIOLATED {SORTED} (sync): it is gone" in result.output
    assert f"FAILED saverproof::{SORTED}[toy] - it is gone" in result.output
    (violation,) = contracts(result)[SORTED]["violations"]
    assert violation["seen_by"] == "upsert"
    assert (project.folder / ".saverproof" / violation["reproducer"]).exists()


def test_what_another_family_saw_is_told_once_if_its_own_found_it(project: Project) -> None:
    project.script(upsert={"handed": [SORTED]}, ordering={"findings": [SORTED]})
    result = project.judge("--saver-families=upsert,ordering", "--saver-api=sync")
    assert result.outcomes["failed"] == 1
    (violation,) = contracts(result)[SORTED]["violations"]
    assert "seen_by" not in violation


@pytest.mark.parametrize(
    "narrowed",
    [UPSERT, f"--saver-contracts={REPLACES}", f"--saver-contracts={REPLACES},ordering/pages-tile"],
)
def test_what_nobody_asked_about_is_told_in_one_line(project: Project, narrowed: str) -> None:
    project.script(upsert={"handed": [SORTED, "filter/equality"]})
    result = project.judge(narrowed, "--saver-strict")
    assert result.status == 0, result.output
    assert f"seen beside what was asked: {SORTED}, filter/equality" in result.output
    assert contracts(result)[SORTED]["verdict"] == "not-exercised"


@pytest.mark.parametrize("narrowed", [UPSERT, f"--saver-contracts={REPLACES}"])
def test_what_is_in_the_way_of_a_must_fails_the_run(project: Project, narrowed: str) -> None:
    """Nobody asked about it, and what was asked about could not be judged beside it."""
    project.script(
        upsert={
            "handed": [SORTED, "filter/equality"],
            "unreached": [REPLACES],
            "unexercised": {REPLACES: f"{SORTED} stands in the way"},
            "hidden_by": {REPLACES: [SORTED]},
        }
    )
    result = project.judge(narrowed, "--saver-api=sync")
    assert result.status == 1, result.output
    assert f"VIOLATED {SORTED} (sync): it is gone" in result.output
    assert "seen beside what was asked: filter/equality" in result.output
    found = contracts(result)
    assert (found[SORTED]["verdict"], found[SORTED]["selected"]) == ("violated", True)
    assert found[REPLACES]["verdict"] == "not-exercised"
    project.write("known.toml", f'[[known]]\nid = "{SORTED}"\nreason = "by design"\n')
    assert project.judge(narrowed, "--saver-known=known.toml").status == 0


def test_advice_that_is_hidden_fails_nothing(project: Project) -> None:
    advice = "pending-writes/namespace-defaults"
    project.script(
        **{
            "pending-writes": {
                "handed": [SORTED],
                "unreached": [advice],
                "unexercised": {advice: f"{SORTED} stands in the way"},
                "hidden_by": {advice: [SORTED]},
            }
        }
    )
    result = project.judge("--saver-families=pending-writes")
    assert result.status == 0, result.output
    assert f"seen beside what was asked: {SORTED}" in result.output


def test_musts_whose_own_calls_are_answered_wrongly_are_unsettled(project: Project) -> None:
    why = "get_tuple, ValueError: too many values"
    wrong = dict.fromkeys((REPLACES, "upsert/put-is-idempotent"), why)
    act = {"unreached": [*wrong], "unknown": wrong, "hidden_by": dict.fromkeys(wrong, ())}
    project.script(upsert=act)
    result = project.judge(UPSERT, "--saver-api=sync")
    assert result.status == 1, result.output
    assert result.output.count("UNSETTLED") == 1
    assert f"why       {why}" in result.output
    project.script(upsert={**act, "findings": ["upsert/reput-keeps-writes"]})
    explained = project.judge(UPSERT, "--saver-api=sync")
    assert explained.status == 1
    assert "UNSETTLED" not in explained.output, "what is broken explains it"


def test_listed_findings_of_other_families_are_known(project: Project) -> None:
    project.write("known.toml", f'[[known]]\nid = "{SORTED}"\nreason = "by design"\n')
    project.script(upsert={"handed": [SORTED]})
    result = project.judge("--saver-families=upsert,ordering", "--saver-known=known.toml")
    assert result.status == 0, result.output
    assert f"known: {SORTED}: by design" in result.output


def test_a_strict_run_counts_a_contract_over_all_apis(project: Project) -> None:
    """What one API judges is no failure of the other."""
    project.script(**{"upsert-sync": {"unreached": [REPLACES]}})
    result = project.judge(UPSERT, "--saver-strict")
    assert result.status == 0, result.output
    assert result.ran == {"passed": 2 * count("upsert") - 1, "skipped": 1}


@pytest.mark.parametrize(
    "narrowed", [("--saver-api=sync",), ("-k", "toy-sync")], ids=["option", "keyword"]
)
def test_a_strict_run_asks_nothing_that_its_apis_cannot_show(
    project: Project, narrowed: tuple[str, ...]
) -> None:
    """Sync calls have no await that could be cancelled."""
    cancelled = "atomicity/cancelled"
    project.script(atomicity={"unreached": [cancelled]})
    result = project.judge(
        "--saver-families=atomicity", "--saver-strict", "--saver-report=out", *narrowed
    )
    assert result.status == 0, result.output
    one = contracts(result, "out")[cancelled]
    assert (one["verdict"], one["reason"]) == ("not-exercised", "not selected in this run")
    both = project.judge("--saver-families=atomicity", "--saver-strict")
    assert both.status == 1
    assert f"toy: 1 must not judged (1 not-exercised): {cancelled}" in both.output


@pytest.mark.parametrize("workers", [(), by_night(("-n", "2"))], ids=str)
def test_a_strict_run_fails_once_for_a_contract_with_the_reason(
    project: Project, workers: tuple[str, ...]
) -> None:
    project.script(upsert={"unreached": [REPLACES]})
    result = project.judge(UPSERT, "--saver-strict", "-rf", *workers)
    assert result.status == 1
    assert result.outcomes["failed"] == 1
    why = "not-exercised: nothing in this run reached it"
    assert f"FAILED saverproof::{REPLACES}[toy] - {why}" in result.output
    assert f"toy: 1 must not judged (1 not-exercised): {REPLACES}" in result.output
