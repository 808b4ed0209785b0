"""Drives a saver through one API, and keeps what a well-behaved caller would have to remember."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

Place = tuple[str, str, int]


def finish(coroutine: Any) -> Any:
    """Run a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    coroutine.close()
    raise AssertionError("the coroutine waits")


def gather(items: Any) -> list[Any]:
    """Collect an async iterator that never waits."""
    collected = []
    iterator = items.__aiter__()
    while True:
        try:
            collected.append(finish(iterator.__anext__()))
        except StopAsyncIteration:
            return collected


class Probe:
    """A caller. What an operation raises is its answer, by the name of the exception's class."""

    def __init__(self, open_at: Callable[[Path], Any], path: Path, api: str) -> None:
        self._open_at, self.path, self._api = open_at, path, api
        self._others = count()
        self.saver: Any = open_at(path)
        self.reads, self.writes_by = ("sync", "async") if api == "crossed" else (api, api)
        self.values: dict[Place, dict[str, Any]] = {}
        self.versions: dict[Place, dict[str, Any]] = {}

    def reopen(self) -> None:
        """Close the saver, and open another on the same store."""
        self.saver.close()
        self.saver = self._open_at(self.path)

    def beside(self) -> Probe:
        """Return a caller with a saver of its own on the same store."""
        return Probe(self._open_at, self.path, self._api)

    def elsewhere(self) -> Probe:
        """Return a caller in a workspace of its own."""
        return Probe(self._open_at, self.path / f"{next(self._others)}", self._api)

    def attempt(self, action: Callable[[], Any]) -> Any:
        """Return the answer of the action, or what it raised."""
        try:
            return action()
        except Exception as error:  # noqa: BLE001 (any exception is an answer)
            return f"raised {type(error).__name__}"

    def call(self, name: str, *args: Any, **options: Any) -> Any:
        """Call a method of the saver by the API in use."""
        reading = name in {"get_tuple", "list", "get_delta_channel_history"}
        if (self.reads if reading else self.writes_by) == "sync":
            found = getattr(self.saver, name)(*args, **options)
            return list(found) if name == "list" else found
        found = getattr(self.saver, f"a{name}")(*args, **options)
        return gather(found) if name == "list" else finish(found)

    # -- operations -----------------------------------------------------------------------

    def config(self, thread: str = "a", ns: str | None = "", id: Any = ..., **extra: Any) -> Any:
        """Return a config; a number stands for a checkpoint id."""
        configurable: dict[str, Any] = {"thread_id": thread, **extra}
        if ns is not None:
            configurable["checkpoint_ns"] = ns
        if id is not ...:
            configurable["checkpoint_id"] = self.id(id)
        return {"configurable": configurable}

    def id(self, number: Any) -> Any:
        """Return the checkpoint id of a number; anything else stays what it is."""
        return f"1f000000-0000-6000-8000-{number:012d}" if isinstance(number, int) else number

    def checkpoint(
        self,
        place: Place,
        parent: Any = None,
        values: dict[str, Any] | None = None,
        drop: Sequence[str] = (),
        **fields: Any,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return a checkpoint and its new versions, grown from its parent."""
        before = (*place[:2], parent)
        held = {**self.values.get(before, {}), **(values or {})}
        versions = dict(self.versions.get(before, {}))
        newest = max(versions.values(), default=None)
        new = {c: self.saver.get_next_version(newest, None) for c in {*(values or {}), *drop}}
        if new:
            new = dict.fromkeys(new, min(new.values()))
        self.values[place] = {c: value for c, value in held.items() if c not in drop}
        self.versions[place] = versions | new
        checkpoint = {
            "v": 4,
            "id": self.id(place[2]),
            "ts": f"2026-11-21T20:26:{place[2] % 60:02d}.123456+00:00",
            "channel_values": dict(self.values[place]),
            "channel_versions": dict(self.versions[place]),
            "versions_seen": {},
            "updated_channels": None,
            **fields,
        }
        return checkpoint, new

    def put(
        self,
        number: int,
        *,
        thread: str = "a",
        ns: str = "",
        parent: Any = None,
        values: dict[str, Any] | None = None,
        drop: Sequence[str] = (),
        metadata: dict[str, Any] | None = None,
        config: dict[str, Any] | None = None,
        **fields: Any,
    ) -> Any:
        """Put a checkpoint; `config` is merged into the config."""
        checkpoint, new = self.checkpoint((thread, ns, number), parent, values, drop, **fields)
        given = self.config(thread, ns, *([] if parent is None else [parent])) | (config or {})
        stored = {"source": "loop", "step": number, "parents": {}} | (metadata or {})
        return self.attempt(lambda: self.call("put", given, checkpoint, stored, new))

    def write(
        self,
        number: Any,
        writes: Sequence[tuple[str, Any]],
        task: str = "t1",
        path: str = "",
        *,
        thread: str = "a",
        ns: str | None = "",
    ) -> Any:
        """Put writes on a checkpoint."""
        config = self.config(thread, ns, number)
        return self.attempt(lambda: self.call("put_writes", config, list(writes), task, path))

    def delete(self, thread: str = "a") -> Any:
        """Delete a thread."""
        return self.attempt(lambda: self.call("delete_thread", thread))

    # -- reads ----------------------------------------------------------------------------

    def tuple(self, *address: Any, **extra: Any) -> Any:
        """Return the tuple at an address."""
        return self.attempt(lambda: self.call("get_tuple", self.config(*address, **extra)))

    def tuples(self, config: Any = None, **options: Any) -> Any:
        """Return the tuples that a listing gives."""
        return self.attempt(lambda: self.call("list", config, **options))

    def id_of(self, *address: Any, **extra: Any) -> Any:
        """Return the number of the checkpoint at an address."""
        return self.number(self.tuple(*address, **extra))

    def number(self, found: Any) -> Any:
        """Return the number of a tuple's checkpoint."""
        if found is None or isinstance(found, str):
            return found
        return int(found.checkpoint["id"][-12:], 16) if found.checkpoint else "empty"

    def ids(self, config: Any = None, **options: Any) -> Any:
        """Return the numbers of the checkpoints that a listing gives."""
        found = self.tuples(config, **options)
        return found if isinstance(found, str) else [self.number(item) for item in found]

    def places(self, config: Any = None, **options: Any) -> Any:
        """Return thread, namespace and number of each listed checkpoint, sorted."""
        found = self.tuples(config, **options)
        if isinstance(found, str):
            return found
        addresses = [item.config["configurable"] for item in found]
        return sorted((a["thread_id"], a["checkpoint_ns"], a["checkpoint_id"]) for a in addresses)

    def held(self, *address: Any) -> Any:
        """Return the channel values at an address."""
        found = self.tuple(*address)
        if found is None or isinstance(found, str):
            return found
        return copy.deepcopy(found.checkpoint["channel_values"])

    def pending(self, *address: Any) -> Any:
        """Return the pending writes at an address."""
        found = self.tuple(*address)
        return found if found is None or isinstance(found, str) else found.pending_writes

    def history(
        self, number: Any, channels: Sequence[str] = ("x",), ns: str = "", thread: str = "a"
    ) -> Any:
        """Return the delta history of channels."""
        config = self.config(thread, ns, *([] if number is None else [number]))
        options = {"config": config, "channels": list(channels)}
        return self.attempt(lambda: self.call("get_delta_channel_history", **options))
