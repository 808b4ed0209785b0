"""A run that is ended while processes are killed leaves none of them behind, and no folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from tests.nights import by_night
from tests.waiting import PATIENCE_S, eventually, left_of

from saverproof.process import fork_server
from saverproof_faults.kill import zygote

TRIALS = "saverproof-trials-*"
"""The folders of the processes that are killed."""


@contextmanager
def killing(folder: Path, *more: str) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A run in the middle of its trials, and the temporary folder of all that belongs to it."""
    temporary = folder / "temporary"
    temporary.mkdir()
    arguments = ["--saver=sqlite", "--saver-families=durability", "--saver-api=sync", *more]
    ours = ("PYTEST", "SAVERPROOF")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    with subprocess.Popen(
        command,
        cwd=folder,
        env={**environment, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as run:
        try:
            assert eventually(lambda: makes_trials(run))
            yield run, temporary
        finally:
            run.kill()


def makes_trials(run: subprocess.Popen[bytes]) -> bool:
    """Whether what trials are forked from is there, which removes their folder after the run."""
    for one in psutil.Process(run.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if any(zygote.__name__ in argument for argument in one.cmdline()):
                return True
    return False


@pytest.mark.parametrize("how", [by_night(signal.SIGINT), signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_no_process(how: signal.Signals, tmp_path: Path) -> None:
    with killing(tmp_path) as (run, temporary):
        children = psutil.Process(run.pid).children(recursive=True)
        run.send_signal(how)
        run.wait(PATIENCE_S)
        assert eventually(lambda: not left_of(children)), left_of(children)
        assert eventually(lambda: not list(temporary.rglob(TRIALS)))


def test_a_worker_that_is_killed_leaves_no_process_and_no_folder(tmp_path: Path) -> None:
    with killing(tmp_path, "-n", "1", "--max-worker-restart=0") as (run, temporary):
        children = psutil.Process(run.pid).children(recursive=True)
        started = psutil.Process(run.pid).children()
        (worker,) = (one for one in started if fork_server.__name__ not in one.cmdline())
        worker.kill()
        run.wait(PATIENCE_S)
        assert eventually(lambda: not left_of(children)), left_of(children)
        assert eventually(lambda: not list(temporary.rglob(TRIALS)))
        assert list(temporary.glob("saverproof-*")) == []
