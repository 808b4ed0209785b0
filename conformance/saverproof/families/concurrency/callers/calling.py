"""Turns operations into calls of a saver, and tuples into what they show."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from saverproof.errors import describe
from saverproof.families.concurrency.callers.records import (
    FIRST_OF_ROUNDS,
    PLACES,
    Operation,
    OperationKind,
    ShownTuple,
    TimedCall,
    copy_of,
)
from saverproof.families.concurrency.callers.schedules import UPKEEP
from saverproof.families.concurrency.callers.workload import KNOWN, VERSIONS, parent_of, version_of
from saverproof.programs.small import TASK_PATH
from saverproof.programs.steps.identifiers import mint, task_id, timestamp
from saverproof.programs.values import show
from saverproof.savers.execution.calls import PutCall, PutWritesCall, checkpoint_format
from saverproof.savers.execution.driver import ApiDriver, AwaitedDriver

CHANNELS = ("count", "notes")
MOST_NUMBERS = 400
"""The most checkpoints of one place. The numbers of the next place are higher, so that no id stands
in two namespaces.
"""
_WIDTH = 60


class Caller:
    """One user of a saver, through a driver. ``tick`` is called after each operation."""

    def __init__(
        self, driver: ApiDriver, number: int, versions: Sequence[Any], tick: Callable[[], object]
    ) -> None:
        self.number = number
        self.events: list[TimedCall] = []
        self._driver = driver
        self._versions = versions
        self._tick = tick

    def call(self, operation: Operation) -> None:
        """Make a call, and record its times and its answer."""
        UPKEEP.set(operation.kind.maintains)
        began = time.monotonic_ns()
        try:
            answer = self._asked(operation)
        except Exception as error:  # noqa: BLE001 - a saver may raise anything; it is an answer
            self._keep(operation, began, error=error)
        else:
            self._keep(operation, began, answer)

    async def await_call(self, operation: Operation) -> None:
        """Make a call with a driver whose answers are awaited, and record its times and its
        answer.
        """
        UPKEEP.set(operation.kind.maintains)
        began = time.monotonic_ns()
        try:
            answer = await self._asked(operation)
        except Exception as error:  # noqa: BLE001 - a saver may raise anything; it is an answer
            self._keep(operation, began, error=error)
        else:
            self._keep(operation, began, answer)

    def _keep(
        self, operation: Operation, began: int, answer: Any = None, error: Exception | None = None
    ) -> None:
        ended = time.monotonic_ns()
        if operation.kind is OperationKind.LIST:
            found = answer or []
        else:
            found = [answer] if operation.kind.reads and answer is not None else []
        said = None if error is None else describe(error)
        shown = tuple(shown_of(one) for one in found)
        self.events.append(TimedCall(self.number, operation, began, ended, said, shown))
        self._tick()

    def _asked(self, operation: Operation) -> Any:
        driver = self._driver
        match operation.kind:
            case OperationKind.PUT:
                return driver.put(put_call(operation, self._versions))
            case OperationKind.WRITES:
                return driver.put_writes(put_writes_call(operation))
            case OperationKind.LIST:
                return driver.list_tuples(config_of(operation), {})
            case kind if kind.maintains:
                return self._maintained(operation)
            case _:
                return driver.get_tuple(config_of(operation))

    def _maintained(self, operation: Operation) -> Any:
        driver, thread = self._driver, PLACES[operation.place][0]
        match operation.kind:
            case OperationKind.DELETE:
                return driver.invoke("delete_thread", thread)
            case OperationKind.PRUNE:
                return driver.invoke("prune", [thread], strategy="keep_latest")
            case OperationKind.PRUNE_ALL:
                return driver.invoke("prune", [thread], strategy="delete")
            case OperationKind.DELETE_RUN:
                return driver.invoke("delete_for_runs", [operation.run])
            case OperationKind.COPY:
                return driver.invoke("copy_thread", thread, PLACES[copy_of(operation.place)][0])
            case _:
                return self._set_up()

    def _set_up(self) -> Any:
        """Call ``setup``, sync or async. It is not in the base class: many savers have one form of
        it for both APIs.
        """
        setup = getattr(self._driver.saver, "setup", _nothing)
        awaited = inspect.iscoroutinefunction(setup)
        if isinstance(self._driver, AwaitedDriver):
            return setup() if awaited else asyncio.to_thread(setup)
        return None if awaited else setup()


def _nothing() -> None:
    """Stand in for a method that the saver does not have."""


def minted(saver: Any) -> list[Any]:
    """Return versions that the saver makes, each from the one before."""
    versions: list[Any] = []
    current = None
    for _ in range(VERSIONS):
        current = saver.get_next_version(current, None)
        versions.append(current)
    return versions


def config_of(operation: Operation) -> dict[str, Any]:
    """The config of a read or of a batch."""
    thread, namespace = PLACES[operation.place]
    configurable = {"thread_id": thread, "checkpoint_ns": namespace}
    if operation.number:
        configurable["checkpoint_id"] = _id(operation, operation.number)
    return {"configurable": configurable}


def put_call(operation: Operation, versions: Sequence[Any]) -> PutCall:
    """Return the arguments of a put: every part of the checkpoint names the put's tag."""
    thread, namespace = PLACES[operation.place]
    configurable = {"thread_id": thread, "checkpoint_ns": namespace}
    if parent := parent_of(operation):
        configurable["checkpoint_id"] = _id(operation, parent)
    version = dict.fromkeys(CHANNELS, versions[version_of(operation)])
    changed = CHANNELS[:1] if operation.carries else CHANNELS
    if operation.carries:
        version[CHANNELS[1]] = versions[0]
    own, other, said = operation.parts
    values: list[Any] = [own, other]
    if operation.place >= FIRST_OF_ROUNDS:
        # Many savers keep texts with the checkpoint, and lists apart from it.
        values[1] = [other]
    checkpoint = {
        "v": checkpoint_format(),
        "ts": timestamp(operation.number),
        "id": _id(operation, operation.number),
        "channel_values": dict(zip(CHANNELS, values, strict=True)),
        "channel_versions": version,
        "versions_seen": {"__input__": {}},
        "updated_channels": list(changed),
    }
    parents = {"": mint(KNOWN[0])} if namespace else {}
    metadata = {"source": "loop", "step": operation.number, "parents": parents, "said": said}
    if operation.run:
        metadata["run_id"] = operation.run
    new_versions = {name: version[name] for name in changed}
    return PutCall({"configurable": configurable}, checkpoint, metadata, new_versions)


def put_writes_call(operation: Operation) -> PutWritesCall:
    """Return the arguments of a put_writes: each value names the batch's tag and its position in
    the batch.
    """
    writes = [
        (CHANNELS[place % len(CHANNELS)], f"w{operation.tag}.{place}")
        for place in range(operation.count)
    ]
    return PutWritesCall(config_of(operation), writes, task_id(operation.task), TASK_PATH)


def _id(operation: Operation, number: int) -> str:
    """Return a checkpoint's id. The threads of all rounds have the same ids; two namespaces never
    do.
    """
    place = operation.place
    return mint((place % 2 if place >= FIRST_OF_ROUNDS else place) * MOST_NUMBERS + number)


@lru_cache(maxsize=1)
def _numbers() -> dict[str, int]:
    return {mint(n): n % MOST_NUMBERS for n in range(1, FIRST_OF_ROUNDS * MOST_NUMBERS)}


@lru_cache(maxsize=1)
def _tasks() -> dict[str, int]:
    return {task_id(number): number for number in range(2_000)}


def shown_of(found: Any) -> ShownTuple:
    """Return the parts of a tuple that are compared, even if the tuple is malformed."""
    try:
        values = found.checkpoint.get("channel_values", {})
        parts = (*(_text(values.get(name)) for name in CHANNELS), _text(found.metadata.get("said")))
        number = _numbers().get(found.config["configurable"]["checkpoint_id"], -1)
        inside = _numbers().get(found.checkpoint["id"], -1)
        writes: dict[int, list[str]] = {}
        for task, _, value in found.pending_writes or ():
            writes.setdefault(_tasks().get(str(task), -1), []).append(_text(value))
        return ShownTuple(
            number if number == inside else -1,
            parts,
            tuple((task, tuple(sorted(said, key=_place))) for task, said in sorted(writes.items())),
            _parent(found.parent_config),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        return ShownTuple(-1, (f"no tuple: {describe(error, 80)}",))


def _parent(config: Any) -> int:
    """Return the number of the parent that a config names; -1 if it names none of the kit's."""
    if config is None:
        return 0
    try:
        return _numbers().get(config["configurable"]["checkpoint_id"], -1)
    except (KeyError, TypeError):
        return -1


def _text(value: Any) -> str:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, str) else f"({show(value, _WIDTH)})"


def _place(said: str) -> tuple[int, str]:
    place = said.rpartition(".")[2]
    return (int(place) if place.isdigit() else 0, said)
