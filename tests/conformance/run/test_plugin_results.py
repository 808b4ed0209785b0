"""What a run tells: on the terminal, in the report, by its exit status.

By night, a hang that is believed later.
"""

import shutil
import stat
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from tests.conformance.plugin_support import Project, Result, count
from tests.nights import by_night

from saverproof_reports import validate

FLAW = {"pending_writes": {"findings": ["pending-writes/complete", "pending-writes/scoped"]}}
API = ("sync", "async")
ONLY = "--saver-families=pending-writes,filter"
UPSERT_AND_FILTER = tuple(f"saverproof::{family}[toy-sync]" for family in ("upsert", "filter"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture(scope="module")
def flawed(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """A run in which contracts are broken: starting it takes longer than to look at it."""
    project = Project(tmp_path_factory.mktemp("flawed"))
    project.script(**FLAW)
    return project.judge(
        ONLY, "--junitxml=junit.xml", GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY="summary.md"
    )


def test_a_passing_run_leaves_nothing_behind(project: Project) -> None:
    temporary = project.folder / "temporary"
    temporary.mkdir()
    assert project.judge(ONLY, TMPDIR=str(temporary)).status == 0
    assert not (project.folder / ".saverproof").exists()
    assert list(temporary.iterdir()) == []


def test_a_violated_contract_is_told_in_full(flawed: Result) -> None:
    assert_told_in_full(flawed, workers=1)


def test_a_violated_contract_is_told_in_full_by_workers(project: Project) -> None:
    project.script(**FLAW)
    assert_told_in_full(project.judge(ONLY, "-n", "2"), workers=2)


def assert_told_in_full(result: Result, workers: int) -> None:
    assert result.status == 1
    assert result.outcomes["failed"] == 4
    for text in (
        "VIOLATED pending-writes/complete (sync, async): it is gone",
        "promise   Every write of a batch comes back",
        "source    `langgraph.pregel",
        "expected  [1, 2]",
        "observed  [1] \\ud800",
        "1. put a",
        "python .saverproof/reproducers/toy-pending-writes-scoped-sync-functional.py",
        "report: ",
    ):
        assert text in result.output
    report = result.report()
    assert validate(report) == []
    assert report["complete"]
    assert report["run"]["workers"] == workers
    broken = {
        contract["id"]: contract
        for contract in report["savers"][0]["contracts"]
        if contract["verdict"] == "violated"
    }
    assert set(broken) == {"pending-writes/complete", "pending-writes/scoped"}
    assert broken["pending-writes/complete"]["checked"] == {"sync": 10, "async": 10, "crossed": 0}


def test_a_contract_of_another_family_fails_the_run_as_well(project: Project) -> None:
    project.script(filter={"findings": ["pending-writes/complete"]})
    result = project.judge("saverproof::filter[toy-sync]")
    assert result.status == 1
    assert "VIOLATED pending-writes/complete (sync): it is gone" in result.output


def test_each_reproducer_is_where_the_failure_says(project: Project) -> None:
    project.script(filter={"findings": ["filter/equality", "filter/equality"]})
    result = project.judge("saverproof::filter[toy-sync]")
    lines = [line for line in result.output.splitlines() if "reproduce " in line]
    named = {line.split()[-1] for line in lines}
    assert (len(lines), len(named)) == (2, 2), "once each"
    for path in named:
        assert (project.folder / path).read_text() == "raise SystemExit('still there')\n"


def test_a_judge_in_which_a_call_was_given_up_judges_no_more(project: Project) -> None:
    project.script(filter={"do": "give up"})
    project.judge("-k", "filter")
    judges = (project.folder / "judges").read_text().split()
    assert len(judges) == len(set(judges)) == 2


def test_results_are_for_the_owner_alone_and_out_of_git(flawed: Result) -> None:
    folder = flawed.folder / ".saverproof"
    for path in [folder, *folder.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert (folder / ".gitignore").read_text() == "*\n"
    assert not (folder / "spool.jsonl").exists()


def test_a_fixed_saver_takes_the_earlier_report_away(flawed: Result, project: Project) -> None:
    shutil.copytree(flawed.folder / ".saverproof", project.folder / ".saverproof")
    assert project.judge(ONLY).status == 0
    assert not (project.folder / ".saverproof").exists()


def test_a_named_folder_gets_a_report_in_any_case(project: Project) -> None:
    result = project.judge(ONLY, "--saver-report=out/deep")
    assert result.status == 0
    report = result.report("out/deep")
    verdicts = {one["id"]: one["verdict"] for one in report["savers"][0]["contracts"]}
    assert verdicts["filter/equality"] == "held"
    assert verdicts["ordering/list-newest-first"] == "not-exercised"
    assert verdicts["durability/reopens"] == "not-applicable"


def test_advice_fails_nothing(project: Project) -> None:
    project.script(filter={"findings": ["filter/none"]})
    result = project.judge("--saver-families=filter")
    assert result.status == 0
    assert "ADVICE filter/none (sync, async): it is gone" in result.output


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        ("crash", "the process died: SIGSEGV"),
        ("exit", "the process ended itself with status 7"),
        ("hang", "no answer after 1 s"),
    ],
)
def test_a_saver_that_ends_its_process_violates_a_contract(
    project: Project, act: str, reason: str
) -> None:
    project.script(upsert={"do": act})
    result = project.judge(*UPSERT_AND_FILTER, "--saver-watchdog=1")
    assert result.status == 1
    passed, skipped = count("filter"), count("upsert") - 1
    assert result.outcomes == {"failed": 1, "passed": passed, "skipped": skipped}
    assert f"VIOLATED upsert/put-replaces (sync): {reason}" in result.output
    contracts = {one["id"]: one for one in result.report()["savers"][0]["contracts"]}
    found = contracts["upsert/put-replaces"]["violations"][0]
    assert found["steps"] == ["{'op': 'put'}", "{'op': 'get'}"]
    assert ("fake_judge.py" in found["observed"]) == (act != "exit")
    assert contracts["upsert/put-is-idempotent"]["verdict"] == "unknown"


@pytest.mark.parametrize(
    ("last", "runs", "waited"), [("Put", 1, "0.333333"), by_night("DeleteThread", 3, "1")]
)
def test_a_hang_that_is_known_is_believed_at_once(
    project: Project, last: str, runs: int, waited: str
) -> None:
    project.script(
        upsert={"do": "hang", "last": "Put"}, filter={"do": "hang", "last": last}, identity={}
    )
    options = ("--saver-families=upsert,filter,identity", "--saver-api=sync", "--saver-watchdog=1")
    result = project.judge(*options)
    assert "VIOLATED upsert/put-replaces (sync): no answer after 1 s" in result.output
    assert f"filter/equality (sync): no answer after {waited} s" in result.output
    judged = (project.folder / "judged").read_text().split()
    assert (judged.count("upsert"), judged.count("filter")) == (2, runs)
    contracts = {one["id"]: one for one in result.report()["savers"][0]["contracts"]}
    left = contracts["filter/none"]
    assert left["verdict"] == "unknown"
    assert left["reason"].endswith("filter/equality stands in the way")
    # What does not hang is judged as ever.
    assert contracts["identity/parent"]["verdict"] == "held"


def test_a_saver_that_works_without_end_is_cut_off_and_not_accused(project: Project) -> None:
    """From outside, work that never ends and work that takes long look alike."""
    project.script(upsert={"do": "work"})
    options = ("--saver-watchdog=0.5", "--saver-report=out")
    result = project.judge(*UPSERT_AND_FILTER, *options)
    assert result.status == 1
    assert result.outcomes == {
        "failed": 1, "passed": count("filter"), "skipped": count("upsert"),
    }  # fmt: skip
    assert "VIOLATED" not in result.output
    contracts = {one["id"]: one for one in result.report("out")["savers"][0]["contracts"]}
    assert contracts["upsert/put-replaces"]["verdict"] == "unknown"
    # The second of two runs, which has a journal, has a third of the patience.
    reason = "was cut off after 1 s without an answer, while it was still at work"
    assert reason in contracts["upsert/put-replaces"]["reason"]
    assert reason in result.output
    assert contracts["filter/equality"]["verdict"] == "held"


def test_a_second_cut_off_is_believed_at_once_whatever_the_step(project: Project) -> None:
    project.script(
        upsert={"do": "work", "last": "Put"}, filter={"do": "work", "last": "DeleteThread"}
    )
    options = ("--saver-watchdog=0.5", "--saver-report=out")
    result = project.judge(*UPSERT_AND_FILTER, *options)
    # Nothing at all was judged.
    assert result.status == 4
    judged = (project.folder / "judged").read_text().split()
    # Twice to learn in which step it is at work, and then once for each family.
    assert (judged.count("upsert"), judged.count("filter")) == (2, 1)
    contracts = {one["id"]: one for one in result.report("out")["savers"][0]["contracts"]}
    for name in ("upsert/put-replaces", "filter/equality"):
        assert contracts[name]["verdict"] == "unknown"
        assert "was cut off after 1 s without an answer" in contracts[name]["reason"]


@pytest.mark.parametrize("act", ["exit", "work"])
def test_what_was_known_outlives_the_process(project: Project, act: str) -> None:
    found = {
        "contract": "upsert/put-is-idempotent", "api": "sync", "phase": "functional",
        "summary": "it is not", "expected": "1", "observed": "2", "steps": ["put a"],
        "program": [{"op": "put"}], "reproducer": "",
    }  # fmt: skip
    settled = ["upsert/reput-keeps-writes"]
    checked = {"upsert/put-is-idempotent": 3, settled[0]: 70, "upsert/regular-write-first-wins": 9}
    open_ = {"times": 2, "why": "nothing explains it", "steps": ["put b"], "program": []}
    kept = {
        "findings": [found], "checked": checked, "settled": settled,
        "unsettled": {"upsert/special-write-last-wins": open_},
    }  # fmt: skip
    project.script(upsert={"do": act, "kept": kept})
    result = project.judge(
        "--saver-families=upsert", "--saver-api=sync", "--saver-watchdog=0.5", "--saver-report=out"
    )
    assert result.status == 1
    contracts = {one["id"]: one for one in result.report("out")["savers"][0]["contracts"]}
    assert contracts["upsert/put-is-idempotent"]["verdict"] == "violated"
    assert contracts[settled[0]]["verdict"] == "held"
    assert contracts[settled[0]]["checked"]["sync"] == 70
    left = contracts["upsert/regular-write-first-wins"]
    assert left["verdict"] == "unknown"
    assert left["reason"].endswith("; before that it was judged 9 times")
    assert contracts["upsert/special-write-last-wins"]["unsettled"]["times"] == 2


def test_a_run_that_died_only_once_is_not_passed_over(project: Project) -> None:
    project.script(upsert={"do": "crash once"})
    result = project.judge("--saver-families=upsert", "--saver-api=sync")
    assert result.status == 1
    assert "the first of two equal runs ended early" in result.output


def test_a_broken_kit_is_no_verdict_on_the_saver(project: Project) -> None:
    project.script(upsert={"do": "break"})
    result = project.judge(*UPSERT_AND_FILTER)
    assert result.status == 1
    assert "an error of the kit, please report it" in result.output
    assert "VIOLATED" not in result.output


def test_an_opener_that_raises_later_fails_its_item_in_one_line(project: Project) -> None:
    project.script(upsert={"do": "refuse"})
    result = project.judge(*UPSERT_AND_FILTER)
    assert result.outcomes == {
        "failed": 1, "passed": count("filter"), "skipped": count("upsert"),
    }  # fmt: skip
    assert "target 'toy': opening raised OSError: disk full" in result.output
    assert "Traceback" not in result.output


def test_what_a_saver_prints_is_shown_with_its_item(project: Project) -> None:
    project.script(filter={"do": "print", "findings": ["filter/equality"]})
    result = project.judge("saverproof::filter[toy-sync]")
    assert "Captured saver output" in result.output
    assert "printed by the saver \\x1b[31m" in result.output


def test_in_process_judges_without_a_child(project: Project) -> None:
    project.script(**FLAW)
    result = project.judge(ONLY, "--saver-in-process")
    passed = 2 * count("pending-writes", "filter") - 4
    assert result.ran == {"failed": 4, "passed": passed}


def test_the_first_failure_stops_the_run_on_request(project: Project) -> None:
    project.script(filter={"findings": ["filter/equality"]})
    result = project.judge("-x", "--saver-families=filter,lifecycle")
    assert (result.status, result.outcomes["failed"]) == (1, 1)
    verdicts = {one["id"]: one["verdict"] for one in result.report()["savers"][0]["contracts"]}
    assert verdicts["lifecycle/abandoned-list"] == "not-exercised"


def test_junit_names_the_items_and_their_figures(flawed: Result) -> None:
    root = ElementTree.parse(flawed.folder / "junit.xml").getroot()
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert {name for name in cases if "/" not in str(name)} == {
        f"{family}[toy-{api}]" for family in ("pending-writes", "filter") for api in API
    }
    item = cases["pending-writes[toy-sync]"]
    properties = {one.get("name"): one.get("value") for one in item.iter("property")}
    assert properties["saverproof.operations"] == "100"
    suite = root.find("testsuite")
    assert suite is not None
    shared = {one.get("name"): one.get("value") for one in suite.findall("properties/property")}
    assert shared["saverproof.profile"] == "default"
    assert shared["saverproof.toy.must.violated"] == "2"


def test_junit_has_a_case_a_contract_and_api_that_agrees_with_the_report(flawed: Result) -> None:
    root = ElementTree.parse(flawed.folder / "junit.xml").getroot()
    failed: dict[str, bool] = {}
    for case in root.iter("testcase"):
        name, _, api = str(case.get("name")).partition("[")
        if "/" in name:
            failed.setdefault(f"{name} {api}", case.find("failure") is not None)
    judged = [
        one for one in flawed.report()["savers"][0]["contracts"]
        if one["family"] in ("pending-writes", "filter")
    ]  # fmt: skip
    assert failed == {
        f"{one['id']} toy-{api}]": one["verdict"] == "violated" for one in judged for api in API
    }
    failure = root.find(".//testcase[@name='pending-writes/complete[toy-sync]']/failure")
    assert failure is not None
    assert "expected  [1, 2]" in str(failure.text)


def test_the_header_names_saver_versions_profile_and_seed(project: Project) -> None:
    result = project.judge(ONLY, "--saver-profile=quick", "--hypothesis-seed=77")
    assert "saver: toy (langgraph.checkpoint.memory.InMemorySaver, langgraph-ch" in result.output
    assert "profile quick, seed 77, watchdog 10 s" in result.output


def test_a_folder_that_cannot_be_written_is_told(project: Project) -> None:
    project.write("file", "")
    result = project.judge(ONLY, "--saver-report=file/report")
    assert result.status == 4
    assert result.errors[0].startswith("ERROR: --saver-report: results cannot be written: ")
    assert "Traceback" not in result.output


def test_github_gets_annotations_and_a_summary(flawed: Result) -> None:
    assert "::error title=toy%3A pending-writes/complete::" in flawed.output
    assert "pending-writes/complete" in (flawed.folder / "summary.md").read_text()


@pytest.mark.parametrize(("strictness", "status"), [((), 0), (("--saver-strict",), 1)])
def test_a_must_that_could_not_be_judged_is_told_last(
    project: Project, strictness: tuple[str, ...], status: int
) -> None:
    project.script(upsert={"unexercised": {"upsert/put-is-idempotent": "no way to look"}})
    result = project.judge("--saver-families=upsert", *strictness)
    assert result.status == status
    assert "not-exercised: upsert/put-is-idempotent: no way to look" in result.output
    told = "toy: 1 must not judged (1 not-exercised): upsert/put-is-idempotent"
    assert told in result.output
    assert ("--saver-strict fails on them" in result.output) == (not strictness)


def test_a_strict_run_in_which_every_must_was_judged_passes(project: Project) -> None:
    project.script()
    assert project.judge("--saver-families=upsert", "--saver-strict").status == 0


def test_that_no_storage_fault_was_tried_is_told_last_and_uncut(project: Project) -> None:
    why = f"this container's rules forbid it ({'very ' * 30}strictly), which a setting changes"
    faults = {"points": 0, "injected": 0, "by_kind": {}, "untried": why}
    project.script(atomicity={"extra": {"faults": faults}})
    result = project.judge("--saver-families=atomicity")
    assert result.status == 0
    assert f"toy: no storage fault was tried: {why}." in result.output
