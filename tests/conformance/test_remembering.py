"""Programs that broke a contract are tried again first in the next run."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis.database import DirectoryBasedExampleDatabase
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, plan_of
from tests.conformance.selftest_support import target_of
from tests.wrong_savers import WRONG
from tests.wrong_savers.registry import opener

from saverproof import Target
from saverproof.families.functional.effort import ProgramEffort
from saverproof.families.functional.examples import remember, remembered
from saverproof.families.functional.judging import FunctionalJudging
from saverproof.families.items import ItemPlan, Outcome
from saverproof.families.machines.registry import MACHINES
from saverproof.families.tally import Tally
from saverproof.judging.scenes.first_operation import FirstOperation
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.programs.steps.definitions import Put

WRONG_ONE = target_of(next(wrong for wrong in WRONG if wrong.name == "insert-only"))
RIGHT = Target(name="wrong", open=opener(ReferenceSaver))
CONTRACT = "upsert/put-is-idempotent"
SOME = ProgramEffort(steps=400, examples=0, bulk=False, heavy=False)


@pytest.fixture
def plan(tmp_path: Path) -> ItemPlan:
    folder = tmp_path / "scratch"
    folder.mkdir()
    facts = facts_from(EVERY_OPERATION) | {"name": "wrong"}
    plan = plan_of(WRONG_ONE, "upsert", "sync", folder, facts=facts)
    return replace(plan, examples=str(tmp_path / ".saverproof" / "examples"))


def judged(plan: ItemPlan, target: Target, effort: ProgramEffort = SOME) -> Outcome:
    """What judging comes to."""
    tally = Tally(plan)
    FunctionalJudging(plan, target, tally, effort).run()
    return tally.outcome()


def found(plan: ItemPlan, target: Target) -> set[str]:
    """The contracts that judging finds broken."""
    return {finding.contract for finding in judged(plan, target).findings}


def test_what_was_found_is_found_again_without_a_search(
    plan: ItemPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert CONTRACT in found(plan, WRONG_ONE)
    monkeypatch.setattr(FunctionalJudging, "_search", lambda *_: None)
    assert CONTRACT in found(plan, WRONG_ONE)


def test_a_repaired_saver_makes_it_forgotten(plan: ItemPlan) -> None:
    found(plan, WRONG_ONE)
    assert remembered(plan)
    assert found(plan, RIGHT) == set()
    assert remembered(plan) == []


def test_what_needs_an_operation_that_is_gone_is_not_tried_again(plan: ItemPlan) -> None:
    class WithoutRuns(ReferenceSaver):
        def delete_for_runs(self, run_ids: Sequence[str]) -> None:
            raise NotImplementedError

    left = facts_from(
        {api: [n for n in those if "runs" not in n] for api, those in EVERY_OPERATION.items()}
    )
    plan = replace(plan, family="lifecycle", facts=left | {"name": "wrong"})
    remember(plan, [(FirstOperation("delete_for_runs", True),)])
    assert found(plan, Target(name="wrong", open=opener(WithoutRuns))) == set()


def test_an_item_says_who_made_its_programs(plan: ItemPlan) -> None:
    remember(plan, [(Put("a", "", 1),)])
    made = judged(plan, RIGHT, replace(SOME, examples=3)).extra["programs"]
    assert made["remembered"] == {"programs": 1, "steps": 1}
    # At least two of each of the family's themes, whatever their length.
    assert made["random"]["programs"] >= 2 * len(MACHINES["upsert"].themes)
    assert made["hypothesis"]["programs"] >= 3 * len(MACHINES["upsert"].themes)
    assert made["random"]["steps"] > made["random"]["programs"]


def test_each_saver_family_and_api_has_its_own(plan: ItemPlan) -> None:
    remember(plan, [(Put("a", "", 1),)])
    for other in (
        replace(plan, api="async"),
        replace(plan, family="channels"),
        replace(plan, facts={**plan.facts, "name": "another"}),
    ):
        assert remembered(other) == []
    assert remembered(plan) == [(Put("a", "", 1),)]


def test_a_saver_that_breaks_nothing_leaves_no_folder(plan: ItemPlan) -> None:
    assert found(plan, RIGHT) == set()
    assert not Path(plan.examples or "").exists()


def test_the_folder_is_for_its_owner_alone(plan: ItemPlan) -> None:
    remember(plan, [(Put("a", "", 1),)])
    assert stat.S_IMODE(Path(plan.examples or "").stat().st_mode) == 0o700


@pytest.mark.parametrize("kept", [b"\xff", b"[1]", b'[{"step": "Gone"}]', b"{}"])
def test_what_another_version_kept_is_passed_over(plan: ItemPlan, kept: bytes) -> None:
    remember(plan, [(Put("a", "", 1),)])
    database = DirectoryBasedExampleDatabase(plan.examples or "")
    database.save(b"saverproof:wrong:upsert:sync", kept)
    assert remembered(plan) == [(Put("a", "", 1),)]
