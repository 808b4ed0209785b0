"""Savers that go wrong only when something is long, large or numerous."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, ClassVar

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Blob, CheckpointRow, Shelf, WriteRow
from saverproof.mistakes.registry import mistake

Rows = list[CheckpointRow]
Batch = Sequence[tuple[str, Any]]
MIB = 2**20

# -- pages --------------------------------------------------------------------------------


@mistake(
    "ordering/limit-is-a-prefix",
    "a page has at most a hundred rows, whatever was asked",
    heavy=True,
)
class HundredAtMost(ReferenceSaver):
    def _limited(self, rows: Rows, limit: int | None) -> Rows:
        return rows if limit is None else rows[: min(limit, 100)]


@mistake(
    "identity/list-selects",
    "the server gives a thousand rows at most, and nobody asks for the next page",
    heavy=True,
)
class ThousandAtMost(ReferenceSaver):
    def _limited(self, rows: Rows, limit: int | None) -> Rows:
        return super()._limited(rows, 1000 if limit is None else limit)


@mistake(
    "identity/list-selects",
    "all threads are read in pages of ten, each below the last id: others have that id too",
)
class TiesAtPagesLost(ReferenceSaver):
    def _selected(self, config: Any) -> Rows:
        rows = super()._selected(config)
        if config is not None:
            return rows
        left, kept = self._order(rows), Rows()
        while left:
            page = left[:10]
            kept += page
            left = [row for row in left if row.id < page[-1].id]
        return kept


@mistake(
    "filter/equality",
    "the filter is for the database's page of a hundred; a thin one is last",
)
class StopsAtAThinPage(ReferenceSaver):
    def _filtered(self, rows: Rows, filter: dict[str, Any] | None) -> Rows:
        kept = Rows()
        for start in range(0, len(rows), 100):
            found = super()._filtered(rows[start : start + 100], filter)
            kept += found
            if not found:
                break
        return kept


@mistake(
    "ordering/limit-is-a-prefix",
    "a page is refilled after the filter, and its last row is taken for the next page's first",
)
class LastOfAThinPageLost(ReferenceSaver):
    def _page(self, config: Any, filter: Any, before: Any, limit: Any) -> Rows:
        rows = super()._page(config, filter, before, None)
        if not filter or not limit or len(rows) <= limit:
            return self._limited(rows, limit)
        return rows[: limit - 1]


# -- batches ------------------------------------------------------------------------------


@mistake(
    "pending-writes/complete", "VALUES (?, ?), ...: SQLite took 999 parameters once", heavy=True
)
class BatchBeyondParametersFails(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        if len(writes) > 999:
            raise ValueError("too many SQL variables")
        return super()._rows_of_batch(writes, task_id, path)


@mistake(
    "pending-writes/complete",
    "a bulk insert takes a thousand rows, the rest is not sent",
    heavy=True,
)
class BatchCutAtAThousand(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        return super()._rows_of_batch(writes, task_id, path)[:1000]


# -- values -------------------------------------------------------------------------------


@mistake("serialization/channel-values", "a blob column of 1 MiB cuts what is longer")
class ValuesCutAtAMebibyte(ReferenceSaver):
    def _dump_value(self, value: Any) -> Blob:
        kind, data = super()._dump_value(value)
        return kind, data[:MIB]


class Chunked(ReferenceSaver):
    """A base saver that keeps a value in numbered pieces, and joins them in text order."""

    size: ClassVar[int]

    def _dump_value(self, value: Any) -> Blob:
        kind, data = super()._dump_value(value)
        starts = range(0, len(data), self.size)
        pieces = {str(number): data[at : at + self.size] for number, at in enumerate(starts)}
        return kind, b"".join(pieces[number] for number in sorted(pieces))


@mistake("serialization/channel-values", "pieces of 64 kB are put together as 0, 1, 10, 11, 2")
class PiecesOutOfOrder(Chunked):
    size = 65_536


@mistake("serialization/channel-values", "items of 400 kB are read as 0, 1, 10, 11, 2", heavy=True)
class ItemsOutOfOrder(Chunked):
    size = 400_000


@mistake(
    "serialization/channel-values", "a message of the bus holds 1 MiB: larger ones are refused"
)
class ValuesRefusedAboveAMebibyte(ReferenceSaver):
    def _dump_value(self, value: Any) -> Blob:
        kind, data = super()._dump_value(value)
        if len(data) > MIB:
            raise ValueError("message too large")
        return kind, data


@mistake("serialization/write-values", "a blob column of 1 MiB cuts what is longer")
class WritesCutAtAMebibyte(ReferenceSaver):
    def _dump_write(self, value: Any) -> Blob:
        kind, data = super()._dump_write(value)
        return kind, data[:MIB]


@mistake(
    "serialization/channel-values",
    "a document of the database holds 16 MB, and is cut there",
    heavy=True,
)
class ValuesCutAtSixteenMegabytes(ReferenceSaver):
    def _dump_value(self, value: Any) -> Blob:
        kind, data = super()._dump_value(value)
        return kind, data[:16_000_000]


@mistake(
    "channels/history-immutable",
    "small values lie in the checkpoint's row, all others by channel, without the version",
    also={"channels/unchanged-carried", "deletion/copy-independent", "upsert/put-replaces"},
)
class LargeValuesByChannel(ReferenceSaver):
    def _values_to_store(self, shelf: Shelf, row: Any, checkpoint: Any, new: Any) -> Any:
        values = super()._values_to_store(shelf, row, checkpoint, new)
        given = checkpoint["channel_values"]
        for channel, version in row.versions.items():
            if (channel, version) in values and not isinstance(given.get(channel), _INLINE):
                values[channel] = values.pop((channel, version))
                shelf.values.pop((channel, version), None)
        return values

    def _blobs(self, shelf: Shelf, row: CheckpointRow) -> dict[str, Blob | None]:
        return {
            channel: shelf.values.get((channel, version), shelf.values.get(channel))
            for channel, version in row.versions.items()
        }


_INLINE = (int, str, float, bool, type(None))


@mistake(
    "serialization/channel-values",
    "WHERE channel IN (...): the first hundred are asked for",
)
class HundredChannelsAtMost(ReferenceSaver):
    def _blobs(self, shelf: Shelf, row: CheckpointRow) -> dict[str, Blob | None]:
        return dict(list(super()._blobs(shelf, row).items())[:100])


# -- delta channels -----------------------------------------------------------------------


@mistake("delta-history/matches-walk", "WITH RECURSIVE ... LIMIT 100")
class WalkEndsAfterAHundred(ReferenceSaver):
    def _ancestors(self, shelf: Shelf, row: CheckpointRow) -> Iterator[CheckpointRow]:
        return islice(super()._ancestors(shelf, row), 100)


@mistake("delta-history/matches-walk", "every channel is given what the first one asked for has")
class FirstChannelForAll(ReferenceSaver):
    def get_delta_channel_history(self, *, config: Any, channels: Any) -> Any:
        answer = dict(super().get_delta_channel_history(config=config, channels=channels))
        first = answer[channels[0]] if len(channels) > 2 else None
        return {name: first or answer[name] for name in answer}


@mistake(
    "delta-history/matches-walk", "an older parent is one with a lower id", also={"identity/parent"}
)
class WalkByLowerIds(ReferenceSaver):
    def _ancestors(self, shelf: Shelf, row: CheckpointRow) -> Iterator[CheckpointRow]:
        below = row.id
        for ancestor in super()._ancestors(shelf, row):
            if ancestor.id > below:
                return
            below = ancestor.id
            yield ancestor
