"""A copy that shows what is wrong with its source is not to blame for it."""

from __future__ import annotations

from pathlib import Path

from tests.wrong_savers.registry import opener

from saverproof import Target
from saverproof.families.machines.trials import ProgramRun, Trials
from saverproof.mistakes.pending_writes import NoneWritesHidden
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.what_is_removed import SpecialWritesNotCopied
from saverproof.programs.steps.definitions import CopyThread, DeleteThread, Put, PutWrites
from saverproof.programs.values import Value
from saverproof.savers.targets.event_loop import EventLoop

INTERRUPT = ("__interrupt__", Value("integer", 1))
NONE = ("notes", Value("none", 0))
PROGRAM = (
    Put("a", "", 1),
    PutWrites("a", "", 1, 1, (NONE, INTERRUPT)),
    CopyThread("a", "b"),
    CopyThread("b", "c"),
    DeleteThread("d"),
)


class Both(SpecialWritesNotCopied, NoneWritesHidden):
    """Hides a None, and its copies lose interrupts."""


def run_on(saver: type[ReferenceSaver], folder: Path) -> ProgramRun:
    """The program on a saver."""
    with EventLoop() as loop:
        target = Target(name=saver.__name__, open=opener(saver))
        return Trials(target, folder, loop, ("sync",)).replay(PROGRAM)


def test_copies_of_a_wrong_answer_are_blamed_on_what_made_it(tmp_path: Path) -> None:
    run = run_on(NoneWritesHidden, tmp_path)
    assert {breach.contract for breach in (*run.breaches, *run.masked)} == {
        "pending-writes/complete"
    }
    assert {breach.difference.address for breach in run.masked} >= {("b", "", 1), ("c", "", 1)}


def test_what_the_copy_loses_is_blamed_on_the_copy(tmp_path: Path) -> None:
    run = run_on(Both, tmp_path)
    assert {breach.contract for breach in run.breaches} == {
        "pending-writes/complete",
        "deletion/copy-complete",
    }
