"""Plays a scene in which a worker is stopped between two calls, another worker finishes its thread,
and the first one goes on.

No promise says what must become of the late writes. The report only tells what the saver did with
them.
"""

from __future__ import annotations

from saverproof.families.concurrency.callers import child
from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.meeting import Meeting
from saverproof.families.concurrency.callers.records import Operation, OperationKind, Phase
from saverproof.families.concurrency.callers.schedules import Schedule
from saverproof.families.concurrency.callers.workload import PUTS, Able, prologue
from saverproof.families.concurrency.histories.history_playing import CallPlan, Sharing, gathered
from saverproof.families.concurrency.record import SceneRecord
from saverproof.families.concurrency.scenes import overtaken
from saverproof.programs.steps.codec import encode

PATIENCE_S = 60.0
"""Seconds without progress before the scene counts as hung. While a process is stopped, its watch
is stopped, too.
"""
_OTHERS, _LATE = 30, 40


def overtake(bench: CallerBench, able: Able, record: SceneRecord) -> None:
    """Play the scene once, and record which late writes the saver accepted."""
    late = (Operation(OperationKind.PUT, 0, _LATE, tag=1_000),)
    others = (
        Operation(OperationKind.LATEST, 0),
        Operation(OperationKind.PUT, 0, _OTHERS, tag=2_000),
        Operation(OperationKind.WRITES, 0, _OTHERS, 2_001, 101, 2),
    )
    after = (Operation(OperationKind.GET, 0, _OTHERS), Operation(OperationKind.LATEST, 0))
    before = prologue(PUTS, able)
    script = CallPlan(Sharing.PROCESSES, PUTS, Schedule(""), before, (late, others))
    meeting = bench.folder / "meeting-of-the-overtaken"
    Meeting.prepare(meeting, 2)
    with bench.store() as store:
        arguments = store | script.arguments()
        arguments |= {"meeting": str(meeting), "patience_s": PATIENCE_S, "after": encode(after)}
        both = bench.writers([(overtaken.stand_still, arguments), (overtaken.finish, arguments)])
        played = gathered(script, [*both, bench.looked(child.end, arguments)])
    meeting.unlink()
    record.scenes["a worker overtaken while it is stopped"] += 1
    if played.trouble or played.slow or played.hung or played.died:
        return
    events = played.events
    late_put = next(one for one in events if one.operation.number == _LATE)
    others_put, latest = [one for one in events if one.phase is Phase.AFTER]
    answer = "is not there"
    if late_put.error is not None:
        answer = f"is refused: {late_put.error}"
    elif latest.shown:
        newest = latest.shown[0].number == _LATE
        answer = "is stored, and is the latest" if newest else "is not the latest"
    if not others_put.shown:
        answer += "; what the other one put is gone"
    record.tally.note(
        "a worker is stopped, another one goes on with the thread and finishes it: what the first "
        f"then puts, as if nothing had happened, {answer}"
    )
