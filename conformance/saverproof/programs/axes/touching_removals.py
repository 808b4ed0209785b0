"""Finds the points on the axes of removals and copies that a step touches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from saverproof.programs.axes import table
from saverproof.programs.axes.axis import Touched
from saverproof.programs.model.records import COPIED, SPECIAL_INDEX, Record
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    Prune,
    Put,
    PutWrites,
)

_COLUMN, _UUID, _MANY = 32, 36, 100


def put(step: Put, model: Model) -> Iterator[Touched]:
    """Yield the points of the axes that a put touches: its run, and whether it is put again."""
    yield from _run_id(step, model)
    address = (step.thread, step.namespace, step.number)
    present = model.record(address)
    if address in model.gone:
        yield table.ORIGIN.at("put again after a removal")
        yield table.AFTER.at("the same is put again")
    if present is None:
        yield table.ORIGIN.at("put")
    elif _run(present) != (step.metadata or {}).get("run_id"):
        yield table.ORIGIN.at("put again under another run")
    elif COPIED in present.marks:
        yield table.AFTER.at("the same is put again")


def special_writes(step: PutWrites) -> Iterator[Touched]:
    """Yield the point that a batch touches: no special writes, only such, or some beside others."""
    special = sum(channel in SPECIAL_INDEX for channel, _ in step.writes)
    if not special:
        yield table.SPECIAL.at("none")
    else:
        alone = special == len(step.writes)
        yield table.SPECIAL.at("alone" if alone else "beside regular ones")


def delete_thread(step: DeleteThread, model: Model) -> Iterator[Touched]:
    """Yield the points of the axes that deleting a thread touches."""
    yield table.REMOVAL.at("delete_thread")
    yield table.LISTED.at("one")
    yield from _removed(model, (step.thread,))


def copy_thread(step: CopyThread, model: Model) -> Iterator[Touched]:
    """Yield the points of the axes that copying a thread touches."""
    yield table.REMOVAL.at("copy_thread")
    yield table.LISTED.at("one")
    yield from _removed(model, (step.source,))


def prune(step: Prune, model: Model) -> Iterator[Touched]:
    """Yield the points of the axes that a prune touches."""
    known = [thread in model.threads for thread in step.threads]
    if any(known):
        of_all = step.strategy == "delete"
        yield table.REMOVAL.at("prune of all" if of_all else "prune to the latest")
        yield from _listed(known)
        yield from _removed(model, step.threads)


def delete_for_runs(step: DeleteForRuns, model: Model) -> Iterator[Touched]:
    """Yield the points of the axes that deleting runs touches."""
    yield table.REMOVAL.at("delete_for_runs")
    records = [model.record(address) for address in model.addresses()]
    known = {_run(record) for record in records if record is not None}
    yield from _listed([run in known for run in step.runs])
    yield from _removed(model, tuple(model.threads))


def _run_id(step: Put, model: Model) -> Iterator[Touched]:
    run = (step.metadata or {}).get("run_id")
    if not isinstance(run, str):
        return
    yield table.RUN_ID.at("long" if len(run) > _UUID else "short")
    for record in model.history(step.thread, step.namespace).values():
        other = _run(record)
        if isinstance(other, str) and other != run:
            if other[:_COLUMN] == run[:_COLUMN]:
                yield table.RUN_ID.at("alike in 32 characters")
            if other in (step.metadata or {}).values():
                yield table.RUN_ID.at("elsewhere in metadata")


def _run(record: Record) -> Any:
    return (record.merged | record.metadata).get("run_id")


def _listed(known: list[bool]) -> Iterator[Touched]:
    if len(known) == 1:
        yield table.LISTED.at("one")
    elif known and any(known):
        if not known[0]:
            yield table.LISTED.at("an unknown one first")
        if not known[-1]:
            yield table.LISTED.at("an unknown one last")


def _removed(model: Model, threads: tuple[str, ...]) -> Iterator[Touched]:
    """Yield the points for what these threads hold, and for an earlier removal or copy."""
    yield table.AFTER.at("questions")
    if model.gone or model.copies:
        yield table.AFTER.at("another removal")
    for thread in threads:
        namespaces = model.threads.get(thread, {})
        if namespaces:
            many = len(namespaces)
            name = "1" if many == 1 else "2 to 99" if many < _MANY else "100 and more"
            yield table.PLACES.at(name)
        if any(COPIED in one.marks for records in namespaces.values() for one in records.values()):
            yield table.ORIGIN.at("copied")
