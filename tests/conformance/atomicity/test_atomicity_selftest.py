"""Every wrong saver of the atomicity family is caught by faults, and blamed for its own mistake.

By day the first of each contract that is quickly caught; the others have their night.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.atomicity.test_atomicity import OPERATIONS, plan_for
from tests.nights import through_the_day
from tests.wrong_savers import WRONG, WrongSaver

from saverproof.contracts.registry import contract, contracts
from saverproof.families.atomicity import effort
from saverproof.families.atomicity.trials import bench
from saverproof.families.atomicity.trials.worker import Worker
from saverproof.families.registry import judged
from saverproof.savers.targets.target import Target

FAMILY = "atomicity"
FAULTS = {"failed-commit-stays-open": 140, "never-connects-again": 140}
"""How many faults it takes to catch these; for all the others 70 are enough."""
BY_DAY = 1
"""Wrong savers of each contract that are tried by day."""
SLOW_BY_NIGHT = {
    "blobs-in-asecond-transaction",
    "answers-first",
    "answers-first-and-writes-at-once",
    "reads-do-not-wait",
}
"""Those that take longest; others break their contracts by day."""


class CutsConnections:
    """A driver that cuts the connections of the savers that are open."""

    name, modules = "losing", ("sqlite3",)

    def __init__(self) -> None:
        self.open: list[Any] = []

    def install(self) -> Any:
        return lambda: None

    def lose(self) -> None:
        for saver in self.open:
            saver.database.connection.close()


def target_of(wrong: WrongSaver) -> Target:
    losing = CutsConnections()

    @contextmanager
    def opened(workspace: Any) -> Iterator[Any]:
        with wrong.make(workspace) as saver:
            losing.open.append(saver)
            try:
                yield saver
            finally:
                losing.open.remove(saver)

    drivers = (losing,) if wrong.breaks.endswith("lost-connection") else ()
    return Target(name=wrong.name, open=opened, drop=wrong.drop, drivers=drivers)


def wrong_savers() -> list[WrongSaver]:
    return [wrong for wrong in WRONG if wrong.breaks.startswith(f"{FAMILY}/")]


@pytest.mark.parametrize("wrong", through_the_day(wrong_savers(), BY_DAY, SLOW_BY_NIGHT))
def test_a_wrong_saver_is_caught_and_rightly_blamed(
    wrong: WrongSaver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "Worker", lambda *_: Worker(0.5))
    most = dataclasses.replace(effort.EFFORTS["quick"], most=FAULTS.get(wrong.name, 70))
    monkeypatch.setitem(effort.EFFORTS, "quick", most)
    monkeypatch.setattr(
        "saverproof.families.atomicity.family.shortened", lambda bench, found, *_: [found]
    )
    api = "sync" if "sync" in wrong.apis else "async"
    plan = plan_for(tmp_path, api, OPERATIONS)
    outcome = judged(plan, target_of(wrong))
    blamed = {finding.contract for finding in outcome.findings}
    assert wrong.breaks in blamed, f"not caught: {wrong.note}"
    allowed = {wrong.breaks, *contract(wrong.breaks).implies, *wrong.also}
    assert blamed <= allowed, f"blamed for {sorted(blamed - allowed)} as well"


def test_no_contract_is_without_a_wrong_saver() -> None:
    broken = {wrong.breaks for wrong in WRONG}
    assert {known.id for known in contracts(FAMILY)} <= broken
