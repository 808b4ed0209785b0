"""One flaw is not told as the flaw of what only happened beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import CheckpointTuple
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, plan_of

from saverproof.contracts.registry import contracts
from saverproof.contracts.tables import deletion, parity, pending_writes
from saverproof.families.machines.explaining.blaming import Blaming
from saverproof.families.machines.explaining.diagnosis import Established
from saverproof.families.machines.explaining.trials import Trials
from saverproof.families.registry import judged
from saverproof.judging import facts
from saverproof.judging.session import Breach
from saverproof.mistakes import MISTAKES
from saverproof.mistakes.async_halves import AsyncSpecialWritesStay
from saverproof.mistakes.identity import UnknownIdIsLatest
from saverproof.mistakes.parity import AsyncGetWithoutWrites
from saverproof.mistakes.pruning import CopySharesValues, PruneKeepsLastInserted
from saverproof.mistakes.read_caches import WritesCached
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Shelf
from saverproof.mistakes.registry import opener
from saverproof.programs.small import batch
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteThread,
    DeltaHistory,
    Prune,
    Put,
    PutWrites,
    Step,
)
from saverproof.programs.values import Value
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.target import Target

SAME = parity.SAME_ANSWERS.id
BY_INSERTION = "writes-by-insertion"
ANSWERED_TWICE = (
    Put("a", "", 1),
    *(PutWrites("a", "", 1, 1, (("__resume__", Value("integer", n)),)) for n in (1, 2)),
)
"""The second answer is stored by the async half."""
PROGRAM = (Put("a", "", 1), batch("a", 1, 1, 1), CopyThread("a", "b"), batch("a", 1, 1, 3))


class CachedUntilACopy(WritesCached):
    """Keeps what it has read, as a known mistake does, but for a copy, which drops all of it."""

    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        self._read().clear()
        super()._copy_shelf(shelf, copy)


def test_a_write_that_is_not_shown_after_a_copy_is_not_the_copys(tmp_path: Path) -> None:
    known = next(each for each in MISTAKES if each.saver is WritesCached)
    target = Target(name="wrong", open=opener(CachedUntilACopy))
    with EventLoop() as loop:
        trials = Trials(target, tmp_path, loop, ("sync",))
        blaming = Blaming(trials, frozenset({deletion.COPY_COMPLETE.id}))
        blaming.diagnosis.found = [Established(known)]
        run = trials.replay(PROGRAM)
        left = blaming.diagnosis.compare(run).left
        assert left
        blamed = {blaming.blamed(PROGRAM, breach) for breach in left}
    assert blamed == {pending_writes.COMPLETE.id}


class CopyOfGoneValuesRaises(CopySharesValues):
    """Counts the values of a copy where its source has them, and raises once that is deleted."""

    def _delete_shelf(self, shelf: Shelf) -> None:
        gone = self.store.extra.setdefault("gone", [])
        gone += self.store.extra.get(id(shelf), [])
        super()._delete_shelf(shelf)

    def put_writes(self, config: Any, *batch: Any) -> None:
        shelves = self._shelves_of(config["configurable"]["thread_id"])
        if any(shelf is gone for shelf in shelves for gone in self.store.extra.get("gone", ())):
            raise KeyError("no such value")
        super().put_writes(config, *batch)


@pytest.mark.parametrize("number", [1, 2])
def test_a_copy_that_raises_without_its_source_is_not_incomplete(
    number: int, tmp_path: Path
) -> None:
    # Checkpoint 1 is not put, so that its write is early, and the task writes a second time.
    program = (
        Put("a", "", 2),
        PutWrites("a", "", 1, 1, (("notes", Value("integer", 1)),)),
        CopyThread("a", "b"),
        DeleteThread("a"),
        PutWrites("b", "", number, 1, (("messages", Value("integer", 2)),)),
    )
    target = Target(name="wrong", open=opener(CopyOfGoneValuesRaises))
    with EventLoop() as loop:
        trials = Trials(target, tmp_path, loop, ("sync",))
        blaming = Blaming(trials, frozenset({contract.id for contract in contracts("deletion")}))
        run = trials.replay(program)
        raised = [breach for breach in run.breaches if breach.difference.kind is facts.RAISED]
        assert {blaming.blamed(program, breach) for breach in raised} == {
            deletion.COPY_INDEPENDENT.id
        }


def test_a_flaw_of_the_async_half_is_no_mistake_of_both(tmp_path: Path) -> None:
    target = Target(name="wrong", open=opener(AsyncSpecialWritesStay))
    with EventLoop() as loop:
        trials = Trials(target, tmp_path, loop, ("sync", "async"))
        blaming = Blaming(trials, frozenset({SAME}))
        others = [each for each in MISTAKES if each.saver is not AsyncSpecialWritesStay]
        blaming.diagnosis.pool = others
        run = trials.replay(ANSWERED_TWICE)
        [breach] = run.breaches
        assert blaming.blamed(ANSWERED_TWICE, breach) == SAME
        assert blaming.diagnosis.extend(run, breach, SAME, {SAME}) is None


class SortedInHistories(next(each.saver for each in MISTAKES if each.name == BY_INSERTION)):  # type: ignore[misc]
    """Has pending writes as they were inserted, but sorted in the history of a channel."""

    def get_delta_channel_history(self, *, config: Any, channels: Any) -> Any:
        found = super().get_delta_channel_history(config=config, channels=channels)
        return {name: {**one, "writes": sorted(one["writes"])} for name, one in found.items()}


def test_what_a_known_mistake_shows_first_is_no_difference_of_the_two_halves(
    tmp_path: Path,
) -> None:
    program = (
        Put("a", "", 1), Put("a", "", 2, parent=1),
        *(PutWrites("a", "", 1, n, (("notes", Value("integer", n)),)) for n in (1, 2)),
        DeltaHistory("a", "", 2, ("notes",)),
    )  # fmt: skip
    known = next(each for each in MISTAKES if each.name == BY_INSERTION)
    target = Target(name="wrong", open=opener(SortedInHistories))
    with EventLoop() as loop:
        trials = Trials(target, tmp_path, loop, ("sync", "async"))
        blaming = Blaming(trials, frozenset({SAME}))
        blaming.diagnosis.found = [Established(known)]
        left = blaming.diagnosis.compare(trials.replay(program)).left
        assert left
        assert SAME not in {blaming.blamed(program, breach) for breach in left}


def blamed_of(
    saver: type[ReferenceSaver],
    program: tuple[Step, ...],
    contract: str,
    folder: Path,
    chosen: Callable[[Breach], bool] = lambda breach: True,
) -> set[str]:
    """What is blamed for the chosen breaches of a program, where no mistake is known."""
    target = Target(name="wrong", open=opener(saver))
    with EventLoop() as loop:
        trials = Trials(target, folder, loop, ("sync",))
        blaming = Blaming(trials, frozenset({contract}))
        blaming.diagnosis.pool = []
        breaches = filter(chosen, trials.replay(program).breaches)
        return {blaming.blamed(program, breach) for breach in breaches}


class AnyIdIsFound(UnknownIdIsLatest, PruneKeepsLastInserted):
    """Drops a checkpoint that is to stay, and answers with another one when asked for it."""


def test_another_checkpoint_for_one_that_is_lost_is_no_wrong_address(tmp_path: Path) -> None:
    program = (Put("a", "", 2), Put("a", "", 1), Prune(("a",), "keep_latest"))
    blamed = blamed_of(AnyIdIsFound, program, deletion.PRUNE_LATEST.id, tmp_path)
    assert blamed == {deletion.PRUNE_LATEST.id}


class CopySharesEverything(ReferenceSaver):
    """Has one file for a thread and its copy, as a hard link gives it."""

    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        copy.checkpoints, copy.writes = shelf.checkpoints, shelf.writes

    def _got(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        asked = {"thread_id": config["configurable"]["thread_id"]}
        return found._replace(config={"configurable": {**found.config["configurable"], **asked}})


def test_what_is_put_into_the_source_and_shown_as_the_copys_latest_is_the_copys(
    tmp_path: Path,
) -> None:
    program = (Put("a", "", 1), CopyThread("a", "b"), Put("a", "", 2))
    blamed = blamed_of(
        CopySharesEverything,
        program,
        deletion.COPY_INDEPENDENT.id,
        tmp_path,
        lambda breach: breach.difference.kind is facts.LATEST,
    )
    assert blamed == {deletion.COPY_INDEPENDENT.id}


class PruneTakesValues(ReferenceSaver):
    """Keeps the newest checkpoint, but none of its values."""

    def _keep_latest(self, thread: str) -> None:
        super()._keep_latest(thread)
        for shelf in self._shelves_of(thread):
            shelf.values.clear()


def test_a_value_that_the_kept_checkpoint_itself_had_is_no_chain(tmp_path: Path) -> None:
    counters = {"counters_since_delta_snapshot": {"log": [4, 4]}}
    put = Put("a", "", 1, changes=(("log", Value("integer", 1)),), metadata=counters)
    program = (put, Prune(("a",), "keep_latest"))
    blamed = blamed_of(PruneTakesValues, program, deletion.PRUNE_LATEST.id, tmp_path)
    assert blamed == {deletion.PRUNE_LATEST.id}


@pytest.mark.parametrize(
    ("family", "told"), [("lifecycle", set()), ("pending-writes", {pending_writes.COMPLETE.id})]
)
def test_one_mistake_that_explains_all_is_not_told_as_several(
    family: str, told: set[str], tmp_path: Path
) -> None:
    # Writes that no read shows are at first taken for cached ones, and for some that are lost when
    # the saver is opened again, or come before their checkpoint.
    target = Target(name="wrong", open=opener(AsyncGetWithoutWrites))
    plan = plan_of(target, family, "async", tmp_path, facts=facts_from(EVERY_OPERATION))
    outcome = judged(plan, target)
    assert {found.contract for found in outcome.findings} == told
    [known] = [each for each in MISTAKES if each.saver is AsyncGetWithoutWrites]
    assert {found.mistake for found in outcome.findings} <= {known.note}
    assert not outcome.unsettled
