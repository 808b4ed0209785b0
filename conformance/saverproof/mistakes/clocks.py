"""Savers that order checkpoints by a time or a text instead of by their ids and numbers."""

from __future__ import annotations

import datetime
import time
from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf
from saverproof.mistakes.registry import mistake

Rows = list[CheckpointRow]


class ByTime(ReferenceSaver):
    """A base saver that can read the time of a row's checkpoint."""

    def _time(self, row: CheckpointRow) -> str:
        return str(self._load_fields(row.checkpoint)["ts"])


@mistake("ordering/latest-is-greatest-id", "ORDER BY ts DESC LIMIT 1")
class LatestByTime(ByTime):
    def _latest(self, shelf: Shelf) -> CheckpointRow | None:
        return max(shelf.checkpoints.values(), key=lambda row: (self._time(row), row.id))


@mistake("ordering/latest-is-greatest-id", "ORDER BY ts DESC LIMIT 1: of equal ts the lowest id")
class LatestByTimeThenLowestId(ByTime):
    def _latest(self, shelf: Shelf) -> CheckpointRow | None:
        return max(sorted(shelf.checkpoints.values(), key=lambda row: row.id), key=self._time)


@mistake("ordering/latest-is-greatest-id", "ORDER BY ts DESC LIMIT 1: of equal ts the first put")
class LatestByTimeThenFirstPut(ByTime):
    def _latest(self, shelf: Shelf) -> CheckpointRow | None:
        return max(shelf.checkpoints.values(), key=self._time)


@mistake(
    "ordering/list-newest-first",
    "ORDER BY ts DESC",
    also={"ordering/pages-tile", "ordering/all-threads-newest-first"},
)
class ListedByTime(ByTime):
    def _order(self, rows: Rows) -> Rows:
        return sorted(rows, key=lambda row: (self._time(row), row.id), reverse=True)


@mistake(
    "ordering/list-newest-first",
    "ORDER BY ts DESC: of equal ts the lowest id",
    also={"ordering/pages-tile", "ordering/all-threads-newest-first"},
)
class ListedByTimeThenLowestId(ByTime):
    def _order(self, rows: Rows) -> Rows:
        return sorted(sorted(rows, key=lambda row: row.id), key=self._time, reverse=True)


@mistake("ordering/before-is-exclusive", "WHERE ts < the bound's ts", also={"ordering/pages-tile"})
class BeforeByTime(ByTime):
    def _before(self, rows: Rows, before: Any) -> Rows:
        bound = before["configurable"].get("checkpoint_id") if before else None
        times = [self._time(row) for row in rows if row.id == bound]
        if not times:
            return super()._before(rows, before)
        return [row for row in rows if self._time(row) < times[0]]


@mistake(
    "channels/history-immutable",
    "checkpoints of more than a day before the newest have expired, by their ts",
    also={"identity/put-returns-address"},
)
class ExpiredByTime(ByTime):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        super()._store_checkpoint(shelf, row)
        times = {
            id: datetime.datetime.fromisoformat(self._time(one))
            for id, one in shelf.checkpoints.items()
        }
        oldest = max(times.values()) - datetime.timedelta(days=1)
        for id in [id for id, made in times.items() if made < oldest]:
            del shelf.checkpoints[id]


@mistake(
    "identity/parent",
    "a parent is older than its child: one with a higher id is no parent",
    # Its own history goes on where a walk from parent to parent ends.
    also={"delta-history/matches-walk"},
)
class ParentsHaveLowerIds(ReferenceSaver):
    def _parent_config(self, row: CheckpointRow) -> Any:
        return super()._parent_config(row) if row.id > (row.parent or "") else None


@mistake("channels/versions-increase", "four digits, compared as text")
class VersionsOfFourDigits(ReferenceSaver):
    def get_next_version(self, current: Any, channel: None) -> Any:
        with self.store.lock:
            self.store.minted += 1
            return f"{int(str(current or 0).split('.')[0]) + 1:04}.{self.store.minted:016}"


@mistake("channels/versions-increase", "the version is the time, and clocks are set back")
class VersionsByTheClock(ReferenceSaver):
    def get_next_version(self, current: Any, channel: None) -> Any:
        with self.store.lock:
            self.store.minted += 1
            return f"{time.time():020.6f}.{self.store.minted:016}"
