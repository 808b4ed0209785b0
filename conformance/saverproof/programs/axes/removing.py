"""Builds the end of a row's program: how its data came to be, its removal, and what follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from saverproof.programs.axes import table
from saverproof.programs.axes.covering import Row
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    GetTuple,
    ListTuples,
    Prune,
    Put,
    PutWrites,
    Step,
)
from saverproof.programs.values import Value

_LONG = "tenant-42/{0:04}/6a1f0c1e-3f41-5d7e-9a37-0d2f4c9e1b55/0b7c9d42-88a5-5c1f-8e0a-5f3d2c1b0a99"
_RUNS: Mapping[str, tuple[str, str]] = {
    "long": (_LONG.format(1), _LONG.format(2)),
    "alike in 32 characters": (
        "6a1f0c1e3f415d7e9a370d2f4c9e1b55-1",
        "6a1f0c1e3f415d7e9a370d2f4c9e1b55-2",
    ),
}
_SHORT = ("run-1", "run-2")
_ANOTHER, _UNKNOWN = "run-3", "nobody"
_TASK = 8
"""A task number that no other part of the program uses."""


def run_of(row: Row, which: int) -> dict[str, Any]:
    """Return the metadata that names a run: ``which`` is 0 for the root's run, 1 for the run of the
    later checkpoints.
    """
    point = row.get(table.RUN_ID.name, "")
    runs = _RUNS.get(point, _SHORT)
    told = {"run_id": runs[which]}
    return told | {"caused_by": runs[1 - which]} if point == "elsewhere in metadata" else told


def removal_of(row: Row, model: Model, threads: tuple[str, str, str]) -> Iterator[Step]:
    """Yield the row's removal or copy, with the steps and reads before and after it.

    ``threads`` are the thread that the row's steps have filled, another filled one, and an empty
    one.
    """
    subject, beside, empty = threads
    stored = _puts(model, subject)
    special = list(_special(row, stored))
    yield from special
    batches = [*_batches(model, subject), *special]
    origin = row[table.ORIGIN.name]
    match origin:
        case "put again under another run":
            yield replace(stored[-1], metadata={**(stored[-1].metadata or {}), "run_id": _ANOTHER})
        case "copied":
            yield CopyThread(subject, "d")
            subject, stored = "d", [replace(put, thread="d") for put in stored]
            # The copy goes on under another run, after what its source's runs have stored.
            newest = max(stored, key=lambda put: put.number)
            yield replace(_child(newest), metadata={"run_id": _ANOTHER})
        case "put again after a removal":
            yield DeleteThread(subject)
            yield from stored
    yield ListTuples(subject)
    yield _removal(row, subject, empty)
    yield from _reads(subject, beside, empty)
    yield from _after(row, (subject, beside, empty), stored, batches)


def _puts(model: Model, thread: str) -> list[Put]:
    """Return the puts of a thread, parents before children."""
    history = (r.step for records in model.threads[thread].values() for r in records.values())
    left, ordered = {put.number: put for put in history}, list[Put]()
    while left:
        number = next(n for n, put in left.items() if put.parent not in left)
        ordered.append(left.pop(number))
    return ordered


def _batches(model: Model, thread: str) -> Iterator[PutWrites]:
    """Yield the thread's batches again with other values. Regular writes must not be replaced."""
    for address, writes in model.writes.items():
        if address[0] == thread:
            for task in dict.fromkeys(write.task for write in writes.values()):
                own = sorted((w for w in writes.values() if w.task == task), key=lambda w: w.index)
                again = tuple((w.channel, Value("text", "again")) for w in own)
                yield PutWrites(*address, task, again, own[0].path)


def _special(row: Row, stored: list[Put]) -> Iterator[PutWrites]:
    """Yield special writes on the last two checkpoints."""
    point = row[table.SPECIAL.name]
    special = (("__interrupt__", Value("list", 1)), ("__resume__", Value("text", "yes")))
    regular = (("count", Value("integer", 1)),) if point == "beside regular ones" else ()
    for put in stored[-2:] if point != "none" else ():
        writes = (*regular, *special)
        yield PutWrites(put.thread, put.namespace, put.number, _TASK, writes)


def _removal(row: Row, subject: str, empty: str) -> Step:
    def listed(name: str) -> tuple[str, ...]:
        match row.get(table.LISTED.name):
            case "an unknown one first":
                return (_UNKNOWN, name)
            case "an unknown one last":
                return (name, _UNKNOWN)
        return (name,)

    match row[table.REMOVAL.name]:
        case "delete_thread":
            return DeleteThread(subject)
        case "delete_for_runs":
            return DeleteForRuns(listed(str(run_of(row, 1)["run_id"])))
        case "copy_thread":
            return CopyThread(subject, empty)
        case "prune of all":
            return Prune(listed(subject), "delete")
    return Prune(listed(subject), "keep_latest")


def _after(
    row: Row, threads: tuple[str, str, str], stored: list[Put], batches: list[PutWrites]
) -> Iterator[Step]:
    subject, _, empty = threads
    copied = row[table.REMOVAL.name] == "copy_thread"
    match row[table.AFTER.name]:
        case "the same is put again":
            # Only the root is put again: the others lost their parent with the removal.
            root = next(put for put in stored if put.parent is None)
            again = replace(root, thread=empty) if copied else root
            yield replace(again, changes=_again(root))
            yield from (replace(batch, thread=empty) for batch in batches if copied)
        case "another removal":
            yield DeleteThread(subject)
        case _:
            return
    yield from _reads(*threads)


def _again(put: Put) -> tuple[tuple[str, Value | None], ...]:
    """Return the changes of a put, with another value for the channel "count"."""
    return tuple((n, Value("integer", 77) if n == "count" else v) for n, v in put.changes)


def _child(put: Put) -> Put:
    changes = (("count", Value("integer", 99)),)
    return Put(put.thread, put.namespace, put.number + 50, put.number, changes=changes)


def _reads(*threads: str) -> Iterator[Step]:
    for thread in threads:
        yield GetTuple(thread)
        yield ListTuples(thread)
