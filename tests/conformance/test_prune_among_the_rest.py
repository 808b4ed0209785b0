"""A prune beside all other operations: what it may leave is held against no right saver."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.wrong_savers.registry import opener

from saverproof import Target
from saverproof.families.machines.everything import EVERYTHING
from saverproof.families.machines.explaining.prediction import Predictor, compare
from saverproof.families.machines.explaining.trials import Trials
from saverproof.mistakes import MISTAKES
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf
from saverproof.mistakes.write_order import WritesWithoutPath
from saverproof.programs.makers import whole_threads
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteThread,
    GetTuple,
    ListTuples,
    Program,
    Prune,
    Put,
    PutWrites,
    WalkPages,
)
from saverproof.programs.values import Value
from saverproof.savers.targets.event_loop import EventLoop
from saverproof_savers.targets import sqlite

PROGRAMS = int(os.environ.get("SAVERPROOF_SEEDS", "1")) * 30
PRUNES = 3
"""Weight of a prune, where a put has 12."""
LOSES_A_VALUE = (("count", None),)
"""Takes away what a careful saver may rebuild from older checkpoints, so that it keeps these."""
WRITES = (("notes", Value("integer", 1)),)
ROOT = Put("a", "", 1)
CHILD = Put("a", "child", 1)
SECOND = Put("a", "", 2, 1)
WITH_DELTAS = (
    Put(
        "a",
        "",
        1,
        changes=(("size", None),),
        metadata={"counters_since_delta_snapshot": {"size": [1, 1]}},
    ),
    PutWrites("a", "", 1, 1, (("size", Value("integer", 1)),)),
    PutWrites("a", "", 1, 2, (("size", Value("integer", 1)),), path="~__pregel_pull, tools"),
    Prune(("a",), "keep_latest"),
)
KEPT = (ROOT, Put("a", "", 2, 1, changes=LOSES_A_VALUE), Prune(("a",), "keep_latest"))

PROGRAMS_WITH_A_PRUNE: dict[str, Program] = {
    "has what only older checkpoints count": (
        *WITH_DELTAS[:-1],
        *(SECOND, WITH_DELTAS[-1]),
    ),
    "copied": (*KEPT, CopyThread("a", "b"), Put("b", "", 3, 2), ListTuples("b")),
    "looks like another namespace's": (
        CHILD,
        PutWrites("a", "", 1, 1, WRITES),
        *KEPT,
        ListTuples("a"),
    ),
    "looks like another thread's": (
        *KEPT,
        Put("b", "", 1),
        PutWrites("a", "", 1, 1, WRITES),
        ListTuples(None),
    ),
    "between pages": (Put("a", "", 3), *KEPT, WalkPages("a", "", 1), ListTuples("a", limit=2)),
    "above a new one": (
        ROOT,
        Put("a", "", 3, 1, changes=LOSES_A_VALUE),
        Put("a", "", 4, 3),
        Prune(("a",), "keep_latest"),
        Put("a", "", 2),
        WalkPages("a", "", 1),
        *(ListTuples("a", "", limit=size) for size in range(4)),
    ),
    "deleted": (*KEPT, DeleteThread("a"), ListTuples("a"), Put("a", "", 1), ListTuples("a")),
    "put again": (SECOND, Prune(("a",), "keep_latest"), SECOND, *KEPT[:2], ListTuples("a")),
}


class UnlinksWhatItKeeps(ReferenceSaver):
    """What is kept has no parent any more, nor has it after it was put again."""

    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        has_parent = shelf.checkpoints.get(row.id, row).parent is not None
        super()._store_checkpoint(shelf, row if has_parent else replace(row, parent=None))

    def _keep_latest(self, thread: str) -> None:
        super()._keep_latest(thread)
        for shelf in self._shelves_of(thread):
            for id, row in shelf.checkpoints.items():
                if row.parent not in shelf.checkpoints:
                    shelf.checkpoints[id] = replace(row, parent=None)


class ForgetsTheNewest(ReferenceSaver):
    """Deletes of each namespace the newest checkpoint only."""

    def delete_thread(self, thread_id: str) -> None:
        for shelf in self._shelves_to_delete(thread_id):
            self._drop(shelf, [self._newest(shelf)])


class RefusesToPrune(ReferenceSaver):
    """Leaves threads with delta channels as they are, as it may."""

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        raise NotImplementedError("delta channels")


class RefusesToPruneAndSortsWrongly(RefusesToPrune, WritesWithoutPath):
    """Shows pending writes in the wrong order, before a refused prune and after it."""


class RefusesToPruneTooLate(RefusesToPrune):
    """Has deleted pending writes before it sees that it must refuse."""

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        for thread in thread_ids:
            for shelf in self._shelves_of(thread):
                shelf.writes.clear()
        super().prune(thread_ids, strategy=strategy)


class RefusesToPruneTooLateAndSortsWrongly(RefusesToPruneTooLate, WritesWithoutPath):
    """Has both mistakes."""


class KeepsWhatTheNewestCounts(ReferenceSaver):
    """Keeps what LangGraph rebuilds: the channels that the newest checkpoint counts."""

    def _delta_channels(self, shelf: Shelf, row: CheckpointRow) -> set[str]:
        return self._said(row) - self._held(shelf, row)


def target(saver: type[ReferenceSaver]) -> Target:
    """A target of the reference saver's kind."""
    return Target(name=saver.__name__, open=opener(saver))


RIGHT = pytest.mark.parametrize(
    "right",
    [target(ReferenceSaver), target(UnlinksWhatItKeeps), target(KeepsWhatTheNewestCounts), sqlite],
    ids=lambda target: target.name,
)


@contextmanager
def trials_of(saver: Target, folder: Path) -> Iterator[Trials]:
    """Programs on a saver, in a folder."""
    with EventLoop() as loop:
        yield Trials(saver, folder, loop, ("sync",))


@RIGHT
@pytest.mark.parametrize("name", PROGRAMS_WITH_A_PRUNE)
def test_what_a_prune_leaves_is_left_alone(name: str, right: Target, tmp_path: Path) -> None:
    with trials_of(right, tmp_path) as trials:
        program = PROGRAMS_WITH_A_PRUNE[name]
        for thorough in (False, True):
            run = trials.replay(program, thorough=thorough)
            assert run.program == program
            assert run.breaches == ()


class PruneTakesEarlyWrites(ReferenceSaver):
    """Its prune takes the writes whose checkpoint is not there yet as well."""

    def _keep_latest(self, thread: str) -> None:
        super()._keep_latest(thread)
        for shelf in self._shelves_of(thread):
            for id in [id for id in shelf.writes if id not in shelf.checkpoints]:
                self._drop_writes(shelf, id)


def test_early_writes_may_go_with_a_prune(tmp_path: Path) -> None:
    early = PutWrites("a", "", 2, 1, WRITES)
    program = (ROOT, early, Prune(("a",), "keep_latest"), SECOND, CopyThread("a", "b"), early)
    with EventLoop() as loop:
        target = Target(name="early", open=opener(PruneTakesEarlyWrites))
        run = Trials(target, tmp_path, loop, ("sync",)).replay(program)
    assert not run.breaches
    # What is masked would be taken for another flaw beside a mistake.
    assert not run.masked


def test_what_a_prune_left_goes_with_its_thread(tmp_path: Path) -> None:
    with trials_of(target(ForgetsTheNewest), tmp_path) as trials:
        run = trials.replay((*KEPT, DeleteThread("a")))
    assert {breach.contract for breach in run.breaches} == {"deletion/thread-all"}


def test_what_a_refused_prune_changes_is_seen_behind_another_mistake(tmp_path: Path) -> None:
    with trials_of(target(RefusesToPruneTooLateAndSortsWrongly), tmp_path) as trials:
        run = trials.replay(WITH_DELTAS)
    shown = {breach.contract for breach in (*run.breaches, *run.masked)}
    assert shown == {"ordering/writes-sorted", "deletion/prune-keeps-delta-chain"}


@pytest.mark.parametrize(
    ("saver", "broken"),
    [
        (RefusesToPrune, set()),
        (RefusesToPruneAndSortsWrongly, {"ordering/writes-sorted"}),
        (RefusesToPruneTooLate, {"deletion/prune-keeps-delta-chain"}),
    ],
)
def test_only_what_a_refused_prune_changes_is_blamed_on_it(
    saver: type[ReferenceSaver], broken: set[str], tmp_path: Path
) -> None:
    with trials_of(target(saver), tmp_path) as trials:
        run = trials.replay(WITH_DELTAS)
    assert {breach.contract for breach in run.breaches} == broken


@RIGHT
def test_right_savers_pass_programs_with_prunes(right: Target, tmp_path: Path) -> None:
    theme = replace(EVERYTHING, weights={**EVERYTHING.weights, whole_threads.prune: PRUNES})
    with trials_of(right, tmp_path) as trials:
        for number in range(PROGRAMS):
            run = trials.make(theme, Random(f"prune:{number}"))
            assert run.breaches == ()


def test_what_a_refused_prune_leaves_is_predicted_too(tmp_path: Path) -> None:
    """A saver with the mistake alone would have pruned."""
    [sorts_wrongly] = (each for each in MISTAKES if each.saver is WritesWithoutPath)
    program = (*WITH_DELTAS, Put("a", "", 2, 1), GetTuple("a", "", 1))
    with trials_of(target(RefusesToPruneAndSortsWrongly), tmp_path) as trials:
        run = trials.replay(program)
        assert run.breaches
        assert run.refusals == (True,)
        assert compare(run, Predictor(trials).predict(run, [sorts_wrongly])).exact
