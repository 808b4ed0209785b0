"""Lets graphs go on with the copies of another graph's thread, after that graph has ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from saverproof.families.concurrency.graphs import copies_by_hand
from saverproof.families.concurrency.graphs.copied_graphs import Copied
from saverproof.families.concurrency.graphs.graph_calls import GraphCalls
from saverproof.families.concurrency.graphs.graph_differences import (
    RESUMED,
    PlayDifference,
    difference_at_rest,
)
from saverproof.families.concurrency.graphs.graph_upkeep import THREAD, RunningPlayer
from saverproof.families.graph.runner import RESULT, Observation, error_of
from saverproof.families.graph.scenarios import GraphScenario
from saverproof.families.graph.steps import Invoke, Program

Copies = dict[int, tuple[str, Copied]]
"""Each copy with the prefix of its thread's name, by the step beside which it was made."""


@dataclass(frozen=True, slots=True)
class ResumedCopies:
    """Lets graphs go on with copies of the thread of a scenario. ``alone`` is what the scenario
    showed without a copy.

    ``player`` makes a player for threads whose names begin with a prefix, and ``calls`` records
    what the player stores.
    """

    one: GraphScenario
    alone: Sequence[Observation]
    player: Callable[[str], RunningPlayer]
    calls: GraphCalls

    def difference(self, copies: Copies) -> PlayDifference | None:
        """Return the first difference that a graph shows when it goes on with one of the copies."""
        middle = {
            # The last of each kind of step: every other one is a copy of the same kind.
            type(self.one.program[position]): (position, *copy)
            for position, copy in copies.items()
            if copy[1].first_left is None
        }
        resumed = (self._resumed(*each) for each in middle.values())
        return next(filter(None, resumed), None) or self._gone_on(copies)

    def _gone_on(self, copies: Copies) -> PlayDifference | None:
        """Run the rest of the program on a copy that was made between two steps; return the first
        difference. Only the latest copy that has steps left is tried.
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
        """Resume a copy that was made in the middle of a step. Return what differs from a thread
        with the same content that was not made by a copy.
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
        """Store what the copy shows by puts and writes, and return what a graph then shows there.

        With ``copy``, the graph runs on a copy of that thread, made when nothing else runs. Return
        None if the saver cannot store it so.
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
        """Play a program and return what is seen. ``first`` is the number of its first step."""
        seen = []
        for each in self.player(prefix).play(program):
            value = each.value
            if each.kind == RESULT and (refused := self.calls.refused(prefix + THREAD)):
                # Its graph need not have been told.
                value = error_of(refused)
            seen.append(replace(each, position=first + each.position, value=value))
        return seen
