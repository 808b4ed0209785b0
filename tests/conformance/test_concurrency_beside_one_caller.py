"""What one caller alone is shown as well is no matter of concurrency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.concurrency_support import blamed, judged
from tests.conformance.test_concurrency_selftest import FOR
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers import opener
from tests.wrong_savers.concurrency import NoLock, WritesReadAndWrittenBack

from saverproof import target
from saverproof.families.concurrency import reporting
from saverproof.families.concurrency.contract_ids import (
    ORDER,
    PROCESSES,
    THREADS,
    TORN,
)
from saverproof.families.concurrency.effort import SceneEffort

NOTHING_MORE = SceneEffort(shared=12, instances=1, processes=1, races=0)
"""For savers that many callers show no more of than one does: every history is played."""


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(
    ("name", "found", "behind"),
    [
        ("forgetful", set(), "pending-writes/complete"),
        ("torn", {THREADS}, "pending-writes/complete"),
        ("repeating", set(), "identity/list-selects"),
        ("repeating_and_losing", {THREADS}, "identity/list-selects"),
        ("cut_short", set(), "upsert/regular-write-first-wins"),
    ],
)
def test_a_saver_that_is_wrong_with_one_caller_too_is_judged_by_what_is_wrong_with_many(
    name: str, found: set[str], behind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporting, "reproducer", lambda *arguments: "")
    where = f"tests.conformance.test_concurrency_beside_one_caller:{name}"
    effort = FOR["threads-lose-nothing"] if found else NOTHING_MORE
    outcome = judged(where, tmp_path, "sync", monkeypatch, effort)
    # What many callers show may also be, by chance, what follows from lost work.
    assert found <= blamed(outcome) <= found | ({TORN, ORDER, PROCESSES} if found else set())
    assert {one.contract for one in outcome.handed} == {behind}
    hidden = [why for why in outcome.unexercised.values() if "one caller alone" in why]
    assert hidden or found
    assert all(f"{behind} stands in the way" in why for why in hidden)
    assert outcome.unsettled == {}


class LastWriteForgotten(SqliteReference):
    def _rows_of_batch(self, writes: Any, task_id: str, path: str) -> Any:
        return super()._rows_of_batch(writes, task_id, path)[: max(len(writes) - 1, 1)]


class LastWriteForgottenAndNoLock(LastWriteForgotten, NoLock):
    pass


class Repeating(SqliteReference):
    """Lists a checkpoint once for each task that has written to it: a JOIN without DISTINCT."""

    def list(self, config: Any, **options: Any) -> Iterator[Any]:
        for found in super().list(config, **options):
            tasks = {task for task, _, _ in found.pending_writes}
            for _ in range(max(len(tasks), 1)):
                yield found


class RepeatingAndLosing(Repeating, WritesReadAndWrittenBack):
    pass


class BatchesSentAgainAreCutShort(SqliteReference):
    """Loses the last write of a task that writes again: callers do so, the rehearsal does not."""

    def _insert_writes(self, place: tuple[str, str, str], rows: Sequence[Any]) -> None:
        mine = "FROM writes WHERE thread = ? AND ns = ? AND id = ? AND task = ?"
        tasks = {row.task_id for row in rows}
        again = [t for t in tasks if self.database.rows(f"SELECT 1 {mine}", *place, t)]
        super()._insert_writes(place, rows)
        for task in again:
            last = f"(SELECT MAX(position) {mine})"
            self.database.run(f"DELETE {mine} AND position = {last}", *place, task, *place, task)


forgetful = target(name="forgetful")(opener(LastWriteForgotten))
repeating = target(name="repeating")(opener(Repeating))
repeating_and_losing = target(name="repeating-and-losing")(opener(RepeatingAndLosing))
cut_short = target(name="cut-short")(opener(BatchesSentAgainAreCutShort))
torn = target(name="torn")(opener(LastWriteForgottenAndNoLock))
