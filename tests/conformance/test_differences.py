"""No difference is dropped: one that another is behind is counted with that one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.wrong_savers.registry import opener

from saverproof.contracts.contract import Contract
from saverproof.contracts.tables import (
    channels,
    deletion,
    identity,
    isolation,
    ordering,
    pending_writes,
)
from saverproof.families.machines.explaining.ledger import Ledger
from saverproof.families.machines.explaining.search import ProgramSearch
from saverproof.families.machines.explaining.trials import Trials
from saverproof.judging import facts
from saverproof.judging.facts import Fact
from saverproof.judging.scenes import CallOnLoop, CheckFiles, Elsewhere
from saverproof.mistakes.deletion import DeleteLeavesWrites
from saverproof.mistakes.isolation import (
    LatestOfAnyNamespace,
    LatestOfAnyThread,
    OneStoreForAll,
)
from saverproof.mistakes.ordering import BeforeByInsertion
from saverproof.mistakes.pending_writes import BatchCutAtTen
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import ReferenceStore
from saverproof.mistakes.write_places import WritesByTaskId
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteThread,
    GetTuple,
    ListTuples,
    Program,
    Put,
    PutWrites,
    Step,
)
from saverproof.programs.steps.identifiers import mint
from saverproof.programs.values import Value
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.target import Target

FIRST = mint(1)
PUTS = (Put("a", "", 1, metadata={"source": "loop"}), Put("a", "", 2, 1))
HOSTILE = Put("a/../b", "", 1)
VALUED = Put("a", "", 1, changes=(("notes", Value("text", "a")),), metadata={"source": "loop"})


class LaterWrong(ReferenceSaver):
    """Does something wrong to the first checkpoint once the second is there."""

    later = False

    def put(self, config: Any, checkpoint: Any, *rest: Any) -> Any:
        self.later = self.later or checkpoint["id"] == mint(2)
        return super().put(config, checkpoint, *rest)

    def get_tuple(self, config: Any) -> Any:
        return self._changed(super().get_tuple(config))

    def list(self, *arguments: Any, **named: Any) -> Iterator[Any]:
        changed = map(self._changed, super().list(*arguments, **named))
        return iter([item for item in changed if item is not None])

    def _changed(self, found: Any) -> Any:
        if found is None or not self.later or found.checkpoint["id"] != FIRST:
            return found
        return self._wrong(found)

    def _wrong(self, found: Any) -> Any:
        raise NotImplementedError


class LosesMetadata(LaterWrong):
    def _wrong(self, found: Any) -> Any:
        return found._replace(metadata={})


class LosesCheckpoints(LaterWrong):
    def _wrong(self, found: Any) -> Any:
        return None


class CannotRead(LaterWrong):
    def _wrong(self, found: Any) -> Any:
        raise OSError("cannot be read")


class NeedsNamespace(ReferenceSaver):
    def get_tuple(self, config: Any) -> Any:
        return super().get_tuple(config) if "checkpoint_ns" in config["configurable"] else None


class RefusesHostile(ReferenceSaver):
    def put(self, config: Any, *rest: Any) -> Any:
        if "/" in config["configurable"]["thread_id"]:
            raise ValueError("no such thread ids")
        return super().put(config, *rest)


class CannotReadHostile(ReferenceSaver):
    def get_tuple(self, config: Any) -> Any:
        if "/" in config["configurable"]["thread_id"]:
            raise OSError("no such file")
        return super().get_tuple(config)


class CannotListNothing(ReferenceSaver):
    def list(self, config: Any, **given: Any) -> Any:
        found = list(super().list(config, **given))
        if not found:
            raise LookupError("nothing to list")
        return iter(found)


class CannotPut(ReferenceSaver):
    def put(self, *given: Any) -> Any:
        raise OSError("cannot be stored")


class HasNoVersions(ReferenceSaver):
    def get_next_version(self, current: Any, channel: None) -> Any:
        raise OSError("no versions")


@pytest.fixture
def loop() -> Iterator[EventLoop]:
    with EventLoop() as running:
        yield running


def trials_of(saver: type[ReferenceSaver], loop: EventLoop, folder: Path) -> Trials:
    return Trials(Target(name="wrong", open=opener(saver)), folder, loop, ("sync",))


@pytest.mark.parametrize(
    ("saver", "program", "shown", "explained"),
    [
        (LosesMetadata, (*PUTS, ListTuples("a")), facts.METADATA, facts.METADATA),
        (LosesCheckpoints, (*PUTS, ListTuples("a")), facts.MISSING, facts.SELECTION),
        (
            CannotRead,
            (*PUTS, GetTuple("a", "", 1), ListTuples("a")),
            facts.UNREADABLE,
            facts.RAISED,
        ),
        (NeedsNamespace, (PUTS[0], GetTuple("a", None, 1)), facts.FORM, facts.MISSING),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_what_follows_from_a_difference_is_counted_with_it(
    saver: type[ReferenceSaver],
    program: Program,
    shown: Fact,
    explained: Fact,
    loop: EventLoop,
    tmp_path: Path,
) -> None:
    run = trials_of(saver, loop, tmp_path).replay(program, thorough=False)
    first = run.breaches[0].difference
    assert first.kind is shown
    assert [other.kind for other in first.explains] == [explained]
    assert first.times == 2


@pytest.mark.parametrize(
    ("saver", "step", "contract"),
    [
        (CannotListNothing, Elsewhere("a", 3), identity.UNKNOWN_IS_NONE),
        (CannotPut, CheckFiles("private"), identity.PUT_RETURNS_ADDRESS),
        (HasNoVersions, CallOnLoop("put", "a"), channels.VERSIONS_INCREASE),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_what_raises_beside_the_point_of_a_step_is_a_difference(
    saver: type[ReferenceSaver],
    step: Step,
    contract: Contract,
    loop: EventLoop,
    tmp_path: Path,
) -> None:
    run = trials_of(saver, loop, tmp_path).replay((step,))
    assert contract.id in {breach.contract for breach in run.breaches}


def test_a_hostile_id_that_is_refused_counts_as_judged(loop: EventLoop, tmp_path: Path) -> None:
    trials = trials_of(RefusesHostile, loop, tmp_path)
    run = trials.replay((PUTS[0], HOSTILE), count=True)
    assert run.breaches == ()
    assert trials.checked[isolation.HOSTILE_IDENTIFIERS.id] == 1


def test_a_hostile_id_that_is_accepted_has_to_be_readable(loop: EventLoop, tmp_path: Path) -> None:
    run = trials_of(CannotReadHostile, loop, tmp_path).replay((PUTS[0], HOSTILE))
    assert [breach.difference.kind for breach in run.breaches] == [facts.UNREADABLE]


@pytest.mark.parametrize(
    ("saver", "contract", "program"),
    [
        # What it has is another thread's, and no metadata or value was lost.
        (
            LatestOfAnyThread,
            isolation.THREADS,
            (VALUED, replace(VALUED, thread="b", changes=(("notes", Value("text", "b")),))),
        ),
        (LatestOfAnyThread, isolation.THREADS, (VALUED, GetTuple("b", ""))),
        # It says itself whose it is, and by its id nothing is left of the one that was removed.
        (
            LatestOfAnyThread,
            isolation.THREADS,
            (VALUED, replace(VALUED, thread="b"), DeleteThread("a"), GetTuple("a", "")),
        ),
        (LatestOfAnyThread, isolation.THREADS, (*PUTS, CopyThread("a", "b"))),
        (LatestOfAnyNamespace, isolation.NAMESPACES, (VALUED, GetTuple("a", "child"))),
        (LatestOfAnyNamespace, isolation.NAMESPACES, (VALUED, replace(VALUED, namespace="n"))),
        # What shows is the other workspace's, whatever another thread has by that id.
        (
            OneStoreForAll,
            isolation.WORKSPACES,
            (Put("a", "", 1), Put("b", "", 2), Elsewhere("a", 2)),
        ),
        # Without the bound it is listed, with or without the namespace.
        (
            BeforeByInsertion,
            ordering.BEFORE_IS_EXCLUSIVE,
            (Put("a", "", 3), Put("a", "child", 1), ListTuples("a", before=3)),
        ),
    ],
)
def test_a_difference_is_blamed_on_what_it_comes_from(
    saver: type[ReferenceSaver],
    contract: Contract,
    program: Program,
    loop: EventLoop,
    tmp_path: Path,
) -> None:
    # Other tests put things into the one store of all.
    ReferenceStore.forget(Path("everywhere"))
    run = trials_of(saver, loop, tmp_path).replay(program)
    assert {breach.contract for breach in run.breaches} == {contract.id}


def batch(number: int, *writes: tuple[str, int]) -> PutWrites:
    """A batch of task 1 on a checkpoint of thread ``a``."""
    return PutWrites("a", "", number, 1, tuple((name, Value("integer", n)) for name, n in writes))


LONG = batch(1, *(("notes", n) for n in range(11)))


@pytest.mark.parametrize(
    ("saver", "contract", "program"),
    [
        # Later writes meet what was left, and are not lost for being early.
        (
            DeleteLeavesWrites,
            deletion.NO_GHOSTS,
            (batch(1, ("notes", 1)), DeleteThread("a"), batch(1, ("notes", 2)), PUTS[0]),
        ),
        # That the task had written before has nothing to do with it.
        (
            BatchCutAtTen,
            pending_writes.COMPLETE,
            (PUTS[0], batch(1, ("notes", 0)), LONG, PUTS[1], replace(LONG, number=2)),
        ),
        # Nor has the order of writes that are another checkpoint's.
        (
            WritesByTaskId,
            pending_writes.SCOPED,
            (batch(1, ("notes", 1)), batch(2, ("count", 2), ("notes", 1)), PUTS[0], PUTS[1]),
        ),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_what_another_family_would_be_blamed_for_is_explained_by_its_cause(
    saver: type[ReferenceSaver],
    contract: Contract,
    program: Program,
    loop: EventLoop,
    tmp_path: Path,
) -> None:
    trials = trials_of(saver, loop, tmp_path)
    search = ProgramSearch(trials, frozenset({contract.id}))
    search.follow_up(trials.replay(program, thorough=False))
    search.settle_the_rest()
    account = search.ledger.account(search.found, search.wanted)
    assert account.shown == 1
    assert not account.elsewhere


def test_what_comes_from_a_mistake_that_nothing_shows_is_left_open() -> None:
    ledger = Ledger(total=3)
    ledger.leave("upsert/put-replaces", ())
    account = ledger.account([], {"ordering/writes-sorted"})
    assert account.elsewhere == {("upsert/put-replaces",): 1}
    assert (account.seen, account.explained) == (2, 2)
