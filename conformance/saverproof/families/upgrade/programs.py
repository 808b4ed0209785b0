"""Makes the programs that two releases are asked to store, out of those of the functional families.
Reads are kept apart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from saverproof.families.upgrade.release_program import EXPRESSION
from saverproof.programs.axes.crossing import crossing
from saverproof.programs.directed.every_value import EVERY_VALUE
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import (
    PLAIN,
    DeleteThread,
    DeltaHistory,
    GetTuple,
    ListTuples,
    Program,
    Put,
    PutHistory,
    PutWrites,
    Step,
)
from saverproof.programs.steps.expanding import puts_of
from saverproof.programs.values import Value
from saverproof.savers.execution.calls import get_config, list_arguments, put_call, put_writes_call

_FAMILIES = (
    *("ordering", "identity", "channels", "serialization"),
    *("upsert", "pending-writes", "filter", "delta-history"),
)
_EACH = {"quick": 6, "default": 2, "deep": 1}
"""How many neighbouring programs that cross axes share one that is taken, by profile: neighbours
have most points in common.
"""

_MOST_WRITTEN = 30
"""The most writing steps of a program. Releases do not differ by long histories, and every
checkpoint of every program is read, alone and in listings.
"""


def programs_of(profile: str, able: Collection[str]) -> list[Program]:
    """Return the programs of a profile for a saver with these capabilities."""
    crossed = [p for family in _FAMILIES for p in crossing(family, able, heavy=False)]
    made = [plain(program) for program in (*EVERY_VALUE, *crossed[:: _EACH[profile]])]
    fitting = (one for one in made if 0 < len(written(one)) <= _MOST_WRITTEN)
    return list({repr(one): one for one in fitting}.values())


def plain(program: Program) -> Program:
    """Return a program that every release can take, and that can be written as data.

    Its configs have no runtime objects, its metadata have no values of the catalogue, and each put
    of a history is a step.
    """
    return tuple(
        _without_objects(step)
        for given in program
        for step in (puts_of(given) if isinstance(given, PutHistory) else (given,))
        if isinstance(step, _TAKEN)
    )


_WRITING = (Put, PutWrites, DeleteThread)
_TAKEN = (*_WRITING, GetTuple, ListTuples, DeltaHistory)


def _without_objects(step: Step) -> Step:
    match step:
        case Put():
            fields = "usual" if step.fields == "pending-sends" else step.fields
            return replace(
                step, extras=PLAIN, legacy_writes=None, fields=fields, mutate_inputs=False
            )
        case PutWrites():
            return replace(step, extras=PLAIN, mutate_inputs=False)
        case GetTuple() | ListTuples():
            return replace(step, extras=PLAIN)
    return step


def written(program: Program) -> Program:
    """Return the steps of a program that write."""
    return tuple(step for step in program if isinstance(step, _WRITING))


def takes_turns(program: Program) -> bool:
    """Return whether the program has the same result, whichever release takes which step.

    For this, all writes of one task to one checkpoint must come in one step: of several batches,
    old releases let the last one win, and new ones the first.
    """
    batches = [
        (step.thread, step.namespace, step.number, step.task)
        for step in program
        if isinstance(step, PutWrites)
    ]
    return len(batches) == len(set(batches))


@dataclass(frozen=True, slots=True)
class CallAsData:
    """An operation and its arguments as data."""

    operation: str
    arguments: tuple[Any, ...]


def settled(step: Step, model: Model, thread: str, next_version: Any) -> CallAsData:
    """Return the call for a step that writes, on a thread of this name. The model takes the step as
    well.
    """
    planned = model.apply(step, next_version)
    match step:
        case Put() if planned is not None:
            call = put_call(step, planned, thread)
            values = {
                name: expression(channel.value)
                for name, channel in planned.channels.items()
                if channel.value is not None and name in call.checkpoint["channel_values"]
            }
            checkpoint = {**call.checkpoint, "channel_values": values}
            return CallAsData("put", (call.config, checkpoint, call.metadata, call.new_versions))
        case PutWrites():
            batch = put_writes_call(step, thread)
            writes = [[channel, expression(value)] for channel, value in step.writes]
            return CallAsData("put_writes", (batch.config, writes, batch.task_id, batch.task_path))
    return CallAsData("delete_thread", (thread,))


def expression(value: Value) -> Mapping[str, Any]:
    """Return the data that stands for a value, for the process of a release."""
    return {EXPRESSION: [value.source(), sorted(value.imports())]}


def questions(program: Program, name: str) -> list[dict[str, Any]]:
    """Return the questions to ask after a program. ``name`` is the prefix of its threads' names.

    They ask for all that the program wrote, by id, as the latest and in listings. The program's own
    reads follow.
    """
    return list({repr(question): question for question in _questions(program, name)}.values())


def _questions(program: Program, name: str) -> Iterator[dict[str, Any]]:
    for step in program:
        if isinstance(step, Put | PutWrites):
            yield _get(GetTuple(step.thread, step.namespace), name)
            yield _get(GetTuple(step.thread, step.namespace, step.number), name)
        if isinstance(step, _WRITING):
            config, _ = list_arguments(ListTuples(step.thread), name + step.thread)
            yield {"kind": "list", "config": config}
        elif isinstance(step, GetTuple):
            yield _get(step, name)
        elif isinstance(step, ListTuples) and step.thread is not None:
            config, more = list_arguments(step, name + step.thread)
            given = {key: value for key, value in more.items() if value is not None}
            yield {"kind": "select", "config": config, **given}
        elif isinstance(step, DeltaHistory):
            place = GetTuple(step.thread, step.namespace, step.number)
            config = get_config(place, name + step.thread)
            yield {"kind": "delta", "config": config, "channels": list(step.channels)}


def _get(step: GetTuple, name: str) -> dict[str, Any]:
    return {"kind": "get", "config": get_config(step, name + step.thread)}
