"""What a saver has acknowledged between many faults is there once it was closed.

By day the right saver and what is compared; by night, wrong savers.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest
from tests.conformance.atomicity.test_atomicity import OPERATIONS, found, judged, of_class, plan_for
from tests.conformance.script_runs import ended
from tests.nights import by_night
from tests.reference.sqlite import SqliteReference

from saverproof.families.answer import Status
from saverproof.families.atomicity import family
from saverproof.families.atomicity.effort import EFFORTS, FaultEffort
from saverproof.families.atomicity.programs.random_judging import judged_once_closed
from saverproof.families.atomicity.replay import replay
from saverproof.families.atomicity.scenarios import A_NEW_TASK, THE_SAME_ID
from saverproof.families.atomicity.verdicts import LATE, SILENT
from saverproof.savers.execution.view import Snapshot


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


class LeavesItsMark(CountsFailures):
    """Marks its file as in use when it opens it anew, and never takes the mark away."""

    def go_on(self) -> None:
        super().go_on()
        self.database.path.with_name("in use").touch()

    @classmethod
    def at(cls, path: Path) -> Self:
        if (path / "in use").exists():
            raise RuntimeError("the file is in use")
        return super().at(path)


OPENING = """
from tests.conformance.atomicity.test_atomicity_reopened import {0}
from contextlib import closing
from pathlib import Path
closing({0}.at(Path(path)))
"""


@pytest.mark.parametrize(
    ("saver", "blamed"),
    [
        (CountsFailures, set()),
        by_night(GoesOnInMemory, {"no-silent-loss"}),
        by_night(LeavesItsMark, {"usable-after"}),
    ],
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
    outcome = judged(of_class(saver, opening=OPENING.format(saver.__name__)), tmp_path)
    assert (found(outcome), outcome.unknown) == (blamed, {})
    for finding in outcome.findings:
        assert sum(step.startswith("fault: ") for step in finding.steps) == 3
        right = finding.reproducer.replace(saver.__name__, CountsFailures.__name__)
        assert [ended(text, tmp_path)[0] for text in (finding.reproducer, right)] == [1, 0]
        plan = plan_for(tmp_path, "sync", OPERATIONS)
        for again, status in ((saver, Status.FAILING), (CountsFailures, Status.FIXED)):
            answer = replay(plan, of_class(again), finding.contract, finding.program)
            assert answer.status is status


KEY = ("a", "", "1")


def stored(*writes: str, value: int = 1) -> dict[str, object]:
    return {"checkpoint": value, "metadata": {}, "parent": None, "writes": [[w] for w in writes]}


@pytest.mark.parametrize(
    ("seen", "contract"),
    [
        ({KEY: stored("w")}, None),
        ({KEY: None}, SILENT),
        ({KEY: stored()}, SILENT),
        ({KEY: stored("w", value=2)}, SILENT),
        ({KEY: {"unreadable": "malformed"}}, SILENT),
        ({KEY: stored("v", "w")}, LATE),
        ({KEY: stored("w"), ("a", "", "2"): stored()}, LATE),
    ],
)
def test_what_is_there_besides_is_no_loss(seen: dict[Any, Any], contract: str | None) -> None:
    verdict = judged_once_closed(Snapshot({KEY: stored("w")}), Snapshot(seen))
    assert (verdict and verdict.contract) == contract
