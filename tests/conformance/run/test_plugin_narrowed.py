"""A run of a part updates its part of the report, and leaves the rest as it was found before."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.plugin_support import Project, Result

from saverproof_reports import read_artefact, validate

BROKEN = ("filter/equality", "pending-writes/complete", "pending-writes/scoped")
FLAWS = {
    "pending_writes": {"findings": ["pending-writes/complete", "pending-writes/scoped"]},
    "filter": {"findings": ["filter/equality"]},
}
BOTH = "--saver-families=pending-writes,filter"


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A run has found all three, and pytest remembers what failed."""
    project = Project(tmp_path_factory.mktemp("before"))
    project.script(**FLAWS)
    assert project.judge(BOTH).status == 1
    return project


@pytest.fixture
def project(before: Project, tmp_path: Path) -> Project:
    shutil.copytree(before.folder, tmp_path / "project")
    return Project(tmp_path / "project")


def broken(result: Result) -> dict[str, Any]:
    """The broken contracts of the report, each with whether all of it is of the earlier run."""
    report = result.report()
    assert validate(report) == []
    return {
        one["id"]: all("earlier" in violation for violation in one["violations"])
        for one in report["savers"][0]["contracts"]
        if one["violations"]
    }


@pytest.mark.parametrize("part", [["--saver-contracts=filter/equality"], ["-k", "filter/none"]])
def test_what_was_not_judged_stays_and_is_marked(project: Project, part: list[str]) -> None:
    result = project.judge(*part)
    assert broken(result) == {
        "filter/equality": False, "pending-writes/complete": True, "pending-writes/scoped": True,
    }  # fmt: skip
    contracts = {one["id"]: one for one in result.report()["savers"][0]["contracts"]}
    kept = contracts["pending-writes/complete"]
    assert (kept["verdict"], kept["selected"]) == ("violated", False)
    assert kept["earlier"]["seed"] == 0
    for violation in kept["violations"]:
        folder = project.folder / ".saverproof"
        assert (folder / violation["reproducer"]).read_text() == violation["reproducer_source"]
        assert read_artefact(folder / violation["artefact"])["contract"] == kept["id"]
    assert "toy: 2 broken contracts of an earlier run stay in the report, not judg" in result.output
    assert "(same version, seed, profile)" in result.output
    assert result.output.count("VIOLATED") == 1, "the run itself has found only one"


def test_what_is_mended_goes_and_the_rest_stays(project: Project) -> None:
    project.script()
    result = project.judge("--saver-families=pending-writes", "--hypothesis-seed=3")
    assert result.status == 0
    assert broken(result) == {"filter/equality": True}
    assert "(same version, profile; seed 0 then)" in result.output
    scripts = [path.name for path in (project.folder / ".saverproof/reproducers").iterdir()]
    assert {name.partition("-functional")[0] for name in scripts} == {
        "toy-filter-equality-sync", "toy-filter-equality-async",
    }  # fmt: skip
    assert project.judge("--saver-families=filter").status == 0
    assert not (project.folder / ".saverproof" / "report.json").exists(), "nothing is broken now"


def test_what_failed_last_is_judged_again_through_its_api_alone(project: Project) -> None:
    project.script()
    result = project.judge("--saver-families=filter", "--saver-api=sync")
    assert broken(result)["filter/equality"], "async was not judged"
    contracts = {one["id"]: one for one in result.report()["savers"][0]["contracts"]}
    (left,) = contracts["filter/equality"]["violations"]
    assert left["api"] == "async"
    assert contracts["filter/equality"]["checked"] == {"sync": 10, "async": 10, "crossed": 0}


def test_the_headlines_say_what_was_not_selected_and_what_is_from_before(project: Project) -> None:
    result = project.judge("--lf", "--saver-families=filter")
    page = (project.folder / ".saverproof" / "report.html").read_text()
    text = (project.folder / ".saverproof" / "report.md").read_text()
    for told in (" not selected", "not judged in this run"):
        assert told in page.partition("</h1>")[0].partition("<h1>")[2]
        assert told in text.partition("\n\n## ")[0]
    assert "not judged in this run: as of " in text.partition("\n\n## ")[2]
    assert result.status == 1


def test_a_whole_run_replaces_everything(project: Project) -> None:
    project.script(deletion={"findings": ["deletion/thread-all"]})
    result = project.judge("-n", "2")
    assert broken(result) == {"deletion/thread-all": False}


def test_another_saver_of_the_same_name_is_another_saver(project: Project) -> None:
    toys = (project.folder / "toys.py").read_text()
    own = "class Own(InMemorySaver):\n    pass\n\n@target("
    project.write(
        "toys.py", toys.replace("@target(", own).replace("yield InMemorySaver", "yield Own")
    )
    result = project.judge("--saver-families=filter")
    assert broken(result) == {"filter/equality": False}


def test_the_terminal_and_the_report_count_alike(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.script(**FLAWS)
    result = project.judge(BOTH)
    (counted,) = set(re.findall(r"toy breaks (\d+ of \d+ musts)", result.output))
    text = (tmp_path / ".saverproof" / "report.md").read_text()
    assert f"toy breaks {counted}" in text.partition("\n\n## ")[0]
