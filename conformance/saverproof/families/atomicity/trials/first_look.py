"""Takes a first look at a saver in use, which shows the fault layers that it needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from saverproof.errors import OpeningError, describe
from saverproof.families.atomicity.scenarios import LONG_VALUES
from saverproof.families.atomicity.trials.worker import call_quietly
from saverproof.programs.steps.definitions import Step
from saverproof.savers.execution.driver import ApiDriver, driver_of
from saverproof.savers.execution.own_ids import ids_for
from saverproof.savers.execution.settled_calls import Calls, perform
from saverproof.savers.execution.sqlite_files import sqlite_files
from saverproof.savers.targets.event_loop import Loop
from saverproof.savers.targets.opening import fresh_workspace, opened
from saverproof.savers.targets.target import Target
from saverproof_faults import Unavailable
from saverproof_faults.sqlite.watch import Watch

BESIDE_A_DATABASE = ("", "-wal", "-shm", "-journal")
"""The endings of the names of the files that SQLite keeps for one database."""


@dataclass(frozen=True, slots=True)
class FirstLook:
    """The results of a first use of the saver.

    ``in_sqlite`` says that all its files are databases of Python's own SQLite, whose layers know
    more than the system calls do. ``alone`` says why no second saver can be opened in the process
    beside the first one; "" if one can.
    """

    in_sqlite: bool = True
    alone: str = ""


def opens_in_sqlite(target: Target, folder: Path, loop: Loop) -> bool:
    """Return whether a saver, when it is opened, makes databases of Python's own SQLite, and no
    other files.

    Raises:
        OpeningError: the saver could not be opened or closed.
    """
    with _connections() as watch, fresh_workspace(folder, target) as workspace:
        with opened(target, workspace, loop):
            pass
        return _all_in_sqlite(workspace.path) and (watch is None or watch.opened > 0)


def first_look(target: Target, folder: Path, api: str, loop: Loop) -> FirstLook:
    """Use a saver once, with values of all sizes.

    After that all modules that it imports are loaded, so that hooks can be put into them, and files
    of every kind exist.

    Raises:
        OpeningError: the saver could not be opened or closed.
    """
    with _connections() as watch, fresh_workspace(folder, target) as workspace:
        with opened(target, workspace, loop) as saver:
            driver = driver_of(saver, api, loop, ids_for(target, workspace))
            calls = Calls(lambda current: saver.get_next_version(current, None))
            for step in (*LONG_VALUES.start, LONG_VALUES.step):
                # The clean runs report what the saver refuses.
                call_quietly(partial(_take, driver, calls, step))
            in_sqlite = _all_in_sqlite(workspace.path) and (watch is None or watch.opened > 0)
            alone = ""
            try:
                with opened(target, workspace, loop):
                    pass
            except OpeningError as problem:
                alone = describe(problem)
        return FirstLook(in_sqlite, alone)


def _take(driver: ApiDriver, calls: Calls, step: Step) -> None:
    for call in calls.settle((step,)):
        perform(driver, call)


@contextmanager
def _connections() -> Iterator[Watch | None]:
    """Yield a watch of the connections that Python's SQLite opens; None where SQLite cannot be
    reached.
    """
    watch = Watch()
    try:
        watch.__enter__()
    except Unavailable:
        yield None
        return
    try:
        yield watch
    finally:
        watch.__exit__(None, None, None)


def _all_in_sqlite(folder: Path) -> bool:
    """Return whether there are databases, and no other files. An empty file, such as a lock, does
    not count.
    """
    databases = [*sqlite_files(folder)]
    known = {Path(f"{path}{ending}") for path in databases for ending in BESIDE_A_DATABASE}
    found = {path for path in folder.rglob("*") if path.is_file() and path.stat().st_size}
    return bool(databases) and found <= known
