"""Goes on with the copies of a graph's thread, when nobody is beside it any more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from saverproof.families.concurrency import copies_by_hand
from saverproof.families.concurrency.copied_graphs import Copied
from saverproof.families.concurrency.graph_calls import GraphCalls
from saverproof.families.concurrency.graph_differences import (
    RESUMED,
    PlayDifference,
    difference_at_rest,
)
from saverproof.families.concurrency.graph_upkeep import THREAD, RunningPlayer
from saverproof.families.graph.runner import RESULT, Observation, error_of
from saverproof.families.graph.scenarios import GraphScenario
from saverproof.families.graph.steps import Invoke, Program

Copies = dict[int, tuple[str, Copied]]
"""What begins the name of each copy, by the step beside which it was made."""


@dataclass(frozen=True, slots=True)
class ResumedCopies:
    """Goes on with copies of the thread of a scenario, which showed this ``alone``.

    ``player`` plays on threads with such a name, and ``calls`` has what it stores.
    """

    one: GraphScenario
    alone: Sequence[Observation]
    player: Callable[[str], RunningPlayer]
    calls: GraphCalls

    def difference(self, copies: Copies) -> PlayDifference | None:
        """Return what differs first with a copy."""
        middle = {
            # The last of each kind of step: every other one is a copy of the same kind.
            type(self.one.program[position]): (position, *copy)
            for position, copy in copies.items()
            if copy[1].first_left is None
        }
        resumed = (self._resumed(*each) for each in middle.values())
        return next(filter(None, resumed), None) or self._gone_on(copies)

    def _gone_on(self, copies: Copies) -> PlayDifference | None:
        """Return what differs with the last copy of before or after a step that has one left: every
        other one is a copy of the same kind.
        """
        for position, (prefix, copied) in reversed(copies.items()):
            left = copied.first_left
            if left is None or position + left >= len(self.one.program):
                continue
            first = position + left
            wanted = [each for each in self.alone if each.position >= first]
            return difference_at_rest(wanted, self._seen(prefix, self.one.program[first:], first))
        return None

    def _resumed(self, position: int, prefix: str, copied: Copied) -> PlayDifference | None:
        """Return what differs with a copy of the middle of a step if it is resumed there, from a
        thread that shows the same, but was never copied.
        """
        program = (Invoke(None), *self.one.program[position + 1 :])
        wanted = self._by_hand(prefix, copied, program, position)
        if wanted is None:
            return None
        found = difference_at_rest(wanted, self._seen(prefix, program, position))
        if found is None:
            return None
        again = self._by_hand(prefix, copied, program, position, copy=True)
        at_rest = again is None or difference_at_rest(wanted, again) is not None
        return replace(found, of=RESUMED, copied=position, at_rest=at_rest)

    def _by_hand(
        self, prefix: str, copied: Copied, program: Program, first: int, *, copy: bool = False
    ) -> list[Observation] | None:
        """Return what is seen with a thread that shows what the copy does, stored call by call, or
        with a copy of that which is made when all is quiet. None where it cannot be stored so.
        """
        own = f"{prefix}by-hand-{'source' if copy else 'alone'}-"
        player = self.player(own)
        try:
            if not copies_by_hand.store(player.api, player.saver, copied, own + THREAD):
                return None
            if copy:
                source, own = own, f"{prefix}by-hand-copy-"
                player.api.call(player.saver, "copy_thread", source + THREAD, own + THREAD)
        except Exception:  # noqa: BLE001 - a saver may raise anything
            return None
        return self._seen(own, program, first)

    def _seen(self, prefix: str, program: Program, first: int) -> list[Observation]:
        """Return what is seen of a program, whose first step is the one of this number."""
        seen = []
        for each in self.player(prefix).play(program):
            value = each.value
            if each.kind == RESULT and (refused := self.calls.refused(prefix + THREAD)):
                # Its graph need not have been told.
                value = error_of(refused)
            seen.append(replace(each, position=first + each.position, value=value))
        return seen
