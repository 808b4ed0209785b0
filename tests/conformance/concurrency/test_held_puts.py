"""A put is held at its places while its thread is deleted."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.concurrency.concurrency_support import BUNDLED, blamed, facts_of, judged, the
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.registry import opener
from tests.wrong_savers.upkeep import LocksInTwoOrders, PruneTakesLocksInAnotherOrder

from saverproof import target
from saverproof.families.answer import Status
from saverproof.families.concurrency.contract_ids import LATE, THREADS
from saverproof.families.concurrency.effort import SceneEffort
from saverproof.families.concurrency.replaying import replay
from saverproof.families.items import ItemPlan
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.reference import TargetRef

HELD = SceneEffort(shared=0, instances=0, processes=0, races=0, reads=12)


class DeletesInAnotherOrder(PruneTakesLocksInAnotherOrder):
    """Takes two locks for a put in one order, and for a deletion in the other."""

    def delete_thread(self, thread_id: str) -> None:
        assert isinstance(self.database, LocksInTwoOrders)
        with self.database.index, self._slowly(), self.database.lock:
            SqliteReference.delete_thread(self, thread_id)


deletes_in_another_order = target(name="in-another-order")(opener(DeletesInAnotherOrder))


@pytest.mark.usefixtures("shared_harness")
def test_a_put_and_a_deletion_that_wait_for_each_other_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = f"{__name__}:deletes_in_another_order"
    outcome = judged(where, tmp_path, "sync", monkeypatch, HELD)
    assert blamed(outcome) == {THREADS}
    found = the(outcome, "threads-lose-nothing")
    assert found.summary == "put of a checkpoint that is deleted meanwhile is never answered"
    ref = TargetRef(where, __name__, None, "deletes_in_another_order")
    saver = load(ref)
    plan = ItemPlan(
        ref.to_json(), facts_of(saver), "concurrency", "sync", "quick", 0, str(tmp_path)
    )
    assert replay(plan, saver, THREADS, found.program).status is Status.FAILING


@pytest.mark.usefixtures("shared_harness")
def test_what_could_not_be_held_is_no_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = "saverproof.families.concurrency.held.held_putting.played"
    monkeypatch.setattr(held, lambda *given: ({}, "the other process has ended"))
    outcome = judged(BUNDLED, tmp_path, "sync", monkeypatch, HELD, only=LATE)
    assert LATE not in outcome.checked
    assert "the other process has ended" in outcome.unknown[LATE]
