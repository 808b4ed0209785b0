"""``--saver-baseline``: only what got worse fails a run, and what got better is told."""

import shutil
from pathlib import Path

import pytest
from tests.conformance.plugin_support import TOY, Project, Result

OLD, NEW = "upsert/put-replaces", "upsert/put-is-idempotent"
ONLY = "--saver-families=upsert"


@pytest.fixture(scope="module")
def old_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An earlier report, in which one contract is broken."""
    project = Project(tmp_path_factory.mktemp("earlier"))
    project.script(upsert={"findings": [OLD]})
    project.judge(ONLY, "--saver-report=old")
    return project.folder / "old"


@pytest.fixture
def project(old_report: Path, tmp_path: Path) -> Project:
    """A folder with the earlier report."""
    shutil.copytree(old_report, tmp_path / "old")
    return Project(tmp_path)


def judged(project: Project, *broken: str, options: str = "", **environment: str) -> Result:
    project.script(upsert={"findings": broken})
    return project.judge(ONLY, "--saver-baseline=old/report.json", *options.split(), **environment)


def test_what_was_broken_before_fails_nothing(project: Project) -> None:
    result = judged(project, OLD, options="-n2", GITHUB_ACTIONS="true")
    assert result.status == 0
    assert f"VIOLATED as in the baseline {OLD} (sync, async)" in result.output
    assert "baseline old/report.json: Nothing got worse" in result.output
    assert f"::warning title=toy%3A {OLD}::" in result.output
    (found,) = (
        one for one in result.report()["savers"][0]["contracts"] if one["verdict"] == "violated"
    )
    assert [violation["baseline"] for violation in found["violations"]] == [True, True]


def test_what_got_worse_fails_and_what_got_better_is_told(project: Project) -> None:
    result = judged(project, NEW, options="-n2")
    assert result.status == 1
    assert f"toy: got worse: {NEW}: it is gone" in result.output
    assert f"toy: got better: {OLD}" in result.output


def test_a_renamed_saver_is_found_again(project: Project) -> None:
    project.write("toys.py", TOY.replace("@target(", '@target(name="renamed", '))
    result = judged(project, OLD)
    assert result.status == 0
    assert "VIOLATED as in the baseline" in result.output


def test_the_baseline_may_be_what_the_run_replaces(project: Project) -> None:
    (project.folder / "old").rename(project.folder / ".saverproof")
    project.script(upsert={"findings": [OLD]})
    result = project.judge(ONLY, "--saver-baseline=.saverproof")
    assert result.status == 0
    assert "Nothing got worse" in result.output
    assert result.report()["savers"][0]["summary"]["must"]["violated"] == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read: No such file or directory"),
        ('{"schema": "saverproof-report/1", "comp', "is not whole JSON"),
        ("{}", "found no schema, expected saverproof-report/1"),
    ],
)
def test_an_unusable_baseline_is_told_in_one_line(
    project: Project, text: str | None, said: str
) -> None:
    path = project.folder / "old" / "report.json"
    path.unlink()
    if text is not None:
        path.write_text(text)
    result = judged(project)
    assert result.status == 4
    assert result.errors[0].startswith("ERROR: --saver-baseline: ")
    assert said in result.errors[0]
    assert "Traceback" not in result.output
