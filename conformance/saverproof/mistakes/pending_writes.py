"""Savers that lose pending writes, or mix up their places."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Shelf, WriteRow
from saverproof.mistakes.reference.storing import SPECIAL_INDEXES
from saverproof.mistakes.registry import mistake

Batch = Sequence[tuple[str, Any]]


@mistake(
    "pending-writes/complete",
    "dict(writes): a channel written twice keeps its last value",
    also={"upsert/regular-write-first-wins"},
)
class BatchAsDict(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        return super()._rows_of_batch(list(dict(writes).items()), task_id, path)


@mistake("pending-writes/complete", "`if value is None: continue`")
class NoneWritesSkipped(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        rows = zip(super()._rows_of_batch(writes, task_id, path), writes, strict=True)
        return [row for row, (_, value) in rows if value is not None]


@mistake(
    "pending-writes/complete",
    "writes of None are taken out of the batch, and what is left is numbered",
    also={"upsert/regular-write-first-wins"},
)
class NoneWritesNotNumbered(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        kept = [write for write in writes if write[1] is not None]
        return super()._rows_of_batch(kept, task_id, path)


@mistake("pending-writes/complete", "a stored None is not shown, and keeps its index")
class NoneWritesHidden(ReferenceSaver):
    def _ordered_writes(self, rows: Iterable[WriteRow]) -> list[WriteRow]:
        shown = (row for row in rows if self._load_write(row.value) is not None)
        return super()._ordered_writes(shown)


@mistake(
    "pending-writes/complete",
    "the primary key is task and channel",
    also={"upsert/regular-write-first-wins"},
)
class WriteKeyedByChannel(ReferenceSaver):
    def _write_key(self, row: WriteRow) -> Hashable:
        return (row.task_id, row.channel)


@mistake(
    "pending-writes/complete",
    "rows are read into a dict by task and channel: the last of a channel stays",
    also={"upsert/regular-write-first-wins"},
)
class WritesReadAsDict(ReferenceSaver):
    def _ordered_writes(self, rows: Iterable[WriteRow]) -> list[WriteRow]:
        ordered = super()._ordered_writes(rows)
        return list({(row.task_id, row.channel): row for row in ordered}.values())


@mistake(
    "pending-writes/complete",
    "a `return` that stands in the loop: the first write of a batch is stored alone",
    also={"upsert/special-write-last-wins-mixed"},
)
class FirstOfTheBatchAlone(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        return super()._rows_of_batch(writes, task_id, path)[:1]


@mistake("pending-writes/complete", "the database takes ten rows a call, the rest is forgotten")
class BatchCutAtTen(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        return super()._rows_of_batch(writes, task_id, path)[:10]


@mistake(
    "pending-writes/complete",
    "a value equal to the one before is taken for a repetition",
    also={"upsert/regular-write-first-wins"},
)
class RepeatedWritesMerged(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        seen: dict[tuple[str, Any], WriteRow] = {}
        for row in super()._rows_of_batch(writes, task_id, path):
            seen.setdefault((row.channel, repr(row.value)), row)
        return list(seen.values())


@mistake(
    "pending-writes/complete",
    "a special write goes another way, and ends the batch",
    # A write that the batch does not store replaces nothing.
    also={"upsert/special-write-last-wins", "upsert/special-write-last-wins-mixed"},
)
class NothingAfterASpecialWrite(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        rows = super()._rows_of_batch(writes, task_id, path)
        for at, row in enumerate(rows):
            if row.index < 0:
                return rows[: at + 1]
        return rows


# Without an index of their own special writes are ordinary ones: nothing replaces them.
SPECIAL = {
    "upsert/special-write-last-wins",
    "upsert/special-write-last-wins-mixed",
    "upsert/regular-write-first-wins",
    "pending-writes/complete",
    "ordering/writes-sorted",
}


@mistake("pending-writes/special-index", "idx from enumerate() for every channel", also=SPECIAL)
class NoSpecialIndexes(ReferenceSaver):
    def _write_index(self, channel: str, position: int) -> int:
        return position


@mistake(
    "pending-writes/special-index",
    "idx from enumerate(), and a special write replaces what stands there",
    also=SPECIAL,
)
class SpecialWritesByPosition(NoSpecialIndexes):
    def _replaces(self, row: WriteRow) -> bool:
        return row.channel in SPECIAL_INDEXES


@mistake(
    "pending-writes/special-index",
    "idx from enumerate(), and INSERT OR REPLACE for every write",
    also=SPECIAL,
)
class EveryWriteByPosition(NoSpecialIndexes):
    def _replaces(self, row: WriteRow) -> bool:
        return True


@mistake(
    "pending-writes/special-index", "a copy of the map from before __scheduled__", also=SPECIAL
)
class ScheduledNotSpecial(ReferenceSaver):
    def _write_index(self, channel: str, position: int) -> int:
        return position if channel == "__scheduled__" else super()._write_index(channel, position)


@mistake("pending-writes/special-index", "a copy of the map from before __resume__", also=SPECIAL)
class ResumeNotSpecial(ReferenceSaver):
    def _write_index(self, channel: str, position: int) -> int:
        return position if channel == "__resume__" else super()._write_index(channel, position)


@mistake("pending-writes/special-index", "one index for whatever is special", also=SPECIAL)
class OneSpecialIndex(ReferenceSaver):
    def _write_index(self, channel: str, position: int) -> int:
        return -1 if channel in SPECIAL_INDEXES else position


@mistake("pending-writes/special-index", "an unsigned column: -3 is stored as 3", also=SPECIAL)
class UnsignedIndexes(ReferenceSaver):
    def _write_index(self, channel: str, position: int) -> int:
        return abs(super()._write_index(channel, position))


# A wrong path shows only in the order of writes.
SORTED = {"ordering/writes-sorted"}


@mistake("pending-writes/one-task-two-paths", "one path a task: the first", also=SORTED)
class FirstPathOfTheTask(ReferenceSaver):
    def _store_write(self, stored: dict[Hashable, WriteRow], row: WriteRow) -> None:
        paths = [old.path for old in stored.values() if old.task_id == row.task_id]
        super()._store_write(stored, replace(row, path=paths[0]) if paths else row)


@mistake("pending-writes/one-task-two-paths", "one path a task: the last", also=SORTED)
class LastPathOfTheTask(ReferenceSaver):
    def _store_write(self, stored: dict[Hashable, WriteRow], row: WriteRow) -> None:
        super()._store_write(stored, row)
        for key, old in list(stored.items()):
            if old.task_id == row.task_id:
                stored[key] = replace(old, path=row.path)


@mistake("pending-writes/empty-batch", "VALUES () is a syntax error")
class EmptyBatchRefused(ReferenceSaver):
    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: list[WriteRow]) -> None:
        if not rows:
            raise ValueError('near ")": syntax error')
        super()._store_batch(shelf, checkpoint_id, rows)


@mistake("pending-writes/empty-batch", "the batch's first write is looked at before anything else")
class EmptyBatchHasNoFirst(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        # Nothing else comes of it: beside other mistakes, it would predict what these do not do.
        _ = writes[0][0] in SPECIAL_INDEXES
        return super()._rows_of_batch(writes, task_id, path)


@mistake("pending-writes/empty-batch", "an empty batch is taken for the task's new, empty result")
class EmptyBatchClearsTheTask(ReferenceSaver):
    def put_writes(self, config: Any, writes: Batch, task_id: str, task_path: str = "") -> None:
        super().put_writes(config, writes, task_id, task_path)
        stored = self._shelf(self._thread_of(config), self._ns_or_root(config)).writes
        if not writes:
            of_batch = stored.get(self._writes_id(config), {})
            for key in [key for key, row in of_batch.items() if row.task_id == task_id]:
                del of_batch[key]


def _unpacked(found: CheckpointTuple) -> CheckpointTuple:
    if found.pending_writes:
        raise ValueError("too many values to unpack (expected 3)")
    return found


@mistake("pending-writes/complete", "get_tuple unpacks rows of writes wrongly, and list rightly")
class WritesCannotBeGot(ReferenceSaver):
    def _got(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        return _unpacked(found)

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, Any]:
        # A saver without a method of its own walks by get_tuple, as its base class does.
        return BaseCheckpointSaver.get_delta_channel_history(self, config=config, channels=channels)


@mistake(
    "pending-writes/complete", "rows of writes are unpacked wrongly: what has some is unreadable"
)
class WritesCannotBeRead(WritesCannotBeGot):
    def _listed(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        return _unpacked(found)


@mistake(
    "pending-writes/complete",
    "rows of writes are unpacked wrongly, but for the history of a channel",
)
class WritesCannotBeReadButWalked(ReferenceSaver):
    def _got(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        return _unpacked(found)

    def _listed(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        return _unpacked(found)


@mistake(
    "pending-writes/same-in-list", "list unpacks rows of writes wrongly, and get_tuple rightly"
)
class WritesCannotBeListed(ReferenceSaver):
    def _listed(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        return _unpacked(found)


@mistake("pending-writes/same-in-list", "a query per listed checkpoint was too dear: None")
class NoWritesInList(ReferenceSaver):
    def _listed(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        return found._replace(pending_writes=None)


@mistake("pending-writes/same-in-list", "list fills in an empty list of writes")
class EmptyWritesInList(ReferenceSaver):
    def _listed(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        return found._replace(pending_writes=[])


@mistake("pending-writes/same-in-list", "the JOIN of list knows no special writes")
class NoSpecialWritesInList(ReferenceSaver):
    def _listed(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        regular = [w for w in found.pending_writes or [] if w[1] not in SPECIAL_INDEXES]
        return found._replace(pending_writes=regular)


@mistake(
    "pending-writes/same-in-list",
    "get_tuple has an ORDER BY that list lacks",
    also={"ordering/writes-sorted"},
)
class ListedWritesUnsorted(ReferenceSaver):
    def _listed(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        return found._replace(pending_writes=(found.pending_writes or [])[::-1])


@mistake("pending-writes/same-in-list", "only the newest listed checkpoint gets its writes")
class WritesOfTheFirstListedOnly(ReferenceSaver):
    def list(self, config: Any, **narrowing: Any) -> Any:
        for at, found in enumerate(super().list(config, **narrowing)):
            yield found if at == 0 else found._replace(pending_writes=[])


@mistake(
    "pending-writes/same-in-list", "writes are read for the first page of a listing", heavy=True
)
class WritesOfTheFirstPageOnly(ReferenceSaver):
    def list(self, config: Any, **narrowing: Any) -> Any:
        for at, found in enumerate(super().list(config, **narrowing)):
            yield found if at < 100 else found._replace(pending_writes=[])


# A saver that is not told the path cannot sort by it.
PATHS = {"ordering/writes-sorted", "pending-writes/one-task-two-paths"}


@mistake("pending-writes/accepts-task-path", "the signature of before task paths", also=PATHS)
class NoTaskPath(ReferenceSaver):
    def put_writes(self, config: Any, writes: Batch, task_id: str) -> None:  # type: ignore[override]
        super().put_writes(config, writes, task_id)

    async def aput_writes(self, config: Any, writes: Batch, task_id: str) -> None:  # type: ignore[override]
        self.put_writes(config, writes, task_id)


@mistake("pending-writes/accepts-task-path", "the parameter has another name", also=PATHS)
class TaskPathRenamed(ReferenceSaver):
    def put_writes(self, config: Any, writes: Batch, task_id: str, path: str = "") -> None:
        super().put_writes(config, writes, task_id, path)

    async def aput_writes(self, config: Any, writes: Batch, task_id: str, path: str = "") -> None:
        self.put_writes(config, writes, task_id, path)


@mistake(
    "pending-writes/accepts-task-path",
    "aput_writes(*args, **kwargs) passes them on to put_writes",
    apis=("async",),
)
class AsyncPassesOnArguments(ReferenceSaver):
    async def aput_writes(self, *args: Any, **kwargs: Any) -> None:
        self.put_writes(*args, **kwargs)


@mistake(
    "pending-writes/namespace-defaults", 'config["configurable"]["checkpoint_ns"] in put_writes'
)
class WritesNeedANamespace(ReferenceSaver):
    def _writes_ns(self, config: Any) -> str:
        return str(config["configurable"]["checkpoint_ns"])


@mistake("pending-writes/namespace-defaults", "str(None) where no namespace was given")
class WritesWithoutNamespaceGoToNone(ReferenceSaver):
    def _writes_ns(self, config: Any) -> str:
        return str(config["configurable"].get("checkpoint_ns"))
