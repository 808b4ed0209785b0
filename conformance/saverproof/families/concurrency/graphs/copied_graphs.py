"""Judges whether a copied thread, on which a graph then goes on, is its source at one single
moment.

Each call that stored something is known. A call that the copy lacks came after the moment of the
copy, and a call that the copy shows came before it.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from saverproof.families.concurrency.graphs.graph_calls import Address, StoringCall, Write, text_of
from saverproof.programs.values import same, show


@dataclass(frozen=True, slots=True)
class ShownThread:
    """The checkpoints and writes of a thread, as a saver shows them."""

    tuples: Mapping[Address, Any]
    writes: frozenset[Write]

    @classmethod
    def of(cls, listed: Iterable[Any]) -> ShownThread:
        """Return what listings of the thread's namespaces show."""
        tuples = {_address(one): one for one in listed}
        writes = (
            (at, task, channel, text_of(value))
            for at, one in tuples.items()
            for task, channel, value in one.pending_writes or ()
        )
        return cls(tuples, frozenset(writes))


def _address(found: Any) -> Address:
    return found.config["configurable"].get("checkpoint_ns", ""), found.checkpoint["id"]


@dataclass(slots=True)
class Copied:
    """A copy of a thread, whose call began at ``began``, beside a step that began at
    ``step_began``.

    ``calls`` are the calls of the graph until the step was over. ``original`` and ``copy`` are what
    the saver shows of both threads after that. ``unread`` is what reading one of them raised.
    """

    began: int
    step_began: int
    calls: Sequence[StoringCall]
    original: ShownThread
    copy: ShownThread
    unread: str | None = None
    _twice: Counter[Write] = field(init=False)

    def __post_init__(self) -> None:
        self._twice = Counter(one for call in self.calls for one in set(call.writes))

    def flaw(self) -> str | None:
        """Describe why the copy shows no single moment; return None if it shows one."""
        return next(itertools.chain(self._altered(), self._torn(), self._out_of_order()), None)

    @property
    def first_left(self) -> int | None:
        """Return the first step that a graph on the copy still has to take: 0 is the step beside
        which the copy was made, 1 is the next one. Return None if the copy shows the middle of the
        step.
        """
        returned = [call for call in self.calls if call.ended is not None]
        if all(self._shows(call) is not False for call in returned):
            return 1
        later = [call for call in self.calls if call.began > self.step_began]
        earlier = (call for call in returned if call.began < self.step_began)
        if any(self._shows(call) is False for call in earlier):
            return None
        # Nobody uses writes to a checkpoint that is not there.
        gone = (call.at not in self.copy.tuples or self._shows(call) is False for call in later)
        return 0 if all(gone) else None

    def _shows(self, call: StoringCall) -> bool | None:
        """Return whether the copy shows what a call stored; None if that cannot be told."""
        there = call.at in self.copy.tuples
        if call.task is None:
            return there
        own = self._own(call)
        return own[0] in self.copy.writes if there and own else None

    def _own(self, call: StoringCall) -> list[Write]:
        """Return those writes of a call that only this call made and that the original still has.
        The others may have been replaced by later answers.
        """
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
    """Return the id of the parent; None if the tuple has none."""
    return ((found.parent_config or {}).get("configurable") or {}).get("checkpoint_id")
