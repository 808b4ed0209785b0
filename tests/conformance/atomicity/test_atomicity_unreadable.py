"""Savers that cannot read what they store: without any fault, and where a fault has damaged it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.conformance.atomicity.test_atomicity import FAMILY, found, judged, of_class, plan_for
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.reopening import NoJournal

from saverproof.families.answer import Status
from saverproof.families.atomicity.replay import replay
from saverproof.programs.small import THREAD, batch, checkpoint
from saverproof.programs.steps.codec import to_json

USABLE = "atomicity/usable-after"
MUSTS = {f"atomicity/{name}" for name in FAMILY}


class CannotReadPendingWrites(SqliteReference):
    """Raises for a checkpoint with as many pending writes as ``refused_from``, or more."""

    refused_from = 1

    def get_tuple(self, config: Any) -> Any:
        read = super().get_tuple(config)
        if read is not None and len(read.pending_writes or ()) >= self.refused_from:
            raise IndexError("list index out of range")
        return read


class CannotReadMany(CannotReadPendingWrites):
    """Reads all but what each batch that is failed has written."""

    refused_from = 6


@pytest.mark.parametrize("saver", [CannotReadPendingWrites, CannotReadMany])
def test_what_cannot_be_read_without_faults_is_unknown_and_not_broken(
    saver: type[SqliteReference], tmp_path: Path
) -> None:
    outcome = judged(of_class(saver), tmp_path)
    assert not found(outcome)
    assert {*outcome.unknown} >= MUSTS
    assert "a read raises IndexError" in outcome.unknown[USABLE]


def test_such_a_program_replays_as_unclear(tmp_path: Path) -> None:
    program = (checkpoint(THREAD, 1), batch(THREAD, 1, 1, 1), checkpoint(THREAD, 2, 1))
    recorded = {"program": to_json(program), "faults": {}}
    plan = plan_for(tmp_path, "sync", ["put", "put_writes"])
    answer = replay(plan, of_class(CannotReadPendingWrites), USABLE, recorded)
    assert answer.status is Status.UNCLEAR
    assert "without any fault" in answer.said


def test_a_store_that_a_fault_has_damaged_is_judged(tmp_path: Path) -> None:
    """A second connection cannot read it either, nor take its write lock."""
    outcome = judged(of_class(NoJournal), tmp_path)
    assert {"all-or-nothing", "usable-after"} <= {*found(outcome)}
    assert not {*outcome.unknown} & MUSTS
