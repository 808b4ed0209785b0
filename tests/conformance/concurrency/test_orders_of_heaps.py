"""An order of writes that no known mistake has is told once, not for each program that shows it.

By day another flaw beside it; by night, more savers and families.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, plan_of
from tests.nights import by_night

from saverproof.families.registry import judged
from saverproof.mistakes.pending_writes import EmptyBatchRefused
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import WriteRow
from saverproof.mistakes.registry import opener
from saverproof.mistakes.write_order import WritesByInsertion
from saverproof.savers.targets.target import Target

SORTED = "ordering/writes-sorted"
EMPTY = "pending-writes/empty-batch"
PLAIN = {
    api: [each for each in those if not each.endswith(("runs", "prune", "copy_thread"))]
    for api, those in EVERY_OPERATION.items()
}


class WritesByPlace(ReferenceSaver):
    """ORDER BY ctid: a row that replaces another gets the first free place before that is freed."""

    def _store_write(self, stored: dict[Hashable, WriteRow], row: WriteRow) -> None:
        key = self._write_key(row)
        before = stored.get(key)
        super()._store_write(stored, row)
        if (now := stored[key]) is not before:
            places = self._places()
            there = [*self._written(), *([] if before is None else [before])]
            taken = {places[id(each)][1] for each in there if id(each) in places}
            places[id(now)] = now, next(place for place in count() if place not in taken)

    def _written(self) -> list[WriteRow]:
        batches = (batch for shelf in self._all_shelves() for batch in shelf.writes.values())
        return [row for batch in batches for row in batch.values()]

    def _places(self) -> dict[int, tuple[WriteRow, int]]:
        places: dict[int, tuple[WriteRow, int]] = self.store.extra.setdefault("places", {})
        return places

    def _ordered_writes(self, rows: Iterable[WriteRow]) -> list[WriteRow]:
        places = self._places()
        return sorted(rows, key=lambda row: places[id(row)][1])


class EmptyBatchTurnsTheNext(WritesByInsertion):
    """An order that a known mistake has, and another that only comes after an empty batch."""

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        key = (self._thread_of(config), self._writes_ns(config), self._writes_id(config), task_id)
        turned = self.store.extra.pop(key, False)
        self.store.extra[key] = not writes
        super().put_writes(config, writes[::-1] if turned else writes, task_id, task_path)


class ByPlaceAndNoEmptyBatch(WritesByPlace, EmptyBatchRefused):
    """The order of a heap, and a flaw of another kind."""


def blamed(saver: Any, family: str, folder: Path) -> set[str]:
    """The contracts that a family finds broken, its own and those of others."""
    target = Target(name="wrong", open=opener(saver))
    plan = plan_of(target, family, "sync", folder, facts=facts_from(PLAIN))
    outcome = judged(plan, target)
    assert not outcome.unsettled
    return {found.contract for found in (*outcome.findings, *outcome.handed)}


@pytest.mark.nightly
@pytest.mark.parametrize("family", ["pending-writes", by_night("ordering")])
def test_what_shows_it_as_well_is_not_blamed(family: str, tmp_path: Path) -> None:
    assert blamed(WritesByPlace, family, tmp_path) == {SORTED}


@pytest.mark.parametrize("saver", [by_night(EmptyBatchTurnsTheNext), ByPlaceAndNoEmptyBatch])
def test_another_flaw_beside_it_is_told(saver: Any, tmp_path: Path) -> None:
    assert blamed(saver, "pending-writes", tmp_path) >= {SORTED, EMPTY}
