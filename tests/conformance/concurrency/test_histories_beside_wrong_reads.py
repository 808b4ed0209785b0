"""A delta history that is right is not blamed for a wrong `get_tuple`, to whose walk it is held."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.wrong_savers.registry import opener

from saverproof.families.machines.explaining.trials import Trials
from saverproof.mistakes.delta_history import WALK, HistoryNewestFirst, HistoryOneWritePerTask
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.write_order import GotWritesBackwards, WritesBackwards
from saverproof.programs.steps.definitions import DeltaHistory, Program, Put, PutWrites
from saverproof.programs.values import Value
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.target import Target

SORTED = "ordering/writes-sorted"
WRITTEN: Program = (
    Put("a", "", 1, changes=(("log", Value("integer", 0)),)),
    PutWrites("a", "", 1, 1, (("log", Value("integer", 1)), ("log", Value("integer", 2)))),
    Put("a", "", 2, 1, changes=(("log", None),)),
)


def broken(saver: type[ReferenceSaver], program: Program, folder: Path) -> set[str]:
    """The contracts that a program shows to be broken by a saver."""
    target = Target(name="wrong", open=opener(saver))
    with EventLoop() as loop:
        run = Trials(target, folder, loop, ("sync",)).replay(program, thorough=True)
    return {breach.contract for breach in run.breaches}


@pytest.mark.parametrize("number", [2, None])
@pytest.mark.parametrize("saver", [GotWritesBackwards, WritesBackwards])
def test_the_reads_alone_are_blamed(
    saver: type[ReferenceSaver], number: int | None, tmp_path: Path
) -> None:
    told = broken(saver, (*WRITTEN, DeltaHistory("a", "", number, ("log",))), tmp_path)
    assert SORTED in told
    assert WALK not in told


@pytest.mark.parametrize("wrong", [HistoryOneWritePerTask, HistoryNewestFirst])
def test_a_history_that_is_wrong_as_well_is_told_too(
    wrong: type[ReferenceSaver], tmp_path: Path
) -> None:
    both = type("Both", (wrong, GotWritesBackwards), {})
    later = (PutWrites("a", "", 2, 1, (("log", Value("integer", 3)),)), Put("a", "", 3, 2))
    asked = DeltaHistory("a", "", 3, ("log",))
    assert broken(both, (*WRITTEN, *later, asked), tmp_path) >= {SORTED, WALK}
