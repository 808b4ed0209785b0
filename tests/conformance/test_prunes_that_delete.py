"""A prune that deletes by ``delete_thread`` does wrong what that does, and has no other flaw.

By night, other flaws.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, plan_of
from tests.nights import by_night

from saverproof.families.registry import judged
from saverproof.mistakes.deletion import DeleteLeavesEarlyWrites, DeleteLeavesWrites
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.registry import opener
from saverproof.savers.targets.target import Target

GHOSTS = "deletion/no-ghosts"


class PrunesByDeleting(ReferenceSaver):
    """Deletes each thread by its own method."""

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        if strategy != "delete":
            super().prune(thread_ids, strategy=strategy)
            return
        for thread in thread_ids:
            self.delete_thread(thread)


class LeavesWrites(PrunesByDeleting, DeleteLeavesWrites):
    pass


class LeavesEarlyWrites(PrunesByDeleting, DeleteLeavesEarlyWrites):
    pass


class LeavesWritesAndPrunesTooMuch(LeavesWrites):
    """The same, and nothing is kept of one thread."""

    def _keep_latest(self, thread: str) -> None:
        if thread == "a":
            self._prune_whole(thread)
        else:
            super()._keep_latest(thread)


def causes(saver: Any, folder: Path) -> set[str]:
    """The contracts of the mistakes that a saver is found to make; "" for a mistake unknown."""
    target = Target(name="wrong", open=opener(saver))
    plan = plan_of(target, "deletion", "sync", folder, facts=facts_from(EVERY_OPERATION))
    outcome = judged(plan, target)
    assert not outcome.unsettled
    return {found.mistake_of for found in outcome.findings}


@pytest.mark.parametrize("saver", [LeavesWrites, by_night(LeavesEarlyWrites)])
def test_what_both_leave_behind_has_one_cause(saver: Any, tmp_path: Path) -> None:
    assert causes(saver, tmp_path) == {GHOSTS}


@pytest.mark.nightly
def test_another_flaw_of_the_prune_is_told(tmp_path: Path) -> None:
    assert causes(LeavesWritesAndPrunesTooMuch, tmp_path) > {GHOSTS}
