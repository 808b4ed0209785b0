"""What a saver has acknowledged between many faults is there once it was closed."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.test_atomicity import OPERATIONS, found, judged, of_class, plan_for
from tests.reference.sqlite import SqliteReference

from saverproof.families.answer import Status
from saverproof.families.atomicity import family
from saverproof.families.atomicity.effort import EFFORTS, FaultEffort
from saverproof.families.atomicity.replay import replay
from saverproof.families.atomicity.scenarios import A_NEW_TASK, THE_SAME_ID


class CountsFailures(SqliteReference):
    """Has its file opened anew when three writes have failed."""

    failed = 0

    def put(self, *given: Any) -> Any:
        return self.counted(lambda: SqliteReference.put(self, *given))

    def put_writes(self, *given: Any) -> Any:
        return self.counted(lambda: SqliteReference.put_writes(self, *given))

    def counted(self, write: Callable[[], Any]) -> Any:
        if self.failed == 3:
            self.failed = 0
            self.go_on()
        try:
            return write()
        except sqlite3.Error:
            self.failed += 1
            raise

    def go_on(self) -> None:
        self.database.connection.close()
        self.database.connection = self.database.connect()


class GoesOnInMemory(CountsFailures):
    """Goes on with a copy in memory instead, and shows all that it is given."""

    def go_on(self) -> None:
        memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self.database.connection.backup(memory)
        self.database.connection.close()
        self.database.connection = memory


@pytest.mark.parametrize(
    ("saver", "blamed"), [(CountsFailures, set()), (GoesOnInMemory, {"no-silent-loss"})]
)
def test_what_is_gone_with_the_saver_is_lost(
    saver: type[SqliteReference],
    blamed: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = FaultEffort(most=5, slow_most=5, meetings=0, reads=0)
    monkeypatch.setitem(EFFORTS, "quick", few)
    monkeypatch.setattr(family, "SCENARIOS", [THE_SAME_ID, A_NEW_TASK])
    outcome = judged(of_class(saver), tmp_path)
    assert (found(outcome), outcome.unknown) == (blamed, {})
    for finding in outcome.findings:
        assert sum(step.startswith("fault: ") for step in finding.steps) == 3
        plan = plan_for(tmp_path, "sync", OPERATIONS)
        for again, status in ((saver, Status.FAILING), (CountsFailures, Status.FIXED)):
            answer = replay(plan, of_class(again), finding.contract, finding.program)
            assert answer.status is status
