"""What one family hands over to another says which mistakes of other contracts show it too."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.judging_support import plan_of
from tests.conformance.selftest_support import facts_for, hunt, target_of
from tests.wrong_savers import WRONG

MIXED = "upsert/special-write-last-wins-mixed"


def test_the_mistake_that_the_own_family_finds_is_among_them(tmp_path: Path) -> None:
    wrong = next(one for one in WRONG if one.name == "special-write-first-wins")
    target = target_of(wrong)
    plan = plan_of(target, "ordering", "sync", tmp_path, facts=facts_for(wrong, tmp_path))
    outcome = hunt(plan, target, steps=300)
    handed = next(one for one in outcome.handed if one.contract == MIXED)
    assert handed.mistake_of == MIXED
    assert wrong.note in handed.mistakes_alike
