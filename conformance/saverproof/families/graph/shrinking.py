"""Shortens a play that shows a difference."""

from __future__ import annotations

from dataclasses import dataclass

from saverproof.families.graph.bench import GraphBench, Play
from saverproof.families.graph.comparing import GraphDifference
from saverproof.families.graph.steps import Program
from saverproof.programs.rewriting.spans import without_spans


def shrunk(
    bench: GraphBench, play: Play, difference: GraphDifference
) -> tuple[Play, GraphDifference, bool]:
    """Return the shortest play found that still breaks the contract.

    It is returned with its difference, and with whether the difference was seen again. Each step
    that can be left out is left out. If a new saver that plays it alone does not show the
    difference, the play is returned unchanged.
    """
    program = play.scenario.program[: difference.position + 1]
    replays = _Replays(bench, play, difference.contract)
    if replays.tried(program) is None:
        return play.of(program), difference, False
    without_spans(replays.program, replays.tried, size=1)
    assert replays.shown is not None
    return play.of(replays.program), replays.shown, True


@dataclass(slots=True)
class _Replays:
    """Plays parts of a program; ``program`` is the last part that showed the difference."""

    bench: GraphBench
    play: Play
    contract: str
    program: Program = ()
    shown: GraphDifference | None = None

    def tried(self, program: Program) -> Program | None:
        """Return the program up to the step that shows the difference, or None if none shows it."""
        shown = self.bench.alone(self.play.of(program)).differences.get(self.contract)
        if shown is None:
            return None
        self.program, self.shown = program[: shown.position + 1], shown
        return self.program
