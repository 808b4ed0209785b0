"""Records what a graph asks of its saver, in a file that a kill cannot damage."""

from __future__ import annotations

import functools
import inspect
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from saverproof.families.graph.node_log import append_line

WRITES = "put_writes"
_ORDER = {
    "put": ("config", "checkpoint", "metadata", "new_versions"),
    WRITES: ("config", "writes", "task_id", "task_path"),
}


@dataclass(frozen=True, slots=True)
class GraphCall:
    """One call of put or put_writes: the ``number``-th, counted from 0, in step ``step`` of the
    program.
    """

    number: int
    step: int
    method: str
    namespace: str
    checkpoint: str
    task: str = ""
    path: str = ""
    channels: tuple[str, ...] = ()

    @property
    def at(self) -> tuple[str, str]:
        """The namespace and the id of the checkpoint."""
        return self.namespace, self.checkpoint

    def describe(self) -> str:
        """Return the call in words."""
        inside = f" in namespace {self.namespace!r}" if self.namespace else ""
        if self.method != WRITES:
            return f"{self.method} of a checkpoint{inside}"
        # A fan-out writes to one channel many times.
        channels = ", ".join(dict.fromkeys(self.channels))
        return f"put_writes of {channels} by task {self.path or self.task}{inside}"


@dataclass(frozen=True, slots=True)
class Begun:
    """A step that has begun. ``latest`` is the id of the newest checkpoint at that moment, or
    None.
    """

    step: int
    latest: str | None


class GraphLog:
    """A log file with one JSON line for each call. Each line is a single write, so that the lines
    of several threads do not mix.

    ``acknowledge`` and ``start`` are called with the numbers of calls; ``place`` is called before
    and after each call.
    """

    def __init__(
        self,
        path: Path,
        start: Callable[[int], object],
        acknowledge: Callable[[int], object],
        place: Callable[[], object],
    ) -> None:
        self.path = path
        self.step = 0
        self._start = start
        self._acknowledge = acknowledge
        self._place = place
        self._numbers = itertools.count()

    def begin(self, step: int, latest: str | None) -> None:
        """Record that a step begins."""
        self.step = step
        self._write({"begun": step, "latest": latest})

    def watch(self, saver: Any, api: str) -> None:
        """Record every put and put_writes of a saver object from now on.

        The object gets a subclass of its class. The methods keep their signatures, as LangGraph
        inspects these; copies of the object are watched, too.
        """
        first = "a" if api == "async" else ""
        kind = type(saver)
        methods = {
            f"{first}{name}": self._watched(getattr(kind, f"{first}{name}"), name)
            for name in ("put", WRITES)
        }
        saver.__class__ = type(kind.__name__, (kind,), {"__slots__": (), **methods})

    def _watched(self, method: Any, name: str) -> Any:
        def begun(saver: Any, given: tuple[Any, ...], named: dict[str, Any]) -> int:
            number = next(self._numbers)
            # By the base class's order: a saver may take them as *args.
            arguments = dict(zip(_ORDER[name], given, strict=False)) | named
            self._write({"number": number, "step": self.step, **_call_entry(name, arguments)})
            self._place()
            self._start(number)
            return number

        def ended(number: int) -> None:
            self._place()
            self._acknowledge(number)

        @functools.wraps(method)
        def call(saver: Any, *given: Any, **named: Any) -> Any:
            number = begun(saver, given, named)
            answer = method(saver, *given, **named)
            ended(number)
            return answer

        @functools.wraps(method)
        async def acall(saver: Any, *given: Any, **named: Any) -> Any:
            number = begun(saver, given, named)
            answer = await method(saver, *given, **named)
            ended(number)
            return answer

        return acall if inspect.iscoroutinefunction(method) else call

    def _write(self, line: dict[str, Any]) -> None:
        append_line(self.path, json.dumps(line))


def _call_entry(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    at = arguments["config"]["configurable"]
    entry = {"method": name, "namespace": at.get("checkpoint_ns") or ""}
    if name != WRITES:
        return entry | {"checkpoint": arguments["checkpoint"]["id"]}
    return entry | {
        "checkpoint": at["checkpoint_id"],
        "task": arguments["task_id"],
        "path": arguments.get("task_path", ""),
        "channels": [channel for channel, _ in arguments["writes"]],
    }


def read_log(path: Path) -> tuple[list[GraphCall], list[Begun]]:
    """Return the calls and the steps that a log records."""
    operations: list[GraphCall] = []
    begun: list[Begun] = []
    if not path.exists():
        return operations, begun
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if "begun" in entry:
            begun.append(Begun(entry["begun"], entry["latest"]))
        else:
            operations.append(GraphCall(**{**entry, "channels": tuple(entry.get("channels", ()))}))
    return operations, begun
