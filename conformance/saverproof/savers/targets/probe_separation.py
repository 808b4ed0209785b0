"""Finds out whether a target's workspaces are separate: one is written, another is looked at."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from saverproof.errors import OpeningError
from saverproof.savers.targets.event_loop import Loop
from saverproof.savers.targets.opening import fresh_workspace, opened_in_stages
from saverproof.savers.targets.probe_calls import CHANNEL, VALUE, Prober, config, put_arguments
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace

OTHERS = "what the other workspace wrote"


def what_is_shared(
    target: Target, folder: Path, loop: Loop, api: str, stage: Callable[[str], None]
) -> str | None:
    """Return what shows that two workspaces of a target share a store, or None if nothing does.

    A durable store is closed before the other one is opened, since some can be open only once at a
    time. Return None as well if the saver cannot be opened.
    """
    with ExitStack() as stack:
        first, second = (stack.enter_context(fresh_workspace(folder, target)) for _ in range(2))
        stage("opening the saver in two workspaces")
        seen = _Look(target, loop, api, stage)
        try:
            return (
                seen.one_after_the_other(first, second)
                if target.durable
                else (seen.side_by_side(first, second))
            )
        except OpeningError:
            return None


class _Look:
    """A thread with two checkpoints and one task's writes, to test two workspaces with."""

    def __init__(self, target: Target, loop: Loop, api: str, stage: Callable[[str], None]) -> None:
        self._target = target
        self._loop = loop
        self._api = api
        self._stage = stage
        # A thread that nobody else uses, not even an earlier probe.
        self._thread = f"probe-{secrets.token_hex(8)}"
        self._puts: list[tuple[Any, ...]] = []

    def one_after_the_other(self, first: Workspace, second: Workspace) -> str | None:
        """Return what two workspaces share that are never open at once; None if nothing."""
        with self._prober(first) as own:
            self._write(own)
        # What is written in the background is there once the saver was closed.
        with self._prober(first) as own:
            before = self._all_of(own)
        with self._prober(second) as other:
            if shown := self._shown(other):
                return shown
        with self._prober(first) as own:
            return self._changed(own, before)

    def side_by_side(self, first: Workspace, second: Workspace) -> str | None:
        """Test with both workspaces open, for stores that are gone when closed.

        Return what is shared, or None.
        """
        with self._prober(first) as own, self._prober(second) as other:
            self._write(own)
            before = self._all_of(own)
            return self._shown(other) or self._changed(own, before)

    @contextmanager
    def _prober(self, workspace: Workspace) -> Iterator[Prober]:
        with opened_in_stages(self._target, workspace, self._loop, self._stage) as saver:
            yield Prober(saver, self._loop, self._stage)

    def _write(self, own: Prober) -> None:
        """Write the thread."""
        first = put_arguments(own.saver, self._thread)
        self._puts = [first, put_arguments(own.saver, self._thread, first[1]["id"])]
        for put in self._puts:
            self._try(own, "put", *put)
        self._try(own, "put_writes", self._latest, [(CHANNEL, VALUE)], "probe-task")

    @property
    def _latest(self) -> dict[str, Any]:
        return config(self._thread, self._puts[-1][1]["id"])

    def _shown(self, other: Prober) -> str | None:
        """Return what the other workspace shows of the first one, or None. Then delete the thread
        there.
        """
        thread = config(self._thread)
        if any(self._try(other, "get_tuple", one) for one in (thread, self._latest)):
            return "get_tuple finds in one what was put in another"
        if self._try(other, "list", thread):
            return "a list of a thread has in one what was put in another"
        if any(map(self._is_ours, self._try(other, "list", None) or ())):
            return "a list over all threads has in one what was put in another"
        # The same checkpoint, with another value and without writes.
        for own_config, checkpoint, metadata, versions in self._puts:
            theirs = {**checkpoint, "channel_values": {CHANNEL: OTHERS}}
            self._try(other, "put", own_config, theirs, metadata, versions)
        found = self._try(other, "get_tuple", self._latest)
        if getattr(found, "pending_writes", None):
            return "a checkpoint has in one the pending writes that were put in another"
        if found is not None and found.checkpoint["channel_values"].get(CHANNEL) != OTHERS:
            return "a checkpoint has in one the values that were put in another"
        self._try(other, "delete_thread", self._thread)
        return None

    def _is_ours(self, item: Any) -> bool:
        return bool(item.config["configurable"]["thread_id"] == self._thread)

    def _changed(self, own: Prober, before: str) -> str | None:
        if self._all_of(own) == before:
            return None
        return "put and delete_thread in one change what is in another"

    def _all_of(self, own: Prober) -> str:
        found = self._try(own, "get_tuple", self._latest)
        listed = self._try(own, "list", config(self._thread)) or ()
        parts = [(t.checkpoint, t.pending_writes) for t in (found, *listed) if t is not None]
        return repr(parts)

    def _try(self, prober: Prober, operation: str, *arguments: Any) -> Any:
        """Return the answer, or None if the saver raises: contracts judge that."""
        try:
            return prober.call(self._api, operation, *arguments)
        except Exception:  # noqa: BLE001 - whatever it raises, nothing of the other is shown
            return None
