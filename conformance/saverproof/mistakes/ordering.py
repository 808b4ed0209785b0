"""Savers that list in the wrong order, or the wrong part of it."""

from __future__ import annotations

from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf
from saverproof.mistakes.registry import mistake

LISTING = {"ordering/pages-tile", "ordering/all-threads-newest-first"}
Rows = list[CheckpointRow]


@mistake("ordering/list-newest-first", "ORDER BY checkpoint_id without DESC", also=LISTING)
class OldestFirst(ReferenceSaver):
    def _order(self, rows: Rows) -> Rows:
        return sorted(rows, key=lambda row: row.id)


@mistake(
    "ordering/list-newest-first", "ORDER BY rowid DESC: ids arrive in order, usually", also=LISTING
)
class ListedByInsertion(ReferenceSaver):
    def _order(self, rows: Rows) -> Rows:
        return rows[::-1]


@mistake(
    "ordering/list-newest-first",
    "ORDER BY rowid DESC, and INSERT OR REPLACE gives a row that is there a new one",
    also=LISTING,
)
class ListedByRowId(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        last = self.store.extra.get("last row id", 0) + 1
        self.store.extra["last row id"] = self._row_ids()[row.thread, row.ns, row.id] = last
        super()._store_checkpoint(shelf, row)

    def _order(self, rows: Rows) -> Rows:
        row_ids = self._row_ids()

        def row_id(row: CheckpointRow) -> int:
            return row_ids.get((row.thread, row.ns, row.id), 0)

        return sorted(rows, key=row_id, reverse=True)

    def _row_ids(self) -> dict[tuple[str, str, str], int]:
        row_ids: dict[tuple[str, str, str], int] = self.store.extra.setdefault("row ids", {})
        return row_ids


@mistake("ordering/list-newest-first", "the key-value store gives rows in no order", also=LISTING)
class ListedUnsorted(ReferenceSaver):
    def _order(self, rows: Rows) -> Rows:
        return sorted(rows, key=lambda row: row.id[::-1])


@mistake(
    "ordering/list-newest-first", "ORDER BY step: a fork starts from an older step", also=LISTING
)
class ListedByStep(ReferenceSaver):
    def _order(self, rows: Rows) -> Rows:
        def step(row: CheckpointRow) -> tuple[int, str]:
            return self._load_metadata(row.metadata).get("step", 0), row.id

        return sorted(rows, key=step, reverse=True)


@mistake("ordering/list-newest-first", "only a filtered query got its ORDER BY", also=LISTING)
class SortedOnlyWhenFiltered(ReferenceSaver):
    def _page(self, config: Any, filter: Any, before: Any, limit: Any) -> Rows:
        if filter:
            return super()._page(config, filter, before, limit)
        rows = self._before(self._selected(config), before)
        return self._limited(rows[::-1], limit)


@mistake("ordering/list-newest-first", "only a plain query got its ORDER BY", also=LISTING)
class SortedOnlyWhenPlain(ReferenceSaver):
    def _page(self, config: Any, filter: Any, before: Any, limit: Any) -> Rows:
        if not filter:
            return super()._page(config, filter, before, limit)
        rows = self._filtered(self._before(self._selected(config), before), filter)
        return self._limited(sorted(rows, key=lambda row: row.id), limit)


@mistake("ordering/latest-is-greatest-id", "ORDER BY rowid DESC LIMIT 1")
class LatestInserted(ReferenceSaver):
    def _latest(self, shelf: Shelf) -> CheckpointRow | None:
        return next(reversed(shelf.checkpoints.values()))


@mistake("ordering/latest-is-greatest-id", "a pointer to the latest checkpoint, moved by every put")
class LatestPointer(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        shelf.checkpoints.pop(row.id, None)
        shelf.checkpoints[row.id] = row

    def _latest(self, shelf: Shelf) -> CheckpointRow | None:
        return next(reversed(shelf.checkpoints.values()))


@mistake("ordering/latest-is-greatest-id", "the latest is the one with the highest step")
class LatestByStep(ReferenceSaver):
    def _latest(self, shelf: Shelf) -> CheckpointRow | None:
        def step(row: CheckpointRow) -> int:
            return int(self._load_metadata(row.metadata).get("step", 0))

        return max(reversed(shelf.checkpoints.values()), key=step)


@mistake("ordering/latest-is-greatest-id", "the latest is the one that is nobody's parent")
class LatestLeaf(ReferenceSaver):
    def _latest(self, shelf: Shelf) -> CheckpointRow | None:
        parents = {row.parent for row in shelf.checkpoints.values()}
        leaves = [row for row in shelf.checkpoints.values() if row.id not in parents]
        return leaves[0] if leaves else None


@mistake("ordering/latest-is-greatest-id", "ORDER BY checkpoint_id LIMIT 1 without DESC")
class LatestIsOldest(ReferenceSaver):
    def _latest(self, shelf: Shelf) -> CheckpointRow | None:
        return shelf.checkpoints[min(shelf.checkpoints)]


@mistake("ordering/before-is-exclusive", "<= for <", also={"ordering/pages-tile"})
class BeforeInclusive(ReferenceSaver):
    def _precedes(self, row: CheckpointRow, bound: str) -> bool:
        return row.id <= bound


@mistake(
    "ordering/before-is-exclusive", "the option was not implemented", also={"ordering/pages-tile"}
)
class BeforeIgnored(ReferenceSaver):
    def _precedes(self, row: CheckpointRow, bound: str) -> bool:
        return True


@mistake("ordering/before-is-exclusive", "every key of the bound's config narrows the listing")
class BeforeInItsNamespace(ReferenceSaver):
    def _before(self, rows: Rows, before: Any) -> Rows:
        namespace = (before or {}).get("configurable", {}).get("checkpoint_ns")
        asked = [row for row in rows if namespace in (None, row.ns)]
        return super()._before(asked, before)


@mistake("ordering/before-is-exclusive", "looks the bound up first; one not stored bounds nothing")
class BeforeMustBeStored(ReferenceSaver):
    def _before(self, rows: Rows, before: Any) -> Rows:
        bound = before["configurable"].get("checkpoint_id") if before else None
        known = any(bound in shelf.checkpoints for shelf in self._all_shelves())
        return super()._before(rows, before) if known else rows


@mistake(
    "ordering/before-is-exclusive", "the bound's row is looked up in the listed rows, by position"
)
class BeforeByPosition(ReferenceSaver):
    def _before(self, rows: Rows, before: Any) -> Rows:
        bound = before["configurable"].get("checkpoint_id") if before else None
        if not bound:
            return rows
        ordered = self._order(rows)
        ids = [row.id for row in ordered]
        return ordered[ids.index(bound) + 1 :] if bound in ids else []


@mistake(
    "ordering/before-is-exclusive",
    "WHERE rowid < the bound's rowid",
    also={"ordering/pages-tile"},
)
class BeforeByInsertion(ReferenceSaver):
    def _before(self, rows: Rows, before: Any) -> Rows:
        bound = before["configurable"].get("checkpoint_id") if before else None
        places = [at for at, row in enumerate(rows) if row.id == bound]
        return rows[: places[0]] if places else super()._before(rows, before)


@mistake("ordering/limit-is-a-prefix", "LIMIT in the query, the filter in Python")
class LimitBeforeFilter(ReferenceSaver):
    def _page(self, config: Any, filter: Any, before: Any, limit: Any) -> Rows:
        rows = self._order(self._before(self._selected(config), before))
        return self._filtered(self._limited(rows, limit), filter)


@mistake(
    "ordering/limit-is-a-prefix",
    "LIMIT in the query, before in Python",
    also={"ordering/pages-tile"},
)
class LimitBeforeBefore(ReferenceSaver):
    def _page(self, config: Any, filter: Any, before: Any, limit: Any) -> Rows:
        rows = self._filtered(self._order(self._selected(config)), filter)
        return self._before(self._limited(rows, limit), before)


@mistake("ordering/limit-is-a-prefix", "`if limit:` takes 0 for no limit")
class LimitZeroIsNone(ReferenceSaver):
    def _limited(self, rows: Rows, limit: int | None) -> Rows:
        return rows[:limit] if limit else rows


@mistake("ordering/limit-zero", "a limit below 1 raises")
class LimitZeroIsRefused(ReferenceSaver):
    def _limited(self, rows: Rows, limit: int | None) -> Rows:
        if limit is not None and limit < 1:
            raise ValueError(f"limit is {limit}")
        return super()._limited(rows, limit)


@mistake("ordering/limit-is-a-prefix", "one query a namespace, each with the limit")
class LimitPerNamespace(ReferenceSaver):
    def _limited(self, rows: Rows, limit: int | None) -> Rows:
        taken: dict[tuple[str, str], int] = {}
        kept = []
        for row in rows:
            place = (row.thread, row.ns)
            taken[place] = taken.get(place, 0) + 1
            if limit is None or taken[place] <= limit:
                kept.append(row)
        return kept


@mistake(
    "ordering/limit-is-a-prefix",
    "the rows are cut before they are sorted",
    also={"ordering/pages-tile"},
)
class LimitBeforeSort(ReferenceSaver):
    def _page(self, config: Any, filter: Any, before: Any, limit: Any) -> Rows:
        rows = self._filtered(self._before(self._selected(config), before), filter)
        return self._order(self._limited(rows, limit))


@mistake("ordering/limit-is-a-prefix", "counts after yielding, and so gives one more")
class LimitPlusOne(ReferenceSaver):
    def _limited(self, rows: Rows, limit: int | None) -> Rows:
        return rows if limit is None else rows[: limit + 1]


@mistake("ordering/limit-is-a-prefix", "looks at the limit after a yield, so that 0 gives one")
class LimitZeroIsOne(ReferenceSaver):
    def _limited(self, rows: Rows, limit: int | None) -> Rows:
        return rows if limit is None else rows[: max(limit, 1)]


@mistake(
    "ordering/limit-is-a-prefix",
    "a page has at most two rows, whatever was asked",
    also={"ordering/pages-tile"},
)
class LimitCapped(ReferenceSaver):
    def _limited(self, rows: Rows, limit: int | None) -> Rows:
        return rows if limit is None else rows[: min(limit, 2)]


# Pages use before and limit together, so a flaw in pages shows in one of them too.
PAIR = {"ordering/before-is-exclusive", "ordering/limit-is-a-prefix"}


@mistake(
    "ordering/pages-tile", "below the bound ASC LIMIT n, then reversed: the oldest page", also=PAIR
)
class PageFromTheOldEnd(ReferenceSaver):
    def _page(self, config: Any, filter: Any, before: Any, limit: Any) -> Rows:
        rows = super()._page(config, filter, before, None)
        paged = before and before["configurable"].get("checkpoint_id") and limit
        return rows[-limit:] if paged else self._limited(rows, limit)


@mistake(
    "ordering/pages-tile", "the page's cursor points behind its first row, not at it", also=PAIR
)
class PageSkipsARow(ReferenceSaver):
    def _page(self, config: Any, filter: Any, before: Any, limit: Any) -> Rows:
        rows = super()._page(config, filter, before, None)
        paged = before and before["configurable"].get("checkpoint_id") and limit
        return rows[1 : 1 + limit] if paged else self._limited(rows, limit)


@mistake("ordering/pages-tile", "a page begins with the last row of the one before it", also=PAIR)
class PageRepeatsARow(ReferenceSaver):
    def _page(self, config: Any, filter: Any, before: Any, limit: Any) -> Rows:
        bound = before["configurable"].get("checkpoint_id") if before else None
        if not bound or not limit:
            return super()._page(config, filter, before, limit)
        rows = [row for row in self._order(self._selected(config)) if row.id <= bound]
        return self._limited(self._filtered(rows, filter), limit)


@mistake("ordering/all-threads-newest-first", "threads in the order of their creation")
class GroupedByThread(ReferenceSaver):
    def _order(self, rows: Rows) -> Rows:
        threads = list(dict.fromkeys(row.thread for row in rows))
        return sorted(super()._order(rows), key=lambda row: threads.index(row.thread))


@mistake(
    "ordering/all-threads-newest-first",
    "threads, and the namespaces of each, in the order of their creation",
)
class GroupedByNamespace(ReferenceSaver):
    def _order(self, rows: Rows) -> Rows:
        places = list(dict.fromkeys((row.thread, row.ns) for row in rows))
        threads = list(dict.fromkeys(thread for thread, _ in places))
        return sorted(
            super()._order(rows),
            key=lambda row: (threads.index(row.thread), places.index((row.thread, row.ns))),
        )


@mistake(
    "ordering/all-threads-newest-first", "ORDER BY thread_id, checkpoint_id DESC: the primary key"
)
class SortedByThreadFirst(ReferenceSaver):
    def _order(self, rows: Rows) -> Rows:
        return sorted(super()._order(rows), key=lambda row: row.thread)
