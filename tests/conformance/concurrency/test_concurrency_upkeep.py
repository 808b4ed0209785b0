"""What a thread may hold after someone tidied up while a run went on, on histories made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from saverproof.families.concurrency.callers.records import (
    Operation,
    OperationKind,
    Phase,
    ShownTuple,
    TimedCall,
    copy_of,
)
from saverproof.families.concurrency.contract_ids import (
    COPY,
    DELETION,
    LATE,
    PROCESSES,
    PRUNE,
    THREADS,
    TORN,
)
from saverproof.families.concurrency.family import implied_by, raised_beside_a_deletion
from saverproof.families.concurrency.histories.history_playing import Sharing
from saverproof.families.concurrency.record import Problem, ShownProblem
from saverproof.families.concurrency.upkeep.upkeep_judging import judge_round
from saverproof.families.concurrency.upkeep.upkeep_rounds import KINDS, Round, rounds_of
from saverproof.families.concurrency.upkeep.upkeep_scenes import UpkeepPlan, plan_of

ABLE = frozenset({"prune", "copy_thread", "delete_thread", "delete_for_runs", "early_writes"})
ROUNDS = {one.kind: one for one in rounds_of("0", ABLE, early=False)}
Contents = dict[tuple[int, int], tuple[Operation, list[Operation]]]
"""What is stored of a place and number: the put, and the batches."""


class Played:
    """The events of one round, made by hand: the run's calls are a unit of time each, from 100."""

    def __init__(self, kind: OperationKind) -> None:
        self.round = ROUNDS[kind]
        self.events = [
            TimedCall(-1, made, at, at + 1, phase=Phase.BEFORE)
            for at, made in enumerate(self.round.before)
        ]
        for at, made in enumerate(self.round.run):
            self.events.append(TimedCall(0, made, 100 + 10 * at, 105 + 10 * at))

    def kept(self, began: int, ended: int, error: str | None = None) -> Played:
        """Call the operation on the whole thread."""
        made = next(one for one in self.round.keeper if one.kind is self.round.kind)
        self.events.append(TimedCall(1, made, began, ended, error))
        return self

    def read(self, kind: OperationKind, at: int, *shown: ShownTuple, number: int = 0) -> Played:
        """Read in the root namespace."""
        made = Operation(kind, self.round.place, number)
        self.events.append(TimedCall(2, made, at, at + 1, shown=shown))
        return self

    def left(self, *stored: Operation, copied: tuple[Operation, ...] = ()) -> Played:
        """List all places in the end; what was stored is told by its puts and batches."""
        for place in self.round.places:
            made = copied if place > self.round.place + 1 else stored
            source = place - copy_of(0) if made is copied else place
            shown = tuple_of(one for one in made if one.place == source)
            listing = Operation(OperationKind.LIST, place)
            self.events.append(TimedCall(-2, listing, 900, 901, shown=shown, phase=Phase.AFTER))
            if place == self.round.place:
                latest = Operation(OperationKind.LATEST, place)
                self.events.append(
                    TimedCall(-2, latest, 910, 911, shown=shown[:1], phase=Phase.AFTER)
                )
        return self

    def broken(self, *, shared: bool = True) -> list[str]:
        """The contracts that the events break."""
        judged = judge_round(self.round, self.events, shared=shared)
        return [problem.contract for problem in judged.problems]


def tuple_of(made: object) -> tuple[ShownTuple, ...]:
    """Tuples, the newest first, of puts and batches."""
    operations: list[Operation] = list(made)  # type: ignore[call-overload]
    puts = {one.number: one for one in operations if one.kind is OperationKind.PUT}
    return tuple(
        ShownTuple(
            number,
            put.parts,
            tuple(
                sorted(
                    (one.task, one.texts)
                    for one in operations
                    if one.kind is OperationKind.WRITES and one.number == number
                )
            ),
        )
        for number, put in sorted(puts.items(), reverse=True)
    )


def numbered(one: Round, *numbers: int) -> list[Operation]:
    """All calls of a round about these checkpoints."""
    return [made for made in (*one.before, *one.run) if made.number in numbers]


def test_a_prune_may_keep_or_drop_what_is_older_and_nothing_else() -> None:
    of = ROUNDS[OperationKind.PRUNE]
    for kept in ((2, 3, 4, 5), (1, 2, 3, 4, 5), (3, 4, 5)):
        assert Played(OperationKind.PRUNE).kept(104, 112).left(*numbered(of, *kept)).broken() == []
    # 2 was the newest when it began, or 3 before it ended: one of both has to be there.
    assert Played(OperationKind.PRUNE).kept(104, 112).left(*numbered(of, 4, 5)).broken() == [PRUNE]
    # A later one is not there, as if by what was read before it came.
    assert Played(OperationKind.PRUNE).kept(104, 132).left(*numbered(of, 3, 5)).broken() == [PRUNE]
    # One that raised took effect, or did not.
    for kept in ((3, 4, 5), (1, 2, 3, 4, 5)):
        played = Played(OperationKind.PRUNE).kept(104, 112, "could not serialize access")
        assert played.left(*numbered(of, *kept)).broken() == []


def test_a_prune_keeps_writes_and_values_of_what_it_keeps() -> None:
    of = ROUNDS[OperationKind.PRUNE]
    writes = [one for one in of.run if one.kind is OperationKind.WRITES]
    without = [one for one in numbered(of, 3, 4, 5) if one is not writes[-1]]
    assert Played(OperationKind.PRUNE).kept(104, 112).left(*without).broken() == [PRUNE]
    valueless = [replace(one, carries=False) for one in numbered(of, 3, 4, 5)]
    assert Played(OperationKind.PRUNE).kept(104, 112).left(*valueless).broken() == [PRUNE]


def test_a_part_of_a_batch_in_a_copy_may_be_the_fault_of_who_wrote_it() -> None:
    of = ROUNDS[OperationKind.COPY]
    batch = next(at for at, one in enumerate(of.run) if one.kind is OperationKind.WRITES)
    torn = replace(of.run[batch], count=of.run[batch].count - 1)
    made = (*of.before, *of.run[:batch], torn)
    played = Played(OperationKind.COPY).kept(101, 160).left(*of.before, *of.run, copied=made)
    (problem,) = judge_round(of, played.events, shared=True).problems
    assert (problem.contract, problem.behind) == (COPY, TORN)
    assert problem.summary.startswith("only a part of a batch of 3 writes of checkpoint 3 is in")


def test_a_torn_copy_follows_from_torn_batches_only_if_these_are_told() -> None:
    copy = ShownProblem(Problem(COPY, "a part", "all", "a part", behind=TORN), {})
    torn = ShownProblem(Problem(TORN, "a part", "all", "a part"), {})
    assert COPY in implied_by({COPY: copy, TORN: torn})
    assert COPY not in implied_by({COPY: copy})


def test_what_stands_by_itself_is_kept_before_what_may_follow() -> None:
    own = Problem(COPY, "it came too early", "a moment", "none", steps=("a", "b"))
    torn = Problem(COPY, "a part", "all", "a part", steps=("a",), behind=TORN)
    assert ShownProblem(own, {}).rank < ShownProblem(torn, {}).rank


@pytest.mark.parametrize("moment", range(3, 7))
def test_a_copy_is_of_any_moment_while_it_was_made(moment: int) -> None:
    of = ROUNDS[OperationKind.COPY]
    made = (*of.before, *of.run[:moment])
    played = Played(OperationKind.COPY).kept(128, 155)
    assert played.left(*of.before, *of.run, copied=made).broken() == []


def test_a_copy_of_no_moment_is_told_by_a_cycle() -> None:
    of = ROUNDS[OperationKind.COPY]
    without = (*of.before, *of.run[:3], of.run[4])
    played = Played(OperationKind.COPY).kept(101, 160).left(*of.before, *of.run, copied=without)
    (problem,) = judge_round(of, played.events, shared=True).problems
    assert problem.contract == COPY
    assert "a cycle" in problem.observed
    assert problem.behind == ""
    # What had returned before it began.
    too_old = Played(OperationKind.COPY).kept(128, 160).left(*of.before, *of.run, copied=of.before)
    (problem,) = judge_round(of, too_old.events, shared=True).problems
    assert "had returned when the copy began" in problem.observed
    # What began after it had ended.
    early = Played(OperationKind.COPY).kept(101, 104)
    assert early.left(*of.before, *of.run, copied=(*of.before, *of.run[:3])).broken() == [COPY]


@pytest.mark.parametrize("kind", [OperationKind.DELETE, OperationKind.PRUNE_ALL])
def test_what_is_put_beside_a_deletion_of_its_thread_is_advice(kind: OperationKind) -> None:
    of = ROUNDS[kind]
    for first in range(1, 5):
        played = Played(kind).kept(101, 139).left(*of.run[first:])
        assert played.broken() == []
    # Half of what was put meanwhile is there.
    assert Played(kind).kept(101, 139).left(of.run[0], *of.run[2:]).broken() == [LATE]


@pytest.mark.parametrize("kind", [OperationKind.DELETE, OperationKind.PRUNE_ALL])
def test_what_is_put_before_a_deletion_is_gone_and_what_is_put_after_it_is_whole(
    kind: OperationKind,
) -> None:
    of = ROUNDS[kind]
    assert Played(kind).kept(118, 119).left(*of.run[2:]).broken() == []
    assert Played(kind).kept(118, 119).left(*of.before, *of.run[2:]).broken() == [DELETION]
    assert Played(kind).kept(118, 119).left(*of.run[4:]).broken() == [DELETION]


def test_a_run_is_deleted_without_the_others_of_its_thread() -> None:
    of = ROUNDS[OperationKind.DELETE_RUN]
    assert Played(OperationKind.DELETE_RUN).kept(101, 139).left(*of.run).broken() == []
    assert Played(OperationKind.DELETE_RUN).kept(101, 139).left(*of.run[2:]).broken() == [DELETION]
    some = (*of.before, *of.run)
    assert Played(OperationKind.DELETE_RUN).kept(101, 139).left(*some).broken() == [DELETION]


@pytest.mark.parametrize(("shared", "loss"), [(True, THREADS), (False, PROCESSES)])
def test_setup_must_not_be_noticed(shared: bool, loss: str) -> None:
    of = ROUNDS[OperationKind.SETUP]
    played = Played(OperationKind.SETUP).kept(101, 139)
    assert played.left(*of.before, *of.run).broken(shared=shared) == []
    played = Played(OperationKind.SETUP).kept(101, 139)
    assert played.left(*of.run).broken(shared=shared) == [loss]


def test_readers_are_shown_what_was_there_at_some_moment() -> None:
    of = ROUNDS[OperationKind.PRUNE]
    (newest, *_) = tuple_of(numbered(of, 5))
    played = Played(OperationKind.PRUNE).kept(101, 139).read(OperationKind.LATEST, 300, newest)
    assert played.read(OperationKind.GET, 301, number=2).left(*numbered(of, 3, 4, 5)).broken() == []
    nothing = Played(OperationKind.PRUNE).kept(101, 139).read(OperationKind.LATEST, 110)
    assert nothing.left(*numbered(of, 3, 4, 5)).broken() == [TORN]
    half = replace(newest, writes=((1, ("w1.0",)),))
    torn = Played(OperationKind.PRUNE).kept(101, 139).read(OperationKind.LIST, 300, half)
    assert torn.left(*numbered(of, 3, 4, 5)).broken() == [TORN]


def test_a_read_that_raises_is_torn_only_where_something_is_removed() -> None:
    for kind, found in (
        (OperationKind.PRUNE, TORN),
        (OperationKind.DELETE_RUN, TORN),
        (OperationKind.COPY, THREADS),
        (OperationKind.SETUP, THREADS),
    ):
        played = Played(kind).kept(101, 139).read(OperationKind.LATEST, 110)
        played.events[-1] = replace(played.events[-1], error="in a transaction")
        assert played.broken() == [found]


def test_callers_are_not_told_to_lose_nothing_where_a_read_of_one_saver_raised() -> None:
    read = Played(OperationKind.DELETE_RUN).read(OperationKind.LATEST, 110).events[-1]
    for error, sharing, beside in (
        ("in a transaction", Sharing.SHARED, True),
        ("in a transaction", Sharing.PROCESSES, False),
        (None, Sharing.SHARED, False),
    ):
        problem = Problem(TORN, "a torn read", "", "", (replace(read, error=error),))
        torn = ShownProblem(problem, {"sharing": sharing.value})
        assert raised_beside_a_deletion({TORN: torn}) is beside


def test_a_run_may_be_refused_only_where_its_thread_is_deleted() -> None:
    for kind, found in ((OperationKind.PRUNE, [THREADS]), (OperationKind.DELETE, [])):
        of = ROUNDS[kind]
        played = Played(kind).kept(101, 102)
        last = played.events.index(next(e for e in played.events if e.operation is of.run[-1]))
        played.events[last] = replace(played.events[last], error="refused")
        kept = numbered(of, 2, 3, 4, 5) if kind is OperationKind.PRUNE else of.run
        stored = [one for one in kept if one is not of.run[-1]]
        # A deletion that took effect before the run's first put.
        assert played.left(*stored).broken() == found


def test_rounds_are_found_again_in_recorded_calls() -> None:
    plan = plan_of(Sharing.SHARED, 0, "0", ABLE)
    assert UpkeepPlan.of(plan.calls) == plan
    assert [one.kind for one in plan.rounds] == list(KINDS)
    # Without an ability there are no rounds for it.
    few = plan_of(Sharing.SHARED, 0, "0", frozenset({"delete_thread"}))
    assert {one.kind for one in few.rounds} == {OperationKind.DELETE, OperationKind.SETUP}


def test_beside_a_deleted_run_another_one_is_refused_nothing_that_it_goes_on_with() -> None:
    kind = OperationKind.DELETE_RUN
    for at, broken in ((0, []), (1, [THREADS])):
        # The first checkpoint goes on with one that is deleted, and may be refused; its writes may
        # not.
        played = Played(kind).kept(95, 98)
        refused = replace(played.events[len(played.round.before) + at], error="cannot begin")
        played.events[len(played.round.before) + at] = refused
        assert played.broken() == broken
        assert played.broken(shared=False) == []
