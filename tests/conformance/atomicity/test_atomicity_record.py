"""What the trials of a sweep add up to."""

from types import SimpleNamespace
from typing import Any

from tests.conformance.judging_support import EVERY_OPERATION, facts_from

from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.sweeps.record import FaultRecord
from saverproof.families.atomicity.trials.observation import OperationEnding, TrialObservation
from saverproof.families.atomicity.verdicts import FaultVerdict
from saverproof.families.items import ItemPlan
from saverproof.families.tally import Tally
from saverproof_faults import Event, Fault, Moment, Place
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


def test_the_map_is_in_the_order_of_the_places_whatever_was_tried_first() -> None:
    places = [
        Place(Event.COMMIT, 1),
        Place(Event.STATEMENT, 2),
        Place(Event.STATEMENT, 1, Moment.AFTER, 10),
        Place(Event.STATEMENT, 1, Moment.AFTER, 2),
        Place(Event.STATEMENT, 1, Moment.AFTER),
        Place(Event.STATEMENT, 1),
    ]
    sweep: Any = SimpleNamespace(scenario=SimpleNamespace(operation="put_writes"))
    record = FaultRecord(Tally(PLAN))
    for place in places:
        injection = Injection(FaultPlan(Fault.RAISE, place))
        raised = TrialObservation(fired=True, ending=OperationEnding.RAISED)
        record.tried(sweep, injection, raised, FaultVerdict("clean"), "sync")
    assert [entry["place"] for entry in record.as_data()["map"]] == [
        "before the 1st statement of the operation",
        "after row 2 of the 1st statement of the operation",
        "after row 10 of the 1st statement of the operation",
        "after the 1st statement of the operation",
        "before the 2nd statement of the operation",
        "before the 1st commit of the operation",
    ]


def test_what_nobody_could_look_at_is_not_held_by_the_trial() -> None:
    insert = Injection(FaultPlan(Fault.INTERRUPT, Place(Event.ENGINE_STATEMENT, 1)))
    sweep: Any = SimpleNamespace(
        scenario=SimpleNamespace(operation="put", start=()), counted=SimpleNamespace()
    )
    raised = TrialObservation(fired=True, ending=OperationEnding.RAISED)
    unseen = frozenset({"atomicity/all-or-nothing", "atomicity/no-late-commit"})
    verdict = FaultVerdict("stuck", "atomicity/usable-after", unseen=unseen)
    record = FaultRecord(Tally(PLAN))
    record.tried(sweep, insert, raised, verdict, "sync")
    outcome = record.tally.outcome()
    assert outcome.checked.keys() == {"atomicity/usable-after", "atomicity/previous-intact"}
    assert outcome.unexercised.keys() == unseen
    assert "atomicity/usable-after stands in the way" in outcome.unexercised[min(unseen)]
