"""Scripts of savers that are used after some of their reads were cancelled."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.reproducer_support import of_the_right_saver, target_of
from tests.conformance.script_runs import ended

from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.programs.random_violation import ProgramViolation
from saverproof.families.atomicity.scripts import cancelled_read_scripts, scripting
from saverproof.families.atomicity.verdicts import CANCELLED, broken
from saverproof.programs.small import THREAD
from saverproof.programs.steps.definitions import (
    DeleteThread,
    DeltaHistory,
    GetTuple,
    ListTuples,
    Step,
)
from saverproof.savers.targets.calling import BETWEEN_ITEMS
from saverproof.scripts.script import LONGEST
from saverproof_faults import Event, Fault, Moment, Place, Plan

GET, LIST = GetTuple(THREAD), ListTuples(THREAD)
HISTORY = DeltaHistory(THREAD, "", None, ())


def at(wait: int, moment: Moment = Moment.BEFORE, about: str = "") -> Injection:
    return Injection(Plan(Fault.CANCEL, Place(Event.AWAIT, wait, moment), about=about))


BETWEEN = at(3, about=BETWEEN_ITEMS)


def violation(*cancelled: tuple[Step, Injection]) -> ProgramViolation:
    faults = {position: injection for position, (_, injection) in enumerate(cancelled)}
    program = tuple(step for step, _ in cancelled)
    return ProgramViolation(program, faults, broken(CANCELLED, "stuck"), "", ("checkpoints.db",))


FIVE = [(GET, at(1)), *[(LIST, at(2, Moment.AFTER))] * 4]


@pytest.mark.parametrize(
    ("saver", "cancelled"),
    [
        ("cancelled-consumers-run-out", [(LIST, BETWEEN)] * 5),
        ("listings-wait-when-closed", [(LIST, BETWEEN)]),
        ("cancelled-reads-run-out", FIVE),
        ("cancelled-histories-run-out", [(HISTORY, at(1))] * 5),
        ("answers-come-late", [(GET, at(1))]),
    ],
)
def test_what_cancelled_reads_leave_has_a_script(
    saver: str,
    cancelled: list[tuple[Step, Injection]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scripting, "_ANSWERS_WITHIN_S", 2)
    script = cancelled_read_scripts.reproducer(target_of(saver), violation(*cancelled), "async")
    assert script.count("\n") <= LONGEST
    check(script, tmp_path)


def test_a_longer_script_cancels_each_read_at_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cancelled_read_scripts, "first_to_complain", lambda texts, _: texts[1])
    target = target_of("cancelled-reads-run-out")
    check(cancelled_read_scripts.reproducer(target, violation(*FIVE), "async"), tmp_path)


def check(script: str, folder: Path) -> None:
    """A script complains of the wrong saver, and not of the right one."""
    status, said = ended(script, folder)
    assert (status, said.startswith(CANCELLED)) == (1, True)
    assert ended(of_the_right_saver(script), folder) == (0, "")


@pytest.mark.parametrize(
    "step",
    [(DeleteThread(THREAD), at(1)), (LIST, Injection(Plan(Fault.RAISE, Place(Event.STATEMENT))))],
)
def test_what_is_no_cancelled_read_is_left_to_other_scripts(step: tuple[Step, Injection]) -> None:
    target = target_of("cancelled-consumers-run-out")
    assert not cancelled_read_scripts.reproducer(target, violation(step), "async")
