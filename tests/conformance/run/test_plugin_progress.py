"""How far a run is: a live line on a terminal, also with workers, and now and then one in a log.

The line of workers is looked at by night.
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.conformance.plugin_support import FACTS, FAKE_JUDGE, Project
from tests.nights import by_night

PLUGINS = ("-p", "no:langsmith_plugin", "-p", "no:hypothesispytest", "-p", "fake_judge")
OFTEN = """
    import saverproof.run.plugin.progress as showing
    showing.LIVE_EVERY_S = showing.LOG_EVERY_S = 0.02
"""
WIDTH = 72


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A run of it goes on until it was seen how far it is."""
    project = Project(tmp_path)
    project.write("fake/fake_judge.py", FAKE_JUDGE + OFTEN)
    project.script(filter={"do": "tell until seen"})
    return project


def on_a_terminal(project: Project, *arguments: str) -> str:
    """What pytest writes to a terminal of 72 columns, although COLUMNS says 200."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, WIDTH, 0, 0))
    environment = {key: text for key, text in os.environ.items() if not key.startswith("PYTEST")}
    environment |= {
        "PYTHONPATH": str(project.folder / "fake"),
        "FAKE_FACTS": str(FACTS),
        "COLUMNS": "200",
        "TERM": "xterm",
    }
    command = [sys.executable, "-m", "pytest", *PLUGINS, "--saver=toys:toy", *arguments]
    with subprocess.Popen(
        command, cwd=project.folder, env=environment, stdout=follower, stderr=follower
    ) as run:
        os.close(follower)
        seen = read_until_closed(leader, project)
    os.close(leader)
    assert run.returncode == 0, seen
    return seen


def read_until_closed(leader: int, project: Project) -> str:
    seen = b""
    while True:
        try:
            part = os.read(leader, 4096)
        except OSError:
            return seen.decode()
        seen += part
        if b"12,000 operations" in seen:
            project.write("seen", "")


@pytest.mark.parametrize(
    "workers", [pytest.param((), id="alone"), by_night(("-n", "2"), id="workers")]
)
def test_progress_is_shown_on_a_terminal_and_taken_away(
    project: Project, workers: Sequence[str]
) -> None:
    seen = on_a_terminal(project, "--saver-families=filter", "--saver-api=sync", *workers)
    drawn = re.findall("\x1b\\[2K([^\x1b]*)\x1b\\[A", seen)
    assert any(
        "0 of 1 items, about " in line and "left; filter[toy-sync]" in line for line in drawn
    )
    assert any("12,000 operations, 3 f" in line for line in drawn)
    assert drawn[-1] == "", "taken away at the end"
    assert max(map(len, drawn)) < WIDTH, "the true width, not that of COLUMNS"


def test_a_log_gets_a_line_now_and_then(project: Project) -> None:
    project.script(filter={"do": "tell for a while"})
    path = str(project.folder / "fake")
    options = ("--saver=toys:toy", "--saver-families=filter", "--saver-api=sync")
    result = project.pytest("-p", "fake_judge", *options, PYTHONPATH=path, FAKE_FACTS=str(FACTS))
    assert result.status == 0, result.output
    told = [line for line in result.output.splitlines() if line.startswith("saverproof: 0 of 1")]
    assert told
    assert re.fullmatch(r"saverproof: 0 of 1 items, about .* left; filter\[toy-sync\].*", told[-1])
    assert "\x1b" not in result.output
    quiet = project.pytest(
        "-q", "-p", "fake_judge", *options, PYTHONPATH=path, FAKE_FACTS=str(FACTS)
    )
    assert "0 of 1 items" not in quiet.output


@pytest.mark.parametrize(
    "narrowed",
    [
        ("-k", "interface/complete"),
        ("-k", "interface", "-n", "2"),
        ("--saver-contracts=interface/complete",),
    ],
    ids=["k", "k-workers", "contracts"],
)
def test_the_time_is_that_of_what_was_selected(project: Project, narrowed: Sequence[str]) -> None:
    project.script()
    result = project.judge("--saver-budget=30s", *narrowed)
    assert result.status == 0, result.output
    assert "\ntoy: about 5 s, longer if something is broken\n" in result.output
    assert re.search(r"time: \d+ s, estimated 5 s", result.output)
