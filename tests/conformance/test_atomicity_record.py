"""What the trials of a sweep add up to."""

from types import SimpleNamespace
from typing import Any

from saverproof.families.atomicity.fault_plans import Attack
from saverproof.families.atomicity.judging import Verdict
from saverproof.families.atomicity.observation import Sight
from saverproof.families.atomicity.record import Record
from saverproof_faults import Event, Fault, Place, Plan


def test_an_await_that_does_not_always_suspend_is_noted_and_no_more() -> None:
    attack = Attack(Plan(Fault.CANCEL, Place(Event.AWAIT, 2)))
    sweep: Any = SimpleNamespace(scenario=SimpleNamespace(operation="put"))
    never = Record()
    never.tried(sweep, attack, Sight(), Verdict("not-fired"), "async")
    never.settle()
    assert "atomicity/cancelled" in never.unknown
    often = Record()
    often.tried(sweep, attack, Sight(fired=True), Verdict("clean"), "async")
    often.tried(sweep, attack, Sight(), Verdict("not-fired"), "async")
    often.settle()
    assert often.unknown == {}
    assert "never fired" in often.notes[0]
