"""What a removal sweeps up beside what it removes, and what an index keeps of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.registry import opener

from saverproof import Target
from saverproof.families.machines.explaining.trials import Trials
from saverproof.mistakes import swept_away
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf
from saverproof.programs.directed.swept_away import (
    COPY_SELECTED,
    NAMED_AGAIN,
    NEEDS,
    SELECTED_LATER,
    early_beside,
)
from saverproof.programs.steps.definitions import Program
from saverproof.savers.targets.event_loop import EventLoop
from saverproof_savers.targets import sqlite

EARLY = tuple(map(early_beside, NEEDS))
INDEXED = (*SELECTED_LATER, COPY_SELECTED, *NAMED_AGAIN)


class PruningSweepsItsThread(swept_away.Sweeping):
    """Prunes a thread with all that waits in it: whether that stays is the saver's choice."""

    def _keep_latest(self, thread: str) -> None:
        super()._keep_latest(thread)
        self._sweep(self._shelves_of(thread))


class KeysReplaced(swept_away.MetadataIndex):
    """An index with a row for each key: a put replaces the keys that it has."""

    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        super()._store_checkpoint(shelf, row)
        rows = self._rows_of_index()[(row.thread, row.ns, row.id)]
        rows[:] = [{key: value for each in rows for key, value in each.items()}]


class DeletedKeysStay(KeysReplaced, swept_away.DeletedIsStillIndexed):
    """What is put after a deletion keeps the keys that it does not have itself."""


class KeysOfRunsStay(KeysReplaced, swept_away.RunsAreStillIndexed):
    """What is put after the deletion of its run keeps the keys that it does not have itself."""


def target(saver: type) -> Target:
    return Target(name=saver.__name__, open=opener(saver))


def broken(target: Target, folder: Path, programs: Iterable[Program]) -> set[str]:
    """The contracts that the programs show to be broken."""
    with EventLoop() as loop:
        trials = Trials(target, folder, loop, ("sync", "async"))
        runs = [trials.replay(p, thorough=t) for p in programs for t in (False, True)]
    return {breach.contract for run in runs for breach in run.breaches}


RIGHT = (
    ReferenceSaver,
    SqliteReference,
    PruningSweepsItsThread,
    swept_away.MetadataIndex,
    KeysReplaced,
)


@pytest.mark.parametrize("right", RIGHT)
def test_a_right_saver_is_accused_of_nothing(right: type, tmp_path: Path) -> None:
    assert broken(target(right), tmp_path, (*EARLY, *INDEXED)) == set()


def test_the_bundled_saver_is_accused_of_nothing(tmp_path: Path) -> None:
    assert broken(sqlite, tmp_path, (*EARLY, *INDEXED)) == set()


SWEEPING = (
    swept_away.DeletingSweepsAllThreads,
    swept_away.RunsSweepAllThreads,
    swept_away.RunsSweepTheirNamespace,
    swept_away.PruningSweepsAllThreads,
)
INDEXING = (
    swept_away.DeletedIsStillIndexed,
    swept_away.RunsAreStillIndexed,
    swept_away.CopyFindsItsKeyTaken,
    swept_away.CopyIsNotIndexed,
    DeletedKeysStay,
    KeysOfRunsStay,
)


# Which contract is blamed in the end is the self-test's to judge.
@pytest.mark.parametrize("wrong", SWEEPING)
def test_writes_that_wait_are_missed(wrong: type, tmp_path: Path) -> None:
    assert broken(target(wrong), tmp_path, EARLY)


@pytest.mark.parametrize("wrong", INDEXING)
def test_rows_of_an_index_are_told(wrong: type, tmp_path: Path) -> None:
    assert broken(target(wrong), tmp_path, INDEXED)
