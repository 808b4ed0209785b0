"""A saver that cannot read what it stores is not blamed on faults: it needs none to fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.conformance.test_atomicity import found, judged, of_class, plan_for
from tests.reference.sqlite import SqliteReference

from saverproof.families.answer import Status
from saverproof.families.atomicity.replay import replay
from saverproof.programs.small import THREAD, batch, checkpoint
from saverproof.programs.steps.codec import to_json

USABLE = "atomicity/usable-after"


class CannotReadPendingWrites(SqliteReference):
    def get_tuple(self, config: Any) -> Any:
        read = super().get_tuple(config)
        if read is not None and read.pending_writes:
            raise IndexError("list index out of range")
        return read


def test_what_cannot_be_read_without_faults_is_unknown_and_not_broken(tmp_path: Path) -> None:
    outcome = judged(of_class(CannotReadPendingWrites), tmp_path)
    assert not found(outcome)
    assert "without any fault, a read raises IndexError" in outcome.unknown[USABLE]


def test_such_a_program_replays_as_unclear(tmp_path: Path) -> None:
    program = (checkpoint(THREAD, 1), batch(THREAD, 1, 1, 1), checkpoint(THREAD, 2, 1))
    recorded = {"program": to_json(program), "faults": {}}
    plan = plan_for(tmp_path, "sync", ["put", "put_writes"])
    answer = replay(plan, of_class(CannotReadPendingWrites), USABLE, recorded)
    assert answer.status is Status.UNCLEAR
    assert "without any fault" in answer.said
