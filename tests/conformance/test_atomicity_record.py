"""What the trials of a sweep add up to."""

from types import SimpleNamespace
from typing import Any

from tests.conformance.judging_support import EVERY_OPERATION, facts_from

from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.judging import FaultVerdict
from saverproof.families.atomicity.observation import OperationEnding, TrialObservation
from saverproof.families.atomicity.record import FaultRecord
from saverproof.families.tally import Tally
from saverproof.items import ItemPlan
from saverproof_faults import Event, Fault, Place
from saverproof_faults import Plan as FaultPlan

PLAN = ItemPlan({}, facts_from(EVERY_OPERATION), "atomicity", "async", "quick", 0, "")


def test_a_statement_that_cannot_be_failed_costs_its_place_and_no_contract() -> None:
    pragma, insert = (
        Injection(FaultPlan(Fault.INTERRUPT, Place(Event.ENGINE_STATEMENT, at))) for at in (1, 2)
    )
    sweep: Any = SimpleNamespace(scenario=SimpleNamespace(operation="setup"))
    raised = TrialObservation(fired=True, ending=OperationEnding.RAISED)
    some = FaultRecord(Tally(PLAN))
    some.tried(sweep, pragma, TrialObservation(), FaultVerdict("not-fired"), "sync")
    some.tried(sweep, insert, raised, FaultVerdict("clean"), "sync")
    some.settle()
    assert some.tally.unknown == {}
    assert "before" in some.tally.notes[0]
    assert "never fired" in some.tally.notes[0]
    none = FaultRecord(Tally(PLAN))
    none.tried(sweep, pragma, TrialObservation(), FaultVerdict("not-fired"), "sync")
    none.settle()
    assert "atomicity/usable-after" in none.tally.unknown


def test_an_await_that_does_not_always_suspend_is_noted_and_no_more() -> None:
    injection = Injection(FaultPlan(Fault.CANCEL, Place(Event.AWAIT, 2)))
    sweep: Any = SimpleNamespace(scenario=SimpleNamespace(operation="put"))
    never = FaultRecord(Tally(PLAN))
    never.tried(sweep, injection, TrialObservation(), FaultVerdict("not-fired"), "async")
    never.settle()
    assert "atomicity/cancelled" in never.tally.unknown
    often = FaultRecord(Tally(PLAN))
    often.tried(sweep, injection, TrialObservation(fired=True), FaultVerdict("clean"), "async")
    often.tried(sweep, injection, TrialObservation(), FaultVerdict("not-fired"), "async")
    often.settle()
    assert often.tally.unknown == {}
    assert "never fired" in often.tally.notes[0]
