"""Whether the copy of a thread with which a graph goes on is of one moment.

What was put is known, call by call. What a copy lacks came after it, and what it shows came before.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from saverproof.families.graph.normalise import plain, without_ids
from saverproof.programs.values import same, show

Address = tuple[str, str]
"""Namespace and id of a checkpoint."""
_Write = tuple[Address, str, str, str]
"""A checkpoint, a task, a channel, and what was written."""

_ORDER = {
    "put": ("config", "checkpoint", "metadata", "new_versions"),
    "put_writes": ("config", "writes", "task_id", "task_path"),
}


@dataclass(slots=True)
class GraphCall:
    """A put of a graph, or a put_writes by a task; between two turns of the clock, or unended."""

    at: Address
    number: int
    """Of the checkpoint, in the order of first mention."""
    began: int
    task: str | None = None
    writes: tuple[_Write, ...] = ()
    ended: int | None = None

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
        self.of: dict[str, list[GraphCall]] = defaultdict(list)
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
        def begun(given: tuple[Any, ...], named: Mapping[str, Any]) -> GraphCall:
            # By the base class's order: a saver may take them as *args.
            return self._begun({**dict(zip(_ORDER[name], given, strict=False)), **named})

        @functools.wraps(method)
        def call(saver: Any, *given: Any, **named: Any) -> Any:
            made = begun(given, named)
            answer = method(saver, *given, **named)
            made.ended = next(self.clock)
            return answer

        @functools.wraps(method)
        async def acall(saver: Any, *given: Any, **named: Any) -> Any:
            made = begun(given, named)
            answer = await method(saver, *given, **named)
            made.ended = next(self.clock)
            return answer

        return acall if first else call

    def _begun(self, arguments: Mapping[str, Any]) -> GraphCall:
        place = arguments["config"]["configurable"]
        thread, namespace = str(place["thread_id"]), place.get("checkpoint_ns", "")
        task = arguments.get("task_id")
        at = (namespace, place["checkpoint_id"] if task else arguments["checkpoint"]["id"])
        written = arguments.get("writes", ())
        writes = tuple((at, str(task), channel, _text(value)) for channel, value in written)
        numbers = self._numbers[thread]
        number = numbers.setdefault(at, len(numbers) + 1)
        made = GraphCall(at, number, next(self.clock), task, writes)
        self.of[thread].append(made)
        return made


def _text(value: Any) -> str:
    # Ids are the same in a copy, and tuples may come back as lists.
    return json.dumps(plain(value), default=repr, sort_keys=True)


@dataclass(frozen=True, slots=True)
class ShownThread:
    """What is shown of a thread: its checkpoints, and their writes."""

    tuples: Mapping[Address, Any]
    writes: frozenset[_Write]

    @classmethod
    def of(cls, listed: Iterable[Any]) -> ShownThread:
        """What listings of its namespaces show."""
        tuples = {_address(one): one for one in listed}
        writes = (
            (at, task, channel, _text(value))
            for at, one in tuples.items()
            for task, channel, value in one.pending_writes or ()
        )
        return cls(tuples, frozenset(writes))


def _address(found: Any) -> Address:
    return found.config["configurable"].get("checkpoint_ns", ""), found.checkpoint["id"]


@dataclass(slots=True)
class Copied:
    """A copy that was made from ``began`` on, beside a step that began when ``step_began``.

    ``calls`` are those of the graph until the step was over; ``original`` and ``copy`` are what is
    shown of both threads then, when all is quiet.
    """

    began: int
    step_began: int
    calls: Sequence[GraphCall]
    original: ShownThread
    copy: ShownThread
    _twice: Counter[_Write] = field(init=False)

    def __post_init__(self) -> None:
        self._twice = Counter(one for call in self.calls for one in set(call.writes))

    def flaw(self) -> str | None:
        """Why it is the copy of no moment, in words."""
        return next(itertools.chain(self._altered(), self._torn(), self._out_of_order()), None)

    @property
    def first_left(self) -> int | None:
        """The first step that is to be taken with the copy: 0 is the one beside which it was made,
        1 the next. None if it is of a moment between.
        """
        returned = [call for call in self.calls if call.ended is not None]
        if all(self._shows(call) is not False for call in returned):
            return 1
        later = [call for call in self.calls if call.began > self.step_began]
        earlier = (call for call in returned if call.began < self.step_began)
        if any(self._shows(call) is False for call in earlier):
            return None
        # Writes of what is not there are of no use to anyone.
        gone = (call.at not in self.copy.tuples or self._shows(call) is False for call in later)
        return 0 if all(gone) else None

    def _shows(self, call: GraphCall) -> bool | None:
        """Whether it shows what a call stored; None where nobody can tell."""
        there = call.at in self.copy.tuples
        if call.task is None:
            return there
        own = self._own(call)
        return own[0] in self.copy.writes if there and own else None

    def _own(self, call: GraphCall) -> list[_Write]:
        """What no other call wrote, and the original still shows: later answers replace some."""
        return [one for one in call.writes if self._twice[one] == 1 and one in self.original.writes]

    def _altered(self) -> Iterator[str]:
        numbers = {call.at: call for call in self.calls if call.task is None}
        for at, found in self.copy.tuples.items():
            put, known = numbers.get(at), self.original.tuples.get(at)
            if put is None or known is None:
                continue
            for part in ("channel_values", "channel_versions"):
                wanted, seen = known.checkpoint[part], found.checkpoint[part]
                if not same(wanted, seen):
                    yield (
                        f"of checkpoint {put.number} the copy has the {part} {show(seen, 200)}, "
                        f"and the original {show(wanted, 200)}"
                    )
            if _parent(found) != _parent(known):
                yield f"checkpoint {put.number} has another parent in the copy"

    def _torn(self) -> Iterator[str]:
        for call in self.calls:
            own = self._own(call) if call.at in self.copy.tuples else []
            if len({one in self.copy.writes for one in own}) > 1:
                yield f"the copy shows a part of one batch: {call.describe()}"

    def _out_of_order(self) -> Iterator[str]:
        there = [call for call in self.calls if self._shows(call)]
        for missing in self.calls:
            if missing.ended is None or self._shows(missing) is not False:
                continue
            said = missing.describe()
            if missing.ended < self.began:
                yield f"({said}) had returned when the copy began, which does not show it"
            for call in there:
                if missing.ended < call.began:
                    yield (
                        f"the copy shows ({call.describe()}) and does not show ({said}), which "
                        "had returned when that one began"
                    )


def _parent(found: Any) -> Any:
    """The id of the parent; None where none is told."""
    return ((found.parent_config or {}).get("configurable") or {}).get("checkpoint_id")
