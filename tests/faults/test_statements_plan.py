"""Fault plans: data that goes through JSON, sentences, and refusals that name the field."""

import json

import pytest

from saverproof_faults import ArmedPlan, Event, Fault, Lasts, Moment, Place, Plan, PlanError, Side
from saverproof_faults.kinds import EVENTS, STANDING

PLANS = [
    Plan(fault, Place(event, 3), Lasts.ONWARDS if fault in STANDING else Lasts.ONCE)
    for fault, events in EVENTS.items()
    for event in events
]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: f"{plan.fault}-{plan.place.event}")
def test_every_plan_survives_json_and_has_a_sentence(plan: Plan) -> None:
    assert Plan.from_json(plan.to_json()) == plan
    assert plan.describe()
    assert "None" not in plan.describe()


def test_rows_errors_and_excerpts_survive_json() -> None:
    place = Place(Event.STATEMENT, 2, Moment.AFTER, row=7)
    plan = Plan(Fault.RAISE, place, Lasts.ONWARDS, "MemoryError", "INSERT INTO t")
    copied = Plan.from_json(plan.to_json())
    assert copied == plan
    assert copied.about == plan.about


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (
            Plan(Fault.RAISE, Place(Event.COMMIT)),
            "OperationalError raised by the driver before the 1st commit of the operation",
        ),
        (
            Plan(Fault.RAISE, Place(Event.STATEMENT, 2, Moment.AFTER, 11), error="MemoryError"),
            "MemoryError raised by the driver after row 11 of the 2nd statement of the operation",
        ),
        (
            Plan(Fault.INTERRUPT, Place(Event.ENGINE_STATEMENT, 3), Lasts.ONWARDS, about="COMMIT"),
            "the engine is interrupted before the 3rd statement that the engine runs (COMMIT), "
            "and from there on",
        ),
        (
            Plan(Fault.READ_ONLY, Place(Event.OPERATION), Lasts.ONWARDS),
            "the database is read-only throughout the operation",
        ),
    ],
)
def test_a_plan_says_what_fails_and_where(plan: Plan, sentence: str) -> None:
    assert plan.describe() == sentence


@pytest.mark.parametrize(
    ("fault", "side"),
    [
        (Fault.RAISE, Side.CLIENT),
        (Fault.TRIGGER_ABORT, Side.ENGINE),
        (Fault.IO_ERROR, Side.ENGINE),
        (Fault.CANCEL, Side.CANCELLATION),
        (Fault.KILL, Side.PROCESS),
    ],
)
def test_classes_of_faults_are_told_apart(fault: Fault, side: Side) -> None:
    lasts = Lasts.ONWARDS if fault in STANDING else Lasts.ONCE
    assert Plan(fault, Place(EVENTS[fault][0]), lasts).side is side


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"fault": "explode"}, "plan.fault"),
        ({"place": {"event": "statement", "index": 0}}, "place.index"),
        ({"place": {"event": "statement", "index": True}}, "plan.place.index"),
        ({"place": {"event": "statement", "row": 0}}, "place.row"),
        ({"place": {"event": "lunch"}}, "plan.place.event"),
        ({"place": {"event": "await"}}, "plan.place.event"),
        ({"place": {"event": "statement", "moment": "during"}}, "plan.place.moment"),
        ({"place": 3}, "plan.place"),
        ({"lasts": "long"}, "plan.lasts"),
        ({"error": 3}, "plan.error"),
        ({"colour": "red"}, "plan"),
    ],
)
def test_bad_data_is_refused_by_the_name_of_its_field(change: object, named: str) -> None:
    data = Plan(Fault.RAISE, Place(Event.STATEMENT)).as_data() | change  # type: ignore[operator]
    with pytest.raises(PlanError, match=rf"^{named}: found .*, expected ") as refusal:
        Plan.from_json(json.dumps(data))
    assert "\n" not in str(refusal.value)


def test_text_that_is_not_json_is_refused() -> None:
    with pytest.raises(PlanError, match="not JSON"):
        Plan.from_json("{")


def test_a_state_of_the_database_lasts() -> None:
    with pytest.raises(PlanError, match=r"plan\.lasts: found 'once', expected 'onwards'"):
        Plan(Fault.DISK_FULL, Place(Event.OPERATION))


def test_a_shot_that_never_fired_says_so() -> None:
    armed = ArmedPlan(Plan(Fault.RAISE, Place(Event.STATEMENT, 9)))
    with pytest.raises(Exception, match=r"never fired.*9th statement"):
        armed.require_fired()
    assert armed.fire()
    armed.require_fired()
    assert not armed.fire()
