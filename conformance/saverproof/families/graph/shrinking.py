"""Makes a play that shows a difference shorter."""

from __future__ import annotations

from saverproof.families.graph.comparing import Difference
from saverproof.families.graph.stage import Play, Stage


def shrunk(stage: Stage, play: Play, difference: Difference) -> tuple[Play, Difference, bool]:
    """The shortest play found that still breaks the contract, where, and whether it did so again.

    Each step that can be spared is left out. What is not seen again alone on a new store is handed
    back as it was.
    """
    contract = difference.contract
    program = play.scenario.program[: difference.position + 1]
    again = stage.alone(play.of(program)).differences.get(contract)
    if again is None:
        return play.of(program), difference, False
    found, shown = play.of(program), again
    position = 0
    while position < len(found.scenario.program) - 1:
        program = found.scenario.program
        shorter = found.of(program[:position] + program[position + 1 :])
        difference_now = stage.alone(shorter).differences.get(contract)
        if difference_now is None:
            position += 1
        else:
            shown = difference_now
            found = shorter.of(shorter.scenario.program[: shown.position + 1])
    return found, shown, True
