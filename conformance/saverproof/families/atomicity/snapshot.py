"""Everything that a saver shows, as plain data that can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from saverproof.errors import describe
from saverproof.execution.settled_calls import Key

Shown: TypeAlias = Mapping[str, Any]
"""One checkpoint: "checkpoint", "metadata", "parent" (its id), and "writes" in a fixed order."""

UNREADABLE = "unreadable"


@dataclass(slots=True)
class Snapshot:
    """What reads by id (``by_id``; None where nothing was found) and listings (``listed``) gave.

    A read that raised is shown as ``{"unreadable": its error}``. ``listed`` is None if nothing
    was listed, and its threads are those that were asked for.
    """

    by_id: dict[Key, Shown | None] = field(default_factory=dict)
    listed: dict[str, dict[Key, Shown]] | None = None

    def thread(self, thread: str) -> Snapshot:
        """What is shown of one thread."""
        listed = None if self.listed is None else {thread: self.listed.get(thread, {})}
        return Snapshot({k: shown for k, shown in self.by_id.items() if k[0] == thread}, listed)

    def agrees(self, reference: Snapshot) -> bool:
        """Whether all that is shown here is as it is shown there."""
        return all(shown == reference.by_id.get(key) for key, shown in self.by_id.items()) and (
            self.listed is None or reference.listed is None or self.listed == reference.listed
        )

    def at(self, key: Key) -> Shown | None:
        """What is shown of a checkpoint, by whichever read."""
        if key in self.by_id:
            return self.by_id[key]
        return (self.listed or {}).get(key[0], {}).get(key)

    def keys(self) -> set[Key]:
        """The checkpoints that are shown."""
        listed = (self.listed or {}).values()
        return {k for k, shown in self.by_id.items() if shown is not None}.union(*listed)

    @property
    def unreadable(self) -> str | None:
        """The error of the first read that raised."""
        shown = [
            *self.by_id.values(),
            *(s for t in (self.listed or {}).values() for s in t.values()),
        ]
        return next((str(s[UNREADABLE]) for s in shown if s is not None and UNREADABLE in s), None)


def shown(found: Any) -> tuple[Key, Shown]:
    """The address and the contents of a checkpoint tuple."""
    address = found.config["configurable"]
    key = (address["thread_id"], address.get("checkpoint_ns") or "", address["checkpoint_id"])
    parent = (found.parent_config or {}).get("configurable", {}).get("checkpoint_id")
    writes = sorted((list(write) for write in found.pending_writes or ()), key=repr)
    return key, {
        "checkpoint": found.checkpoint,
        "metadata": found.metadata,
        "parent": parent,
        "writes": writes,
    }


def raised(error: BaseException) -> Shown:
    """What stands for a read that raised."""
    return {UNREADABLE: describe(error)}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a look is to read: checkpoints by id, and listings of whole threads."""

    keys: tuple[Key, ...] = ()
    threads: tuple[str, ...] | None = None


def config_of(key: Key) -> dict[str, Any]:
    """The config that names a checkpoint."""
    thread, namespace, checkpoint = key
    names = {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": checkpoint}
    return {"configurable": names}


def look(saver: Any, wanted: Wanted) -> Snapshot:
    """Read through the sync API."""
    snapshot = Snapshot()
    for key in wanted.keys:
        try:
            found = saver.get_tuple(config_of(key))
            snapshot.by_id[key] = None if found is None else shown(found)[1]
        except Exception as error:  # noqa: BLE001 - a saver may raise anything
            snapshot.by_id[key] = raised(error)
    if wanted.threads is not None:
        snapshot.listed = {}
        for thread in wanted.threads:
            try:
                listing = list(saver.list({"configurable": {"thread_id": thread}}))
                snapshot.listed[thread] = _listed(listing)
            except Exception as error:  # noqa: BLE001
                snapshot.listed[thread] = {(thread, "", ""): raised(error)}
    return snapshot


async def alook(saver: Any, wanted: Wanted) -> Snapshot:
    """Read through the async API."""
    snapshot = Snapshot()
    for key in wanted.keys:
        try:
            found = await saver.aget_tuple(config_of(key))
            snapshot.by_id[key] = None if found is None else shown(found)[1]
        except Exception as error:  # noqa: BLE001 - a saver may raise anything
            snapshot.by_id[key] = raised(error)
    if wanted.threads is not None:
        snapshot.listed = {}
        for thread in wanted.threads:
            try:
                config = {"configurable": {"thread_id": thread}}
                snapshot.listed[thread] = _listed([item async for item in saver.alist(config)])
            except Exception as error:  # noqa: BLE001
                snapshot.listed[thread] = {(thread, "", ""): raised(error)}
    return snapshot


def _listed(found: Iterable[Any]) -> dict[Key, Shown]:
    return dict(shown(item) for item in found)
