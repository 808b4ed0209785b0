"""Targets whose workspaces share a store, wholly or in part, each an attribute of this module."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.in_threads import InThreads
from tests.wrong_savers.registry import opener

from saverproof import target
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import ReferenceStore, Shelf
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.workspace import Workspace

EVERYONE = "everyone"
"""The store for all, beside the workspaces."""


def ref_to(name: str) -> TargetRef:
    """Where a target of this module is, whose workspaces were found to share a store."""
    return TargetRef(name, __name__, None, name, shares_store=True)


def everyone(workspace: Workspace) -> Workspace:
    """The workspace that all others end up in."""
    path = workspace.path.parent / EVERYONE
    path.mkdir(exist_ok=True)
    return Workspace(path, EVERYONE)


class CalledInThreads(InThreads, SqliteReference):
    """The plain saver, with an async API that stops no event loop."""

    async def aput_writes(
        self, config: Any, writes: Any, task_id: str, task_path: str = ""
    ) -> None:
        # Its parameters are looked at: paths are given only to what takes them.
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)


@target(name="one-file")
@contextmanager
def one_file(workspace: Workspace) -> Iterator[Any]:
    """One SQLite file for everyone, as one server is."""
    with opener(CalledInThreads)(everyone(workspace)) as saver:
        yield saver


class SharesWrites(ReferenceSaver):
    """Half of its keys lack the prefix of the workspace: those of pending writes."""

    _everyones: ClassVar[ReferenceStore] = ReferenceStore()

    def _shelf_for_writing(self, thread: str, ns: str) -> Shelf:
        shelf = super()._shelf_for_writing(thread, ns)
        others = self._everyones.shelves.setdefault((thread, ns), Shelf(thread, ns))
        shelf.writes = others.writes
        return shelf


shares_writes = target(
    name="shares-writes", drop=lambda workspace: ReferenceStore.forget(workspace.path)
)(opener(SharesWrites))


@target(name="own-file")
@contextmanager
def own_file(workspace: Workspace) -> Iterator[Any]:
    """A file for each workspace: nothing is shared."""
    with opener(SqliteReference)(workspace) as saver:
        yield saver


@target(name="in-memory", durable=False)
@contextmanager
def in_memory(workspace: Workspace) -> Iterator[Any]:
    """A store that is gone when it is closed."""
    yield ReferenceSaver()


_FOR_ALL = ReferenceStore()


@target(name="of-the-module", durable=False)
@contextmanager
def of_the_module(workspace: Workspace) -> Iterator[Any]:
    """One dictionary of the module for everyone."""
    yield ReferenceSaver(_FOR_ALL)


def shared(wrong: Any) -> Any:
    """A wrong saver, opened in one and the same place for every workspace."""

    @contextmanager
    def opened(workspace: Workspace) -> Iterator[Any]:
        with wrong.make(everyone(workspace)) as saver:
            yield saver

    return target(name="wrong")(opened).at(ref_to("wrong"))
