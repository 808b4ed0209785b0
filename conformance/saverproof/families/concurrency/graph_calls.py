"""What graphs put: call by call, what each stored or why it was refused."""

from __future__ import annotations

import functools
import itertools
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from saverproof.families.graph.normalise import plain, without_ids

Address = tuple[str, str]
"""Namespace and id of a checkpoint."""
Write = tuple[Address, str, str, str]
"""A checkpoint, a task, a channel, and what was written."""

_ORDER = {
    "put": ("config", "checkpoint", "metadata", "new_versions"),
    "put_writes": ("config", "writes", "task_id", "task_path"),
}


@dataclass(slots=True)
class StoringCall:
    """A put of a graph, or a put_writes of one of its tasks.

    ``began`` and ``ended`` are turns of the clock; a call that raised has no end. ``refused`` is
    what it raised.
    """

    at: Address
    number: int
    """Of the checkpoint, in the order of first mention."""
    began: int
    task: str | None = None
    writes: tuple[Write, ...] = ()
    ended: int | None = None
    refused: str | None = None

    def describe(self) -> str:
        """In words."""
        inside = f" in namespace {without_ids(self.at[0])!r}" if self.at[0] else ""
        if self.task is None:
            return f"put of checkpoint {self.number}{inside}"
        channels = ", ".join(dict.fromkeys(channel for *_, channel, _ in self.writes))
        return f"put_writes of {channels} on checkpoint {self.number}{inside}"


class GraphCalls:
    """The puts and batches of graphs, by thread."""

    def __init__(self) -> None:
        self.of: dict[str, list[StoringCall]] = defaultdict(list)
        self.clock = itertools.count()
        self._numbers: dict[str, dict[Address, int]] = defaultdict(dict)

    def watch(self, saver: Any, api: str) -> None:
        """Note every put and put_writes of a saver object from now on.

        It becomes one of a subclass whose methods have the signatures of its own, at which
        LangGraph looks; copies of it are watched too.
        """
        kind, first = type(saver), "a" if api == "async" else ""
        methods = {
            f"{first}{name}": self._watched(getattr(kind, f"{first}{name}"), name, first)
            for name in _ORDER
        }
        # Where its own code is, is asked of its class.
        own = {"__slots__": (), "__module__": kind.__module__}
        saver.__class__ = type(kind.__name__, (kind,), own | methods)

    def _watched(self, method: Any, name: str, first: str) -> Any:
        def begun(given: tuple[Any, ...], named: Mapping[str, Any]) -> StoringCall:
            # By the base class's order: a saver may take them as *args.
            return self._begun({**dict(zip(_ORDER[name], given, strict=False)), **named})

        @functools.wraps(method)
        def call(saver: Any, *given: Any, **named: Any) -> Any:
            with self._noted(name, begun(given, named)):
                return method(saver, *given, **named)

        @functools.wraps(method)
        async def acall(saver: Any, *given: Any, **named: Any) -> Any:
            with self._noted(name, begun(given, named)):
                return await method(saver, *given, **named)

        return acall if first else call

    @contextmanager
    def _noted(self, name: str, made: StoringCall) -> Iterator[None]:
        """Note how a call ends."""
        try:
            yield
        except Exception as error:
            made.refused = f"{name} raised {error!r}"[:120]
            raise
        made.ended = next(self.clock)

    def refused(self, thread: str) -> str | None:
        """What the first call of a thread raised that did, whether or not its graph was told.

        LangGraph makes these calls in the background, and what they raise is told as its loop is
        left (`langgraph.pregel._executor.BackgroundExecutor.__exit__`), unless that ends in
        another exception already: so nobody is told where a subgraph asks, or a node has failed.
        """
        return next((call.refused for call in self.of[thread] if call.refused), None)

    def _begun(self, arguments: Mapping[str, Any]) -> StoringCall:
        place = arguments["config"]["configurable"]
        thread, namespace = str(place["thread_id"]), place.get("checkpoint_ns", "")
        task = arguments.get("task_id")
        at = (namespace, place["checkpoint_id"] if task else arguments["checkpoint"]["id"])
        written = arguments.get("writes", ())
        writes = tuple((at, str(task), channel, text_of(value)) for channel, value in written)
        numbers = self._numbers[thread]
        number = numbers.setdefault(at, len(numbers) + 1)
        made = StoringCall(at, number, next(self.clock), task, writes)
        self.of[thread].append(made)
        return made


def text_of(value: Any) -> str:
    # Ids are the same in a copy, and tuples may come back as lists.
    return json.dumps(plain(value), default=repr, sort_keys=True)
