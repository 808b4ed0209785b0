"""Makes the calls of a history with one caller only. What is wrong then is not a flaw of
concurrency.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.records import Operation, Phase, TimedCall
from saverproof.families.concurrency.histories.history_playing import CallPlan, Played, ended, play
from saverproof.families.concurrency.histories.judging import judge_history, semantics_of
from saverproof.families.concurrency.histories.sequential_spec import USUAL, Semantics
from saverproof.families.concurrency.record import Problem

_ORDERS: tuple[Callable[[TimedCall], int], ...] = (
    lambda event: event.ended,
    lambda event: event.began,
)
"""The orders in which one caller repeats the calls of a history: each call may have taken effect at
any moment between its beginning and its end.
"""


@dataclass(frozen=True, slots=True)
class OneCaller:
    """The answers of a saver to one caller alone, which rehearses the calls. ``wrong`` are the
    problems of this rehearsal. Problems of the same sort are ignored in histories of several
    callers.
    """

    semantics: Semantics = USUAL
    wrong: tuple[Problem, ...] = ()
    known: frozenset[str] = field(init=False)
    """The sorts of the problems in ``wrong``."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "known", frozenset(problem.sort for problem in self.wrong))

    @classmethod
    def rehearsed(cls, events: Sequence[TimedCall]) -> OneCaller:
        """Return what a rehearsal by one caller shows."""
        semantics = semantics_of(events)
        wrong = judge_history(events, shared=True, semantics=semantics).problems
        sorts = {problem.sort for problem in wrong}
        # Wrong answers hide problems of order: judge once more with their sorts set aside.
        rest = judge_history(events, shared=True, semantics=semantics, known=sorts)
        return cls(semantics, (*wrong, *rest.problems))


@dataclass(frozen=True, slots=True)
class Divided:
    """The problems of a history in two groups: those that only several callers have, and those that
    one caller alone has as well.

    ``calls`` are calls of one caller that show the second group.
    """

    of_callers: list[Problem]
    of_one: list[Problem]
    calls: CallPlan


def divided(
    bench: CallerBench, played: Played, problems: Sequence[Problem], alone: OneCaller
) -> Divided:
    """Repeat the calls of a history with one caller, one after the other, and see which of the
    problems show there as well.
    """
    left, calls = list(problems), played.script
    for order in _ORDERS:
        if not left:
            break
        calls = in_turn(played, order)
        again = play(bench, calls)
        if again.trouble or again.slow:
            continue
        judgement = judge_history(
            again.events, shared=True, semantics=alone.semantics, known=alone.known
        )
        same = {problem.sort for problem in (*ended(again), *judgement.problems)}
        if same & {problem.sort for problem in left}:
            left = [problem for problem in left if problem.sort not in same]
            break
    kept = {id(problem) for problem in left}
    return Divided(left, [one for one in problems if id(one) not in kept], calls)


def in_turn(played: Played, order: Callable[[TimedCall], int]) -> CallPlan:
    """Return a plan in which one caller makes the calls of a history in this order."""
    during = sorted((e for e in played.events if e.phase is Phase.DURING), key=order)
    made: list[Operation] = [event.operation for event in during]
    return played.script.by_one(tuple(made))
