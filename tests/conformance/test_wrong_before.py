"""Who shows what was wrong before, as a copy of its source does, is not to blame for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple, empty_checkpoint
from tests.wrong_savers.registry import opener

from saverproof import Target
from saverproof.families.machines.explaining.trials import ProgramRun, Trials
from saverproof.judging.scenes.bulk import Bulk
from saverproof.mistakes.metadata import MetadataAs, NoneMetadataDropped
from saverproof.mistakes.pending_writes import NoneWritesHidden
from saverproof.mistakes.reference.reading import Blobs
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf
from saverproof.mistakes.serialization import SeenOfTheNewestPut, UpdatedChannelsLeftOut
from saverproof.mistakes.upsert import ReputCascades
from saverproof.mistakes.what_is_removed import SpecialWritesNotCopied
from saverproof.mistakes.write_order import WritesByInsertion
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    Program,
    Prune,
    Put,
    PutHistory,
    PutWrites,
    Step,
    WalkPages,
)
from saverproof.programs.values import Value
from saverproof.savers.targets.event_loop import EventLoop

INTERRUPT = ("__interrupt__", Value("integer", 1))
NONE = ("notes", Value("none", 0))
PROGRAM = (
    Put("a", "", 1, metadata={"user_id": None}),
    PutWrites("a", "", 1, 1, (NONE, INTERRUPT)),
    CopyThread("a", "b"),
    CopyThread("b", "c"),
    DeleteThread("d"),
)


class NoRunIds(MetadataAs):
    """Does not store run ids."""

    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in metadata.items() if key != "run_id"}


class TextOfValues(ReferenceSaver):
    """Gives back every channel's value as text."""

    def _load_values(self, blobs: Blobs) -> dict[str, Any]:
        return {channel: str(value) for channel, value in super()._load_values(blobs).items()}


class NewestStay(ReferenceSaver):
    """Removes all but the newest 23 checkpoints of a namespace by itself."""

    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        super()._store_checkpoint(shelf, row)
        for id in sorted(shelf.checkpoints)[:-23]:
            del shelf.checkpoints[id]


class EarlyWritesMakeStubs(ReferenceSaver):
    """Shows an empty checkpoint where writes wait for theirs, as a document that is merged into."""

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found, asked = super().get_tuple(config), self._asked_id(config)
        if found is not None or not asked:
            return found
        with self.store.lock:
            for shelf in self._shelves_of(self._thread_of(config)):
                if shelf.ns == self._get_ns(config) and shelf.writes.get(asked):
                    return CheckpointTuple(config, empty_checkpoint() | {"id": asked}, {}, config)
        return None


class Both(SpecialWritesNotCopied, NoneWritesHidden):
    """Hides a None, and its copies lose interrupts."""


def run_on(
    saver: type[ReferenceSaver], folder: Path, program: Program = PROGRAM, *, thorough: bool = False
) -> ProgramRun:
    """A program on a saver."""
    with EventLoop() as loop:
        target = Target(name=saver.__name__, open=opener(saver))
        return Trials(target, folder, loop, ("sync",)).replay(program, thorough=thorough)


def test_copies_of_a_wrong_answer_are_blamed_on_what_made_it(tmp_path: Path) -> None:
    run = run_on(NoneWritesHidden, tmp_path)
    assert {breach.contract for breach in (*run.breaches, *run.masked)} == {
        "pending-writes/complete"
    }
    assert {breach.difference.address for breach in run.masked} >= {("b", "", 1), ("c", "", 1)}


def test_so_are_copies_of_wrong_metadata(tmp_path: Path) -> None:
    run = run_on(NoneMetadataDropped, tmp_path)
    assert {breach.contract for breach in (*run.breaches, *run.masked)} == {
        "serialization/metadata"
    }
    assert {breach.difference.address for breach in run.masked} >= {("b", "", 1), ("c", "", 1)}


@pytest.mark.parametrize("saver", [NoRunIds, TextOfValues])
def test_a_copy_that_is_seen_with_its_source_for_the_first_time_is_blamed_alike(
    saver: type[ReferenceSaver], tmp_path: Path
) -> None:
    """Of a history, the last checkpoint alone is looked at before it is copied."""
    program = (PutHistory("a", "", 1, 2), CopyThread("a", "b"))
    run = run_on(saver, tmp_path, program)
    blamed = {breach.difference.address: breach.contract for breach in run.breaches}
    assert blamed["a", "", 1] == blamed["b", "", 1]


NOTES = (("notes", Value("integer", 1)),)
SEEN_LATE: tuple[Program, ...] = (
    (PutHistory("a", "", 1, 2), Put("a", "", 9)),
    (PutHistory("a", "", 1, 2), CopyThread("a", "b")),
    (PutHistory("a", "", 1, 3), PutWrites("a", "", 2, 1, ())),
    (Put("a", "", 1), Put("a", "", 1, changes=NOTES)),
)
"""Programs after whose last step something is compared for the first time since it was put."""


@pytest.mark.parametrize("program", SEEN_LATE)
def test_what_is_seen_late_is_blamed_like_what_was_seen_before(
    program: Program, tmp_path: Path
) -> None:
    run = run_on(UpdatedChannelsLeftOut, tmp_path, program)
    assert {breach.position for breach in run.breaches} == {1, 2}
    assert {breach.contract for breach in run.breaches} == {"serialization/checkpoint-fields"}


def test_a_copy_that_is_put_again_is_wrong_as_its_source_is(tmp_path: Path) -> None:
    again = Put("c", "", 1, changes=NOTES)
    program = (Put("a", "", 1), CopyThread("a", "b"), CopyThread("b", "c"), again)
    run = run_on(UpdatedChannelsLeftOut, tmp_path, program)
    assert {breach.difference.address for breach in run.breaches} == {("a", "", 1), ("c", "", 1)}
    assert {breach.contract for breach in run.breaches} == {"serialization/checkpoint-fields"}


def test_so_is_a_copy_of_a_copy_that_is_gone(tmp_path: Path) -> None:
    program = (Put("a", "", 1), CopyThread("a", "b"), CopyThread("b", "c"), DeleteThread("b"))
    run = run_on(UpdatedChannelsLeftOut, tmp_path, program)
    assert {breach.contract for breach in (*run.breaches, *run.masked)} == {
        "serialization/checkpoint-fields"
    }


def test_runs_that_the_saver_does_not_know_are_no_matter_of_deleting_them(tmp_path: Path) -> None:
    run = run_on(NoRunIds, tmp_path, (PutHistory("a", "", 1, 2), DeleteForRuns(("run-2",))))
    assert {breach.contract for breach in run.breaches} == {"serialization/metadata"}


def test_what_was_right_before_is_blamed_on_the_step_that_changed_it(tmp_path: Path) -> None:
    run = run_on(SeenOfTheNewestPut, tmp_path, (PutHistory("a", "", 1, 3), Put("a", "", 9)))
    assert {breach.contract for breach in run.breaches} == {"channels/history-immutable"}


def test_what_the_copy_loses_is_blamed_on_the_copy(tmp_path: Path) -> None:
    run = run_on(Both, tmp_path)
    assert {breach.contract for breach in run.breaches} == {
        "pending-writes/complete",
        "deletion/copy-complete",
    }


def test_writes_that_only_look_like_others_are_not_out_of_order(tmp_path: Path) -> None:
    first = PutWrites("a", "", 1, 1, (("notes", Value("integer", 1)), NONE))
    others = (Value("none", 0), Value("integer", 7), Value("integer", 1))
    again = PutWrites("a", "", 1, 1, tuple(("notes", value) for value in others))
    program = (Put("a", "", 1), first, Put("a", "", 1, changes=NOTES), again)
    run = run_on(ReputCascades, tmp_path, program)
    facts = {breach.difference.fact for breach in (*run.breaches, *run.masked)}
    assert "write:order" not in facts


class TextOfWritesByArrival(WritesByInsertion):
    """Gives back every write as text, in the order in which they came."""

    def _load_write(self, blob: Any) -> Any:
        return str(super()._load_write(blob))


def test_writes_of_other_values_are_out_of_order_all_the_same(tmp_path: Path) -> None:
    batches = (PutWrites("a", "", 1, task, (("notes", Value("integer", 1)),)) for task in (1, 2, 3))
    run = run_on(TextOfWritesByArrival, tmp_path, (Put("a", "", 1), *batches))
    facts = {breach.difference.fact for breach in (*run.breaches, *run.masked)}
    assert {"write:value", "write:order"} <= facts


@pytest.mark.parametrize("count", [24, 64])
@pytest.mark.parametrize(
    "then", [CopyThread("a", "b"), Prune(("a",), "keep_latest"), WalkPages("a", "", 1)]
)
def test_what_a_saver_removed_by_itself_is_not_missing_because_of_what_comes_then(
    then: Step, count: int, tmp_path: Path
) -> None:
    run = run_on(NewestStay, tmp_path, (PutHistory("a", "", 1, count), then))
    assert {breach.contract for breach in (*run.breaches, *run.masked)} == {
        "identity/put-returns-address"
    }


def test_of_many_checkpoints_the_first_may_be_gone_and_not_only_unlisted(tmp_path: Path) -> None:
    run = run_on(NewestStay, tmp_path, (Bulk("checkpoints", "a", 1, 30),))
    assert [breach.contract for breach in run.breaches] == ["channels/history-immutable"]


@pytest.mark.parametrize("thorough", [False, True])
def test_writes_that_make_a_checkpoint_have_changed_none(thorough: bool, tmp_path: Path) -> None:
    program = (PutWrites("a", "", 1, 1, (NONE,)),)
    run = run_on(EarlyWritesMakeStubs, tmp_path, program, thorough=thorough)
    assert {breach.contract for breach in run.breaches} == {"identity/unknown-is-none"}
