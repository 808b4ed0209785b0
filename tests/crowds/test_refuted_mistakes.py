"""A known mistake that right runs speak against is not told, and proves nothing.

By night, more that is told beside a refuted mistake.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import CheckpointTuple

from saverproof.families.items import Outcome
from saverproof.families.registry import judged
from saverproof.savers.targets.target import Target
from tests.conformance.judging_support import facts_of, plan_of
from tests.crowds.test_two_tables import IndexFromEnumerate, ReturnsInTheLoop
from tests.crowds.two_tables import TwoTables, opened
from tests.nights import by_night


class WritesBackwards(TwoTables):
    def writes_of(self, key: tuple[bytes, ...]) -> list[tuple[str, str, Any]]:
        return super().writes_of(key)[::-1]


class WritesOfTwoTasksBackwards(TwoTables):
    def writes_of(self, key: tuple[bytes, ...]) -> list[tuple[str, str, Any]]:
        found = super().writes_of(key)
        return found[::-1] if len({task for task, *_ in found}) > 1 else found


class OldestFirstIfMany(TwoTables):
    def list(
        self, config: Any, *, limit: int | None = None, **how: Any
    ) -> Iterator[CheckpointTuple]:
        found = [*super().list(config, **how)]
        yield from (found[::-1] if len(found) > 3 else found)[:limit]


class NamespaceOfEachWrite(TwoTables):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        rows = [(config["configurable"]["checkpoint_ns"], write) for write in writes]
        super().put_writes(config, [write for _, write in rows], task_id, task_path)


def outcome_of(saver: type[TwoTables], family: str, folder: Path) -> Outcome:
    """What a family finds of a saver."""
    target = Target(name="two-tables", open=partial(opened, saver))
    facts = facts_of(target, folder)
    return judged(plan_of(target, family, "sync", folder, facts=facts), target)


def test_a_mistake_that_nothing_speaks_against_is_told(tmp_path: Path) -> None:
    outcome = outcome_of(WritesBackwards, "pending-writes", tmp_path)
    told = {found.contract: found.mistake for found in outcome.handed}
    assert told == {"ordering/writes-sorted": "ORDER BY … DESC, as for checkpoints"}
    assert not outcome.extra["differences"]["elsewhere"]


@pytest.mark.parametrize(
    ("saver", "family", "contract"),
    [
        by_night(WritesOfTwoTasksBackwards, "pending-writes", "ordering/writes-sorted"),
        (OldestFirstIfMany, "identity", "ordering/list-newest-first"),
    ],
)
def test_a_mistake_that_right_runs_refute_is_not_told(
    saver: type[TwoTables], family: str, contract: str, tmp_path: Path
) -> None:
    outcome = outcome_of(saver, family, tmp_path)
    # What was found stays found: only the words of the mistake would be untrue.
    told = {found.contract: found.mistake for found in outcome.handed}
    assert contract in told
    assert set(told.values()) == {""}
    assert all(found.needs for found in outcome.handed)
    # What that mistake alone explained is left.
    left = outcome.extra["differences"]["elsewhere"]
    assert [contract] in [one["contracts"] for one in left]


def test_what_vanishes_without_the_needs_of_its_finding_is_explained(tmp_path: Path) -> None:
    # The empty batch that it takes refutes a mistake that is right but for it.
    outcome = outcome_of(NamespaceOfEachWrite, "pending-writes", tmp_path)
    (found,) = outcome.findings
    assert (found.contract, found.mistake) == ("pending-writes/namespace-defaults", "")
    assert not outcome.unsettled
    assert not outcome.extra["differences"]["elsewhere"]


class FirstOfABatchAndBackwards(WritesOfTwoTasksBackwards, ReturnsInTheLoop): ...


class IndexFromEnumerateAndBackwards(WritesOfTwoTasksBackwards, IndexFromEnumerate): ...


@pytest.mark.parametrize(
    ("saver", "contract"),
    [
        (FirstOfABatchAndBackwards, "pending-writes/complete"),
        (IndexFromEnumerateAndBackwards, "pending-writes/special-index"),
    ],
)
def test_beside_a_refuted_mistake_another_flaw_is_all_that_is_told(
    saver: type[TwoTables], contract: str, tmp_path: Path
) -> None:
    # What was found while the refuted mistake was believed is explained anew.
    outcome = outcome_of(saver, "pending-writes", tmp_path)
    assert [(one.contract, one.mistake_of) for one in outcome.findings] == [(contract, contract)]
    assert {one.contract for one in outcome.handed} == {"ordering/writes-sorted"}
    assert not outcome.unsettled
