"""Ctrl-C in the middle of a run with a private server leaves no process, folder or socket."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from saverproof_faults.servers import RedisServer
from tests.waiting import eventually, left_of

SAVERS = {
    "plainredis": "redis-server",
    "valkey": "valkey-server",
    "langgraph-postgres": "postgres",
    "langgraph-postgres-pgbouncer": "pgbouncer",
    "langgraph-mysql": "mariadbd",
}
"""Targets, and the program of their server."""
TRIED = [*SAVERS][: None if "SAVERPROOF_SEEDS" in os.environ else 1]


def command_of(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder whose path is short enough for sockets, and open to the server's own user."""
    with tempfile.TemporaryDirectory(prefix="sp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.skipif(RedisServer.missing() is not None, reason=str(RedisServer.missing()))
@pytest.mark.parametrize("saver", TRIED)
def test_nothing_is_left_of_a_run_and_its_server(
    saver: str, temporary: Path, tmp_path: Path
) -> None:
    ours = ("PYTEST", "SAVERPROOF")
    environment = {k: value for k, value in os.environ.items() if not k.startswith(ours)}
    environment |= {"TMPDIR": str(temporary), "SAVERPROOF_KEEPERS": "{}"}
    command = [sys.executable, "-m", "pytest", "-p", "no:langsmith_plugin", f"--saver={saver}"]
    command += ["--saver-profile=quick", "--saver-families=atomicity"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, start_new_session=True
    ) as run:
        children: list[psutil.Process] = []

        def is_judging() -> bool:
            children[:] = psutil.Process(run.pid).children(recursive=True)
            named = [*map(command_of, children)]
            # What the judge is forked from, and the judge.
            works = sum("saverproof.families" in name for name in named) > 1
            begun = (tmp_path / ".saverproof" / "spool.jsonl").exists()
            return begun and works and any(SAVERS[saver] in name for name in named)

        try:
            assert eventually(is_judging)
        finally:
            # As a terminal does it, to all that it has in front.
            os.killpg(run.pid, signal.SIGINT)
        assert run.wait(timeout=60) == pytest.ExitCode.INTERRUPTED
    assert eventually(lambda: not left_of(children))
    assert [path.name for path in temporary.rglob("*")] == []
