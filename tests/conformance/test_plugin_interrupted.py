"""A run that is broken off leaves no process, no temporary folder, and what it knows so far."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner
from tests.conformance.plugin_support import FACTS, FAKE_JUDGE, Project
from tests.waiting import eventually, left_of

from saverproof.run.cli import main
from saverproof_reports import read_report


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def interrupted(project: Project, how: signal.Signals) -> tuple[int, list[psutil.Process]]:
    """Start a run whose last item hangs, end it then, and wait for it."""
    project.script(filter={"findings": ["filter/equality"]}, deletion={"do": "hang"})
    project.write("fake/fake_judge.py", FAKE_JUDGE)
    temporary = project.folder / "temporary"
    temporary.mkdir()
    environment = {
        **{
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("PYTEST", "SAVERPROOF"))
        },
        "PYTHONPATH": str(project.folder / "fake"),
        "FAKE_FACTS": str(FACTS),
        "TMPDIR": str(temporary),
    }
    arguments = [
        "-p",
        "no:langsmith_plugin",
        "-p",
        "fake_judge",
        "--saver=toys:toy",
        "-k",
        "(filter or deletion) and toy-sync",
    ]
    command = [sys.executable, "-m", "pytest", *arguments, "--saver-watchdog=1000"]
    with subprocess.Popen(
        command,
        cwd=project.folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    ) as run:
        spool = project.folder / ".saverproof" / "spool.jsonl"
        assert eventually(lambda: spool.exists() and '"findings": [{' in spool.read_text())
        children = psutil.Process(run.pid).children(recursive=True)
        assert children
        run.send_signal(how)
        return run.wait(timeout=60), children


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_a_report_and_nothing_else(
    project: Project, how: signal.Signals
) -> None:
    status, children = interrupted(project, how)
    assert status == pytest.ExitCode.INTERRUPTED
    assert eventually(lambda: not left_of(children))
    assert [path.name for path in (project.folder / "temporary").rglob("*")] == []
    report = json.loads((project.folder / ".saverproof" / "report.json").read_text())
    assert not report["complete"]
    verdicts = {one["id"]: one["verdict"] for one in report["savers"][0]["contracts"]}
    assert verdicts["filter/equality"] == "violated"
    assert verdicts["deletion/thread-all"] == "unknown"


def test_a_killed_run_leaves_what_it_had_finished_and_no_process(project: Project) -> None:
    project.script(ordering={"findings": ["ordering/pages-tile"]})
    project.judge("--saver-families=ordering")
    status, children = interrupted(project, signal.SIGKILL)
    assert status == -signal.SIGKILL
    assert eventually(lambda: not left_of(children))
    folder = project.folder / ".saverproof"
    assert not (folder / "report.json").exists(), "the report of an earlier run"
    result = CliRunner().invoke(main, ["report", str(folder), "--folder", str(folder)])
    assert result.exit_code == 0, result.output
    report = read_report(folder)
    assert not report["complete"]
    broken = {
        one["id"]: all("earlier" in violation for violation in one["violations"])
        for one in report["savers"][0]["contracts"]
        if one["verdict"] == "violated"
    }
    # What it did not come to stays as the earlier run found it, and is marked.
    assert broken == {"filter/equality": False, "ordering/pages-tile": True}
    assert "The run was cut short" in (folder / "report.html").read_text()
