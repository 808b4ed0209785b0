"""Goes on with the copies of a graph's thread, when nobody is beside it any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from saverproof.families.concurrency.copied_graphs import Copied
from saverproof.families.concurrency.graph_calls import GraphCalls
from saverproof.families.concurrency.graph_differences import Difference, difference_at_rest
from saverproof.families.concurrency.graph_upkeep import THREAD, RunningPlayer
from saverproof.families.graph.runner import RESULT, Observation, error_of
from saverproof.families.graph.scenarios import GraphScenario
from saverproof.families.graph.steps import Program

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

    def difference(self, copies: Copies) -> Difference | None:
        """What differs with the last copy of before or after a step that has one left: every other
        one is a copy of the same kind.
        """
        for position, (prefix, copied) in reversed(copies.items()):
            left = copied.first_left
            if left is None or position + left >= len(self.one.program):
                continue
            first = position + left
            wanted = [each for each in self.alone if each.position >= first]
            program = self.one.program[first:]
            return difference_at_rest(wanted, list(self._seen(prefix, program, first)))
        return None

    def _seen(self, prefix: str, program: Program, first: int) -> Iterator[Observation]:
        """What is seen of a program, whose first step is the one of this number."""
        for each in self.player(prefix).play(program):
            value = each.value
            if each.kind == RESULT and (refused := self.calls.refused(prefix + THREAD)):
                # Its graph need not have been told.
                value = error_of(refused)
            yield replace(each, position=first + each.position, value=value)
