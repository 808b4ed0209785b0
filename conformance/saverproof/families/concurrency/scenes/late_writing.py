"""Judges a worker that goes on with its run after the thread was deleted. Each of its puts must be
refused, or stored whole.
"""

from __future__ import annotations

from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.records import (
    FIRST_OF_ROUNDS,
    Operation,
    OperationKind,
    Phase,
)
from saverproof.families.concurrency.callers.schedules import Schedule
from saverproof.families.concurrency.callers.workload import UPKEEP
from saverproof.families.concurrency.contract_ids import LATE
from saverproof.families.concurrency.histories.history_playing import (
    CallPlan,
    Sharing,
    ended,
    gathered,
)
from saverproof.families.concurrency.record import Problem, SceneRecord
from saverproof.families.concurrency.scenes import late

SCENE = "late writer"
_PLACE = FIRST_OF_ROUNDS
_BEFORE = (
    Operation(OperationKind.PUT, _PLACE, 1, tag=1),
    Operation(OperationKind.PUT, _PLACE, 2, tag=1_000, parent=1, carries=True),
)
_LATE = (
    Operation(OperationKind.DELETE, _PLACE),
    Operation(OperationKind.PUT, _PLACE, 3, tag=1_001, parent=2, carries=True),
    Operation(OperationKind.WRITES, _PLACE, 3, tag=1_002, task=100, count=2),
)
_AFTER = (Operation(OperationKind.LATEST, _PLACE),)


def write_late(bench: CallerBench, record: SceneRecord) -> None:
    """Play the scene once."""
    calls = CallPlan(Sharing.SHARED, UPKEEP, Schedule(""), _BEFORE, (_LATE,), _AFTER)
    with bench.store() as store:
        result = bench.played(late.write, store | calls.arguments())
    played = gathered(calls, [result])
    record.scenes["a writer that comes late"] += 1
    why = played.trouble or played.slow or played.hung or played.died
    if why or ended(played):
        record.tally.unknown[LATE] = why[:1_000]
        return
    before = [event for event in played.events if event.phase is Phase.BEFORE]
    deleted, put, _ = [event for event in played.events if event.phase is Phase.DURING]
    latest = next(event for event in played.events if event.phase is Phase.AFTER)
    if not deleted.returned or any(event.error for event in before):
        record.tally.unknown[LATE] = "one caller alone could not put checkpoints, and delete them"
        return
    record.tally.operations += len(played.events)
    record.tally.agreed(LATE, 1)
    shown = latest.shown[0] if latest.shown else None
    if not put.returned:
        record.tally.note(f"a put of a run whose thread was deleted is refused: {put.error}"[:300])
        return
    if shown is not None and shown.parts == put.operation.parts and shown.number == 3:
        return
    said = latest.error or ("nothing" if shown is None else shown.describe())
    problem = Problem(
        LATE,
        "a run that goes on after its thread was deleted brings it back with a part of its state",
        f"an error, or all that was put: {' '.join(sorted(set(put.operation.parts)))}",
        f"the latest is {said}",
        played.events,
    )
    record.saw([problem], {"scene": SCENE})
