"""What a call of a random program shows, judged beside what should be seen."""

from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.conformance.atomicity.test_atomicity_record import PLAN

from saverproof.contracts.tables.atomicity import TABLE
from saverproof.families.atomicity import fault_programs
from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.fault_programs import FaultPrograms
from saverproof.families.atomicity.programs.random_calls import failed
from saverproof.families.atomicity.programs.random_judging import (
    Expected,
    judged_under_fault,
    judged_without_fault,
    torn_by,
    unusable_after,
)
from saverproof.families.atomicity.programs.random_programs import FAULTS, KILL
from saverproof.families.atomicity.sweeps.record import FaultRecord
from saverproof.families.atomicity.sweeps.sweep import FaultSweep, sort_of
from saverproof.families.atomicity.trials.counting import kinds_of
from saverproof.families.atomicity.trials.observation import OperationEnding, TrialObservation
from saverproof.families.atomicity.verdicts import IN_FLIGHT
from saverproof.families.tally import Tally
from saverproof.savers.execution.view import Snapshot
from saverproof_faults import Event, Fault, Place, Plan

EARLIER, BEFORE, AFTER, OTHER = (
    Snapshot(among_all=frozenset({("a", "", str(number))})) for number in range(4)
)
EXPECTED = Expected(BEFORE, AFTER, (EARLIER,))
RETURNED = TrialObservation(fired=True)
RAISED = TrialObservation(fired=True, ending=OperationEnding.RAISED)


@pytest.mark.parametrize(
    ("ended", "seen", "contract"),
    [
        (RETURNED, AFTER, None),
        (RETURNED, BEFORE, "atomicity/no-silent-loss"),
        (RAISED, BEFORE, None),
        (RAISED, AFTER, None),
        (RAISED, OTHER, "atomicity/all-or-nothing"),
        (RAISED, EARLIER, "atomicity/no-silent-loss"),
    ],
)
def test_a_call_that_meets_its_fault(
    ended: TrialObservation, seen: Snapshot, contract: str | None
) -> None:
    verdict = judged_under_fault(ended, None, EXPECTED, seen, locked=False)
    assert (verdict and verdict.contract) == contract


@pytest.mark.parametrize(
    ("ended", "seen", "contract"),
    [
        (RETURNED, AFTER, None),
        (RETURNED, BEFORE, "atomicity/no-silent-loss"),
        (RETURNED, EARLIER, "atomicity/no-silent-loss"),
        (RETURNED, OTHER, "atomicity/no-late-commit"),
        (RAISED, BEFORE, "atomicity/usable-after"),
    ],
)
def test_a_call_that_meets_no_fault(
    ended: TrialObservation, seen: Snapshot, contract: str | None
) -> None:
    verdict = judged_without_fault(ended, EXPECTED, seen)
    assert (verdict and verdict.contract) == contract


EVERY_SORT = SimpleNamespace(
    passed={*FAULTS} - {"cancel", "connection", "kill", "kill-inside"},
    api="async",
    losing=["a driver"],
    target=SimpleNamespace(durable=True),
)
OWN = {contract.id for contract in TABLE.contracts}


def test_the_faults_of_random_programs_break_contracts_of_their_own_family() -> None:
    # A kill inside a call would break one of durability: those are the faults of machines alone.
    sorts = kinds_of(cast("Any", EVERY_SORT))
    drawn = [make(Random(seed)) for sort in sorts for make in FAULTS[sort] for seed in range(9)]
    torn = {torn_by(fault) for fault in drawn if fault != KILL}
    assert torn | {unusable_after(fault) for fault in drawn} <= OWN
    assert KILL in drawn


def test_a_kill_before_a_call_is_no_fault_of_the_call() -> None:
    made: list[str] = []
    bench = SimpleNamespace(
        loop=SimpleNamespace(run=lambda awaited: awaited),
        injector=SimpleNamespace(drain=lambda: None),
    )
    nothing: Any = None
    seen = failed(cast("Any", bench), lambda: made.append("call"), nothing, KILL)
    assert made == ["call"]
    # So that what it leaves is judged as that of a call without a fault.
    assert not seen.fired


@pytest.mark.parametrize(
    ("broken_one", "list_of"), [(IN_FLIGHT, "handed"), ("atomicity/all-or-nothing", "findings")]
)
def test_what_breaks_a_contract_of_another_family_is_handed_over(
    broken_one: str, list_of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tally = Tally(PLAN)
    told = [broken_one]
    monkeypatch.setattr(fault_programs, "finding_of_random", lambda plan, target, shown: shown)
    nothing: Any = None
    found: Any = {broken_one: broken_one}
    record = FaultRecord(tally)
    programs = FaultPrograms(PLAN, nothing, record, nothing, nothing, found)
    programs.report()
    assert getattr(tally, list_of) == told
    assert tally.findings + tally.handed == told


def test_each_operation_is_cancelled_at_each_of_its_first_awaits() -> None:
    sweeps = [
        cast(FaultSweep, SimpleNamespace(scenario=SimpleNamespace(operation=operation)))
        for operation in ("put", "put_writes")
    ]
    plans = [Plan(Fault.CANCEL, Place(Event.AWAIT, index)) for index in (1, 2, 3, 4, 5)]
    sorts = {sort_of((sweep, Injection(plan))) for sweep in sweeps for plan in plans}
    assert len(sorts) == 6
