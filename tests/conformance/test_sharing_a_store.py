"""Where opening takes long, candidates share a store: they show what they show by themselves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, plan_of
from tests.conformance.selftest_support import hunt, target_of
from tests.wrong_savers import WRONG
from tests.wrong_savers.registry import opener

from saverproof.families.items import Finding
from saverproof.families.machines.explaining.sharing import may_share
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf
from saverproof.programs.steps.definitions import (
    DeleteForRuns,
    GetTuple,
    ListTuples,
    Program,
    Put,
    Reopen,
)
from saverproof.savers.targets.target import Target


class ForgetsTheSecond(ReferenceSaver):
    """The second checkpoint since it was opened is put, and is not there."""

    _puts = 0

    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        self._puts += 1
        if self._puts != 2:
            super()._store_checkpoint(shelf, row)


def found(target: Target, contract: str, folder: Path, opens_ms: float) -> tuple[Finding, int]:
    """What shows that a contract is broken, and how often the saver was opened for it."""
    opened: list[object] = []

    def counted(workspace: Any) -> Any:
        opened.append(workspace)
        return target.open(workspace)

    facts = facts_from(EVERY_OPERATION) | {"opens_ms": opens_ms}
    family = contract.partition("/")[0]
    plan = plan_of(target, family, "sync", folder, facts=facts)
    outcome = hunt(plan, replace(target, open=counted), contract)
    return next(one for one in outcome.findings if one.contract == contract), len(opened)


@pytest.mark.parametrize(
    ("name", "seldom"),
    [("mixed-batch-ignores", True), ("get-by-id-alone", False)],
    ids=["shown among others, too", "confused by others"],
)
def test_what_was_shortened_among_others_is_what_is_shortened_alone(
    name: str, seldom: bool, tmp_path: Path
) -> None:
    wrong = next(one for one in WRONG if one.name == name)
    alone, times = found(target_of(wrong), wrong.breaks, tmp_path / "alone", 1.0)
    among, few = found(target_of(wrong), wrong.breaks, tmp_path / "among", 50.0)
    assert among.steps == alone.steps
    assert (few < times / 3) is seldom


def test_a_mistake_predicts_names_as_they_are_in_a_shared_store(tmp_path: Path) -> None:
    wrong = next(one for one in WRONG if one.name == "parent-in-the-root")
    facts = facts_from(EVERY_OPERATION) | {"opens_ms": 50.0}
    plan = plan_of(target_of(wrong), "identity", "sync", tmp_path, facts=facts)
    outcome = hunt(plan, target_of(wrong), steps=2_000)
    assert [one.mistake for one in outcome.findings] == [wrong.note]
    assert outcome.extra["differences"]["unknown"] == 0


def test_what_only_a_saver_shows_that_was_just_opened_is_found(tmp_path: Path) -> None:
    target = Target(name="wrong", open=opener(ForgetsTheSecond))
    finding, _ = found(target, "identity/put-returns-address", tmp_path, 50.0)
    assert finding.steps


@pytest.mark.parametrize(
    ("program", "may"),
    [
        ((Put("a", "", 1), GetTuple("a"), ListTuples("a")), True),
        ((Put("a", "", 1), ListTuples(None)), False),
        ((Put("a/b", "", 1),), False),
        ((Put("a", "", 1), Reopen()), False),
        ((Put("a", "", 1), DeleteForRuns(("run-1",))), False),
    ],
)
def test_only_programs_that_stay_in_their_threads_share(program: Program, may: bool) -> None:
    assert may_share(program) is may
