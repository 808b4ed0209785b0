"""Records what graphs store: each call, what it stored, or why it was refused."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from saverproof.families.graph.normalise import plain, without_ids
from saverproof.families.graph.storing import watch

Address = tuple[str, str]
"""The namespace and the id of a checkpoint."""
Write = tuple[Address, str, str, str]
"""A checkpoint, a task, a channel, and what was written."""


@dataclass(slots=True)
class StoringCall:
    """A put of a graph, or a put_writes of the graph's task with this ``path``.

    ``began`` and ``ended`` are readings of a counter; a call that raised has no end. ``refused`` is
    the error that it raised.
    """

    at: Address
    number: int
    """The number of the checkpoint, in the order of first mention."""
    began: int
    task: str | None = None
    writes: tuple[Write, ...] = ()
    ended: int | None = None
    refused: str | None = None
    path: str = ""

    def describe(self) -> str:
        """Return the call in words."""
        inside = f" in namespace {without_ids(self.at[0])!r}" if self.at[0] else ""
        if self.task is None:
            return f"put of checkpoint {self.number}{inside}"
        channels = ", ".join(dict.fromkeys(channel for *_, channel, _ in self.writes))
        return f"put_writes of {channels} on checkpoint {self.number}{inside}"


class GraphCalls:
    """The calls of put and put_writes that graphs make, by thread."""

    def __init__(self) -> None:
        self.of: dict[str, list[StoringCall]] = defaultdict(list)
        self.clock = itertools.count()
        self._numbers: dict[str, dict[Address, int]] = defaultdict(dict)

    def watch(self, saver: Any, api: str) -> None:
        """Record every put and put_writes of a saver object from now on."""
        watch(saver, api, self._noted)

    @contextmanager
    def _noted(self, name: str, arguments: Mapping[str, Any]) -> Iterator[None]:
        """Record how a call begins and ends."""
        made = self._begun(arguments)
        try:
            yield
        except Exception as error:
            made.refused = f"{name} raised {error!r}"[:120]
            raise
        made.ended = next(self.clock)

    def refused(self, thread: str) -> str | None:
        """Return the first error that a call of a thread raised. Its graph may never hear of it;
        see :class:`~saverproof.families.graph.storing.Refusals`.
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
        path = arguments.get("task_path", "")
        made = StoringCall(at, number, next(self.clock), task, writes, path=path)
        self.of[thread].append(made)
        return made


def text_of(value: Any) -> str:
    # Ids are the same in a copy, and tuples may come back as lists.
    return json.dumps(plain(value), default=repr, sort_keys=True)
