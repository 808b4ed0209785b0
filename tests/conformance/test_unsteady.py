"""A flaw that chance decides on is shown by a program that shows it, though no shorter one does."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.wrong_savers.registry import opener

from saverproof.contracts.tables import channels, ordering
from saverproof.families.machines.explaining.search import ProgramSearch
from saverproof.families.machines.explaining.trials import ProgramRun, Trials
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.programs.steps.definitions import ListTuples, Program, Put
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.target import Target

CONTRACT = ordering.LIST_NEWEST_FIRST.id
STEADY = 4
"""Programs of so many steps show the flaw each time; of the shorter ones, each shows it once."""
PROGRAM: Program = (
    *(Put("a", "", number, number - 1 or None) for number in range(1, STEADY + 1)),
    ListTuples("a"),
)


class OldestFirst(ReferenceSaver):
    def list(self, *given: Any, **named: Any) -> Any:
        return iter([*super().list(*given, **named)][::-1])


@dataclass(slots=True)
class Unlucky(Trials):
    """Runs of which a short one shows nothing if another one of its length did."""

    shown: set[int] = field(default_factory=set)
    """The lengths of the programs that showed it."""

    def replay(self, *given: Any, **named: Any) -> ProgramRun:
        run = Trials.replay(self, *given, **named)
        length = len(run.program)
        if length < STEADY and length in self.shown:
            return ProgramRun(run.program, ())
        self.shown |= {length} if run.breaches else set()
        return run


def found_in(wanted: str, folder: Path) -> ProgramSearch:
    with EventLoop() as loop:
        target = Target(name="wrong", open=opener(OldestFirst))
        search = ProgramSearch(Unlucky(target, folder, loop, ("sync",)), frozenset({wanted}))
        search.follow_up(search.trials.replay(PROGRAM))
    return search


def test_a_program_that_shows_it_is_shown_as_it_is(tmp_path: Path) -> None:
    violation = found_in(CONTRACT, tmp_path).found[CONTRACT]
    assert len(violation.program) >= STEADY
    assert not violation.shortened


def test_what_is_not_asked_for_is_not_found_either(tmp_path: Path) -> None:
    assert not found_in(channels.VERSIONS_INCREASE.id, tmp_path).found
