"""One flaw does not hide the next: of two flaws that break the same contract, both are shown.

By day the quickest pairs; the others by night.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, plan_of
from tests.nights import by_night
from tests.wrong_savers.registry import opener

from saverproof.contracts.registry import contract
from saverproof.families.answer import Status
from saverproof.families.functional import effort
from saverproof.families.items import Finding
from saverproof.families.registry import family, judged
from saverproof.mistakes import (
    deletion,
    filter,
    hostile,
    ordering,
    ownership,
    selecting,
    values,
    what_is_removed,
    write_order,
    write_places,
)
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.savers.targets.target import Target

Saver = type[ReferenceSaver]

PAIRS: dict[str, tuple[str, Saver, Saver]] = {
    "limits": (
        "ordering/limit-is-a-prefix",
        ordering.LimitBeforeFilter,
        ordering.LimitZeroIsNone,
    ),
    "ids": (
        "identity/none-id-is-latest",
        selecting.NoneIdIsLookedUp,
        selecting.NoneIdNarrowsTheList,
    ),
    "threads": (
        "isolation/hostile-identifiers",
        hostile.ThreadsWithoutCase,
        hostile.DeletesLike,
    ),
    "filters": ("filter/equality", filter.FirstKeyOnly, filter.FilterWithoutCase),
    "values": (
        "serialization/channel-values",
        values.SetsAsLists,
        values.DictKeysAsText,
    ),
    "snapshots": ("identity/snapshots", ownership.ValuesAliased, ownership.WritesAliased),
    "configs": ("identity/loop-configs", selecting.ConfigAsJson, selecting.BeforeNoneRaises),
    "deletes": (
        "deletion/thread-all",
        deletion.UnknownThreadCannotBeDeleted,
        deletion.DeletesWritesById,
    ),
}
"""A contract, and two savers that break it in different ways; the pair of them is one saver."""


def target_of(*savers: Saver) -> Target:
    """A saver with all of these flaws."""
    return Target(name="wrong", open=opener(type("Wrong", savers, {})))


def findings_of(broken: str, savers: tuple[Saver, ...], folder: Path) -> list[Finding]:
    plan = plan_of(
        target_of(*savers),
        contract(broken).family,
        "sync",
        folder,
        facts=facts_from(EVERY_OPERATION),
    )
    outcome = judged(plan, target_of(*savers))
    return [found for found in outcome.findings if found.contract == broken]


class ListsWritesByCheckpointId(ReferenceSaver):
    """Reads the writes of a page at once, and hands them out by the ids of checkpoints alone."""

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        with self.store.lock:
            rows = self._page(config, filter, before, limit)
            of = {(row.thread, row.id): row for row in rows}
            materials = [self._material(row) for row in rows]
        for row, blobs, writes in materials:
            there = writes if of[row.thread, row.id] is row else []
            yield self._listed(config, self._tuple(row, blobs, there))


def test_two_flaws_of_another_familys_contract_leave_nothing_unsettled(tmp_path: Path) -> None:
    """Both break an advice. No must may be in question because only one of them is understood."""
    target = target_of(ListsWritesByCheckpointId, write_places.WritesWithoutNamespace)
    facts = facts_from(EVERY_OPERATION)
    outcome = judged(plan_of(target, "deletion", "sync", tmp_path, facts=facts), target)
    assert not outcome.findings
    assert not outcome.unsettled
    assert {one.contract for one in outcome.handed} == {"isolation/same-id-in-namespaces"}


def shows(found: Finding, saver: Saver, folder: Path) -> bool:
    """Whether a finding's program shows a flaw by itself."""
    name = contract(found.contract).family
    plan = plan_of(target_of(saver), name, "sync", folder, facts=facts_from(EVERY_OPERATION))
    answer = family(name).replay(plan, target_of(saver), found.contract, found.program)
    return answer.status is Status.FAILING


SLOW_BY_NIGHT = {"configs", "deletes", "ids", "values"}
"""Pairs that take longer than the others: other pairs of values and names stay by day."""


@pytest.mark.parametrize("name", [by_night(n) if n in SLOW_BY_NIGHT else n for n in PAIRS])
def test_two_flaws_of_one_contract_are_both_shown(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Dice have to meet both flaws first; what is asked here is what follows.
    more = dataclasses.replace(effort.EFFORTS["quick"], steps=2_000)
    monkeypatch.setitem(effort.EFFORTS, "quick", more)
    broken, *savers = PAIRS[name]
    found = findings_of(broken, tuple(savers), tmp_path)
    shown = [tuple(shows(each, saver, tmp_path) for saver in savers) for each in found]
    assert (True, False) in shown, shown
    assert (False, True) in shown, shown


def test_what_nobody_could_look_at_names_what_is_broken_before_it(tmp_path: Path) -> None:
    target = target_of(write_order.WritesByInsertion)
    facts = facts_from(EVERY_OPERATION)
    outcome = judged(plan_of(target, "pending-writes", "sync", tmp_path, facts=facts), target)
    why = outcome.unexercised["pending-writes/one-task-two-paths"]
    assert "beside what is broken: ordering/writes-sorted" in why


@pytest.mark.nightly
def test_a_flaw_that_another_covers_wholly_does_not_pass_for_absent(tmp_path: Path) -> None:
    """Whether a copy keeps the paths of tasks cannot be seen where they are not stored at all."""
    target = target_of(what_is_removed.CopiedWritesWithoutTheirPath, write_order.WritesWithoutPath)
    facts = facts_from(EVERY_OPERATION)
    outcome = judged(plan_of(target, "deletion", "sync", tmp_path, facts=facts), target)
    why = outcome.unexercised["deletion/copy-complete"]
    assert "ordering/writes-sorted may hide this mistake" in why
