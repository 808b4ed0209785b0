"""What one family hands over to another says which mistakes of other contracts show it too."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.judging_support import plan_of
from tests.conformance.selftest_support import facts_for, hunt, target_of
from tests.wrong_savers import WRONG

from saverproof.families.items import Outcome

IMMUTABLE = "channels/history-immutable"


def test_the_mistake_that_the_own_family_finds_is_among_them(tmp_path: Path) -> None:
    wrong = next(one for one in WRONG if one.name == "deleted-values-stay")
    target = target_of(wrong)
    plan = plan_of(target, "ordering", "sync", tmp_path, facts=facts_for(wrong, tmp_path))
    # Values that are there again after a deletion are at first taken for ones that change.
    outcome = hunt(plan, target, steps=300)
    handed = next(one for one in outcome.handed if one.contract == IMMUTABLE)
    assert handed.mistake_of == IMMUTABLE != wrong.breaks
    assert wrong.note in handed.mistakes_alike


def outcome_of(name: str, family: str, folder: Path) -> Outcome:
    """What a family tells of a wrong saver."""
    wrong = next(one for one in WRONG if one.name == name)
    target = target_of(wrong)
    plan = plan_of(target, family, "sync", folder, facts=facts_for(wrong, folder))
    return hunt(plan, target, steps=900)


def test_a_mistake_of_another_family_is_named_where_it_explains_as_much(tmp_path: Path) -> None:
    outcome = outcome_of("delete-thread-always-raises", "lifecycle", tmp_path)
    told = [*outcome.findings, *outcome.handed]
    assert told
    for one in told:
        assert "delete_thread always raises" in (one.mistake, *one.mistakes_alike)


def test_a_mistake_of_another_family_is_not_named_where_runs_rule_it_out(tmp_path: Path) -> None:
    # Their shortest program is shown by savers that lose writes of any batch as well.
    found = outcome_of("one-batch-per-task", "upsert", tmp_path).findings
    assert found
    assert not set.intersection(*(set(one.mistakes_alike) for one in found))
