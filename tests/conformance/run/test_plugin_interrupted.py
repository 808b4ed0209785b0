"""A run that is broken off leaves no process, no temporary folder, and what it knows so far."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner
from tests.conformance.plugin_support import FACTS, FAKE_JUDGE, SLOW_PLUGINS, Project
from tests.waiting import eventually, left_of

from saverproof.run.cli import main
from saverproof_reports import read_report


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


PYTEST = (sys.executable, "-m", "pytest")
OF_A_COMMAND = (
    sys.executable,
    "-c",
    "import sys; from saverproof.run.cli._pytest import run_pytest\n"
    "sys.exit(run_pytest(sys.argv[1:]))",
)
"""pytest as `saverproof judge` and `saverproof init` start it."""


def interrupted(
    project: Project,
    how: signal.Signals,
    start: Sequence[str] = PYTEST,
    tell: Callable[[int, signal.Signals], None] = os.kill,
) -> tuple[int, list[psutil.Process]]:
    """Start a run whose last item hangs, end it then, and wait for it."""
    project.script(filter={"findings": ["filter/equality"]}, deletion={"do": "hang"})
    project.write("fake/fake_judge.py", FAKE_JUDGE)
    temporary = project.folder / "temporary"
    temporary.mkdir()
    environment = {
        **_environment(temporary),
        "PYTHONPATH": str(project.folder / "fake"),
        "FAKE_FACTS": str(FACTS),
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
    command = [*start, *arguments, "--saver-watchdog=1000"]
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
        tell(run.pid, how)
        return run.wait(timeout=60), children


def _environment(temporary: Path) -> dict[str, str]:
    """Nothing that the surrounding run of pytest set, and a place of its own for what is left."""
    own = ("PYTEST", "SAVERPROOF")
    given = {key: value for key, value in os.environ.items() if not key.startswith(own)}
    return {**given, "TMPDIR": str(temporary)}


@pytest.mark.parametrize(
    ("how", "start", "tell"),
    [
        pytest.param(signal.SIGINT, PYTEST, os.kill, id="SIGINT"),
        pytest.param(signal.SIGTERM, PYTEST, os.kill, id="SIGTERM"),
        # A terminal tells the whole group, and so does `timeout`, after the command itself.
        pytest.param(signal.SIGINT, OF_A_COMMAND, os.killpg, id="SIGINT-command"),
        pytest.param(signal.SIGTERM, OF_A_COMMAND, os.kill, id="SIGTERM-command"),
        pytest.param(signal.SIGTERM, OF_A_COMMAND, os.killpg, id="SIGTERM-command-group"),
    ],
)
def test_an_interrupted_run_leaves_a_report_and_nothing_else(
    project: Project,
    how: signal.Signals,
    start: Sequence[str],
    tell: Callable[[int, signal.Signals], None],
) -> None:
    status, children = interrupted(project, how, start, tell)
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


BLIND = """\
import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from saverproof import target
from saverproof.mistakes.reference.saver import ReferenceSaver


def is_in_script():
    if os.environ["STANDS"] == "alone":
        return sys.argv[0].endswith("script.py")
    frame = sys._getframe()
    while frame is not None and frame.f_globals["__name__"] != "__reproducer__":
        frame = frame.f_back
    return frame is not None


class BlindSaver(ReferenceSaver):
    def list(self, config, *, filter=None, before=None, limit=None):
        if is_in_script():
            Path(os.environ["STANDS_HERE"]).touch()
            time.sleep(1_000)
        return super().list(config, before=before, limit=limit)


@target(name="blind", durable=False)
@contextmanager
def blind(workspace):
    yield BlindSaver.at(workspace.path)
"""


@pytest.mark.parametrize("where", ["here", "alone"])
def test_a_run_interrupted_while_a_script_is_tried_leaves_nothing(
    project: Project, where: str
) -> None:
    """The process that tries it is killed, and removes nothing itself."""
    project.write("blind.py", BLIND)
    temporary, stands = project.folder / "temporary", project.folder / "stands"
    temporary.mkdir()
    asked = ("--saver=blind.py", "--saver-api=sync", "--saver-families=filter")
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", *SLOW_PLUGINS, *asked, "--saver-profile=quick"],
        cwd=project.folder,
        env={**_environment(temporary), "STANDS": where, "STANDS_HERE": str(stands)},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    ) as run:
        assert eventually(stands.exists)
        children = psutil.Process(run.pid).children(recursive=True)
        run.send_signal(signal.SIGINT)
        assert run.wait(timeout=60) == pytest.ExitCode.INTERRUPTED
    assert eventually(lambda: not left_of(children))
    assert [path.name for path in temporary.rglob("*")] == []


KEPT_ELSEWHERE = """\
import os
import time
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from saverproof import target
from saverproof.mistakes.reference.saver import ReferenceSaver

KEPT = Path(os.environ["KEPT"])
PUTS = count()
PROBING = 100  # a probe puts less often


class HangingSaver(ReferenceSaver):
    def put(self, *given):
        if next(PUTS) > PROBING:
            Path(os.environ["HANGS"]).touch()
            time.sleep(1_000)
        return super().put(*given)


def drop(workspace):
    (KEPT / workspace.name).unlink()


@target(name="elsewhere", durable=False, drop=drop)
@contextmanager
def elsewhere(workspace):
    (KEPT / workspace.name).touch()
    yield HangingSaver.at(workspace.path)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_what_an_interrupted_run_keeps_elsewhere_is_dropped(
    project: Project, how: signal.Signals
) -> None:
    """The process that is to drop it is killed, so that another one does."""
    project.write("elsewhere.py", KEPT_ELSEWHERE)
    temporary, kept, hangs = (project.folder / name for name in ("temporary", "kept", "hangs"))
    temporary.mkdir()
    kept.mkdir()
    asked = ("--saver=elsewhere.py", "--saver-api=sync", "--saver-families=ordering")
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", *SLOW_PLUGINS, *asked, "--saver-profile=quick"],
        cwd=project.folder,
        env={**_environment(temporary), "KEPT": str(kept), "HANGS": str(hangs)},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    ) as run:
        assert eventually(hangs.exists)
        assert any(kept.iterdir())
        run.send_signal(how)
        assert run.wait(timeout=60) == pytest.ExitCode.INTERRUPTED
    assert [path.name for path in kept.iterdir()] == []
    assert [path.name for path in temporary.rglob("*")] == []
