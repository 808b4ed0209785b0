"""Tries the first read of an old store while another process is in the middle of writing to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path

from saverproof.families.upgrade.programs import questions
from saverproof.families.upgrade.release_process import ReleaseRaised
from saverproof.families.upgrade.trials import ALL_NEW, ALL_OLD, Handover, ReleaseBench, Which
from saverproof.programs.small import ONE
from saverproof.savers.execution.sqlite_files import sqlite_files
from saverproof_faults.sqlite import raw

NO_LOCK = "a write is held open in SQLite files alone, and there is none that can be locked"
RAISES_ANYWAY = "the first read of an old store raises without another worker, too: {}"
WAITS_ANYWAY = "reads wait for writers on a store of the release's own, too: {}"


class NotToBeSeen(Exception):  # noqa: N818 - what kept it from being tried
    """The contract cannot be tried on this saver; the text says why."""


def first_read(bench: ReleaseBench) -> str:
    """Return what the first read of an old release's store raises; "" if it is answered.

    Raises:
        NotToBeSeen: nothing can be locked, or reads wait for a lock on any store, or raise without
            one.
    """
    if own := _read_of(bench, ALL_NEW, _locked):
        raise NotToBeSeen(WAITS_ANYWAY.format(own))
    raised = _read_of(bench, ALL_OLD, _locked)
    if raised and (anyway := _read_of(bench, ALL_OLD, lambda _: nullcontext())):
        raise NotToBeSeen(RAISES_ANYWAY.format(anyway))
    return raised


def _read_of(
    bench: ReleaseBench,
    handover: Handover,
    beside: Callable[[Path], AbstractContextManager[None]],
) -> str:
    """Return what the first read of a handover's store raises, ``beside`` something that goes on in
    its folder.
    """
    with bench.store() as at:
        (playing,) = bench.play(handover, [ONE], at)
        # The latest one, as a graph asks when it begins.
        asked = questions(playing.program, playing.name)[:1]
        with beside(at.path):
            try:
                with bench.opened((Which.NEW,), at) as name:
                    (shown,) = bench.players[Which.NEW].look(name, asked)
            except ReleaseRaised as refusal:
                return str(refusal)
    return shown.get("get raises", "")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock the files, as a worker in the middle of a write does."""
    files = list(sqlite_files(folder))
    if not files:
        raise NotToBeSeen(NO_LOCK)
    with closing(raw.connect(files[0], isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            raise NotToBeSeen(NO_LOCK) from None
        yield
        connection.execute("ROLLBACK")
