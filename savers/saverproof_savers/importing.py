"""Import threads of the official SQLite savers, and verify each checkpoint."""

import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from saverproof_savers.codec import Address, encode_checkpoint, encode_metadata, make_config
from saverproof_savers.official import (
    OfficialCheckpoint,
    OfficialDatabase,
    OfficialWrite,
    open_official,
)
from saverproof_savers.reading import read_one
from saverproof_savers.saver import SqliteSaver
from saverproof_savers.writing import PutRecord, encode_values, store_checkpoint

_PLAIN = JsonPlusSerializer()


class ImportMismatchError(RuntimeError):
    """Something read back differs from the source. Nothing of its thread was stored."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The outcome of an import."""

    threads: int
    """Number of threads that are in the target now, verified."""
    already_there: int
    """How many threads were in the target before, with at least the same content."""
    checkpoints: int
    writes: int


def import_official(
    source: str | os.PathLike[str],
    saver: SqliteSaver,
    *,
    serde: SerializerProtocol | None = None,
    thread_ids: Sequence[str] | None = None,
    on_progress: Callable[[int, int], object] = lambda done, total: None,
) -> Imported:
    """Copy the threads of a database of langgraph-checkpoint-sqlite (2.x, 3.x) into ``saver``.

    Each thread is one transaction: it is copied, read back and compared with the source, then
    committed. A thread that is there already is compared too. If it holds everything, it counts as
    imported, so that an import may be repeated. The source is not changed.

    Args:
        source: the database file of the official saver.
        saver: the saver that gets the threads; its serializer encodes values.
        serde: the serializer the source was written with; by default LangGraph's own.
        thread_ids: the threads to import; by default all.
        on_progress: called with the number of threads committed so far and of all threads: at the
            start, and after each thread.

    Raises:
        ImportMismatchError: a checkpoint does not read back as it is in the source, or a thread of
            that id is there already with other content.
        SchemaError, UndecodableError, sqlite3.Error: the source cannot be read.
        ValueError: a thread id is not in the source.
    """
    with open_official(source, serde or _PLAIN) as database:
        found = database.thread_ids()
        wanted = found if thread_ids is None else list(dict.fromkeys(thread_ids))
        unknown = sorted(set(wanted) - set(found))
        if unknown:
            raise ValueError(f"{os.fspath(source)}: has no thread {unknown[0]!r}")
        counts = []
        on_progress(0, len(wanted))
        for thread_id in wanted:
            counts.append(_import_thread(database, saver, thread_id))
            on_progress(len(counts), len(wanted))
    return Imported(
        threads=len(counts),
        already_there=sum(was_there for was_there, _, _ in counts),
        checkpoints=sum(checkpoints for _, checkpoints, _ in counts),
        writes=sum(writes for _, _, writes in counts),
    )


def _import_thread(
    database: OfficialDatabase, saver: SqliteSaver, thread_id: str
) -> tuple[bool, int, int]:
    """Import a thread. Return whether it was there already, and its numbers of checkpoints and
    writes.
    """
    checkpoints = list(database.checkpoints(thread_id))
    writes = list(database.writes(thread_id))

    def work(cursor: sqlite3.Cursor) -> bool:
        was_there = _holds(cursor, saver, thread_id)
        if not was_there:
            _store(cursor, saver, checkpoints, writes)
        _verify(cursor, saver, checkpoints, writes)
        _verify_waiting(cursor, saver, thread_id, checkpoints, writes)
        return was_there

    return saver.transact(work), len(checkpoints), len(writes)


def _holds(cursor: sqlite3.Cursor, saver: SqliteSaver, thread_id: str) -> bool:
    for table in (saver.tables.checkpoints, saver.tables.writes):
        cursor.execute(f'SELECT 1 FROM "{table}" WHERE thread_id = ? LIMIT 1', (thread_id,))
        if cursor.fetchone() is not None:
            return True
    return False


def _store(
    cursor: sqlite3.Cursor,
    saver: SqliteSaver,
    checkpoints: Iterable[OfficialCheckpoint],
    writes: Iterable[OfficialWrite],
) -> None:
    serde = saver.serde
    for each in checkpoints:
        store_checkpoint(cursor, saver.queries, _record(serde, each), saver.recent)
        # The time when the checkpoint was made, if it says so itself.
        cursor.execute(
            f"""UPDATE "{saver.tables.checkpoints}"
                SET created_at = coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', ?), created_at)
                WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?""",
            (
                str(each.checkpoint.get("ts")),
                each.thread_id,
                each.checkpoint_ns,
                each.checkpoint_id,
            ),
        )
    cursor.executemany(
        saver.queries.add_write,
        (
            (
                each.thread_id,
                each.checkpoint_ns,
                each.checkpoint_id,
                each.task_id,
                each.task_path,
                each.index,
                each.channel,
                *serde.dumps_typed(each.value),
            )
            for each in writes
        ),
    )


def _record(serde: SerializerProtocol, each: OfficialCheckpoint) -> PutRecord:
    versions = dict(each.checkpoint.get("channel_versions") or {})
    values = dict(each.checkpoint.get("channel_values") or {})
    without_version = sorted(values.keys() - versions.keys())
    if without_version:
        raise ImportMismatchError(
            f"checkpoint {each.checkpoint_id} of thread {each.thread_id!r} has a value of channel "
            f"{without_version[0]!r}, which has no version"
        )
    run_id = each.metadata.get("run_id")
    new_values, in_place = encode_values(serde, values)
    return PutRecord(
        serde=serde,
        parent=Address(each.thread_id, each.checkpoint_ns, each.parent_id),
        checkpoint_id=each.checkpoint_id,
        stored=encode_checkpoint(serde, each.checkpoint),
        metadata=encode_metadata(serde, each.metadata),
        run_id=run_id if type(run_id) is str else None,
        versions=versions,
        # The source stores each checkpoint's values with it, so each is imported as it stands
        # there.
        new_versions=versions,
        new_values=new_values,
        in_place=in_place,
        given=values,
    )


def _verify(
    cursor: sqlite3.Cursor,
    saver: SqliteSaver,
    checkpoints: Sequence[OfficialCheckpoint],
    writes: Sequence[OfficialWrite],
) -> None:
    expected_writes: dict[tuple[str, str], list[tuple[str, str, Any]]] = {}
    for write in writes:
        key = (write.checkpoint_ns, write.checkpoint_id)
        expected_writes.setdefault(key, []).append((write.task_id, write.channel, write.value))
    for each in checkpoints:
        address = Address(each.thread_id, each.checkpoint_ns, each.checkpoint_id)
        snapshot = read_one(cursor, saver.queries, address)
        found = None if snapshot is None else snapshot.decode(saver.serde, "the imported row")
        pending = expected_writes.get((each.checkpoint_ns, each.checkpoint_id), [])
        for part, wanted, got in _compared(each, pending, found):
            if not _same(wanted, got):
                raise ImportMismatchError(
                    f"checkpoint {each.checkpoint_id} of thread {each.thread_id!r}, namespace "
                    f"{each.checkpoint_ns!r}: {part} is {got!r:.200}, expected {wanted!r:.200}"
                )


def _verify_waiting(
    cursor: sqlite3.Cursor,
    saver: SqliteSaver,
    thread_id: str,
    checkpoints: Sequence[OfficialCheckpoint],
    writes: Sequence[OfficialWrite],
) -> None:
    """Compare the early writes: no checkpoint has been stored that would bring them along."""
    there = {(each.checkpoint_ns, each.checkpoint_id) for each in checkpoints}
    cursor.execute(
        f"""SELECT checkpoint_ns, checkpoint_id, task_id, idx, task_path, channel, type, value
            FROM "{saver.tables.writes}" WHERE thread_id = ?""",
        (thread_id,),
    )
    found = {row[:4]: row[4:] for row in cursor if row[:2] not in there}
    for each in writes:
        if (each.checkpoint_ns, each.checkpoint_id) in there:
            continue
        key = (each.checkpoint_ns, each.checkpoint_id, each.task_id, each.index)
        path, channel, *typed = found.get(key, (None, None, "null", b""))
        wanted = (each.task_path, each.channel, each.value)
        got = (path, channel, saver.serde.loads_typed(tuple(typed)))
        if not _same(wanted, got):
            raise ImportMismatchError(
                f"write {each.index} of task {each.task_id!r} of thread {thread_id!r}, for "
                f"checkpoint {each.checkpoint_id}, is {got!r:.200}, expected {wanted!r:.200}"
            )


def _compared(
    each: OfficialCheckpoint, pending: list[tuple[str, str, Any]], found: CheckpointTuple | None
) -> list[tuple[str, Any, Any]]:
    """Yield each compared thing: its name, its form in the source, and its form as read back."""
    if found is None:
        return [("the checkpoint", "stored", "absent")]
    parent = make_config(each.thread_id, each.checkpoint_ns, each.parent_id)
    fields = dict(each.checkpoint)
    fields.setdefault("channel_versions", {})
    fields.setdefault("channel_values", {})
    return [
        ("the set of fields", sorted(fields), sorted(found.checkpoint)),
        *((name, value, dict(found.checkpoint).get(name)) for name, value in fields.items()),
        ("the metadata", dict(each.metadata), found.metadata),
        ("the parent", parent if each.parent_id else None, found.parent_config),
        ("the pending writes", pending, found.pending_writes),
    ]


def _same(wanted: Any, got: Any) -> bool:
    """Return whether two values are equal or written alike.

    Not every class can compare its objects.
    """
    try:
        if bool(wanted == got):
            return True
    except Exception:  # noqa: BLE001 - comparing runs a stranger's code; its text decides then
        return bool(_PLAIN.dumps_typed(wanted) == _PLAIN.dumps_typed(got))
    return bool(_PLAIN.dumps_typed(wanted) == _PLAIN.dumps_typed(got))
