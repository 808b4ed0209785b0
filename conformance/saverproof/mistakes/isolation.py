"""Savers that let one thread, namespace or workspace see another."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar, Self

from saverproof.mistakes.hostile import NamespacesAs
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, ReferenceStore, Shelf
from saverproof.mistakes.registry import mistake

Rows = list[CheckpointRow]


# -- threads ------------------------------------------------------------------------------


@mistake("isolation/threads", "the primary key is namespace and id: ids are unique, are they not")
class KeyWithoutThread(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        for other in self._all_shelves():
            if other.ns == shelf.ns and other is not shelf:
                other.checkpoints.pop(row.id, None)
        super()._store_checkpoint(shelf, row)


@mistake(
    "isolation/threads",
    "get_tuple by id looks at the id alone",
    also={
        "deletion/no-ghosts",
        "deletion/prune-drops-older",
        "deletion/prune-latest",
        "deletion/runs",
        "identity/unknown-is-none",
        "isolation/namespaces",
        "isolation/same-id-in-namespaces",
    },
)
class GetByIdAlone(ReferenceSaver):
    def _find(self, config: Any) -> CheckpointRow | None:
        found, asked = super()._find(config), self._asked_id(config)
        if found is not None or asked is None:
            return found
        everywhere = (shelf.checkpoints.get(asked) for shelf in self._all_shelves())
        return next((row for row in everywhere if row is not None), None)


@mistake(
    "isolation/threads",
    "list by id looks at the id alone",
    also={"isolation/same-id-in-namespaces", "identity/list-selects"},
)
class ListByIdAlone(ReferenceSaver):
    def _selected(self, config: Any) -> Rows:
        if config is None or not (asked := self._listed_id(config)):
            return super()._selected(config)
        return [row for row in super()._selected(None) if row.id == asked]


@mistake("isolation/threads", "the pointer to the latest is kept by namespace")
class LatestOfAnyThread(ReferenceSaver):
    def _find(self, config: Any) -> CheckpointRow | None:
        if self._asked_id(config):
            return super()._find(config)
        ns = self._get_ns(config)
        rows = [row for s in self._all_shelves() if s.ns == ns for row in s.checkpoints.values()]
        return max(rows, key=lambda row: row.id, default=None)


@mistake(
    "isolation/threads",
    "one thread's put ends the others' pending writes",
    also={"deletion/copy-independent", "pending-writes/early-writes-kept"},
)
class PutClearsOtherThreadsWrites(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        for other in self._all_shelves():
            if other.thread != shelf.thread:
                other.writes.pop(row.id, None)
        super()._store_checkpoint(shelf, row)


# -- namespaces ---------------------------------------------------------------------------


@mistake("isolation/same-id-in-namespaces", "the primary key is thread and id")
class KeyWithoutNamespace(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        for other in self._shelves_of(shelf.thread):
            if other is not shelf:
                other.checkpoints.pop(row.id, None)
        super()._store_checkpoint(shelf, row)


@mistake(
    "isolation/namespaces",
    "get_tuple by id needs no namespace, ids being unique in a thread",
)
class GetByIdInAnyNamespace(ReferenceSaver):
    def _find(self, config: Any) -> CheckpointRow | None:
        found, asked = super()._find(config), self._asked_id(config)
        if found is not None or asked is None:
            return found
        shelves = self._shelves_of(self._thread_of(config))
        return next((s.checkpoints[asked] for s in shelves if asked in s.checkpoints), None)


@mistake(
    "isolation/namespaces",
    "WHERE thread_id = ? AND checkpoint_id = ?: the first row, whatever its namespace",
    also={"isolation/same-id-in-namespaces"},
)
class GetFirstOfTheId(ReferenceSaver):
    def _find(self, config: Any) -> CheckpointRow | None:
        asked = self._asked_id(config)
        if asked is None:
            return super()._find(config)
        shelves = self._shelves_of(self._thread_of(config))
        return next((s.checkpoints[asked] for s in shelves if asked in s.checkpoints), None)


@mistake("isolation/namespaces", "a put ends the pending writes of the whole thread")
class PutClearsOtherNamespacesWrites(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        for other in self._shelves_of(shelf.thread):
            if other is not shelf:
                other.writes.clear()
        super()._store_checkpoint(shelf, row)


@mistake("isolation/namespaces", "the latest of the thread, whatever the namespace")
class LatestOfAnyNamespace(ReferenceSaver):
    def _find(self, config: Any) -> CheckpointRow | None:
        if self._asked_id(config):
            return super()._find(config)
        shelves = self._shelves_of(self._thread_of(config))
        rows = [row for shelf in shelves for row in shelf.checkpoints.values()]
        return max(rows, key=lambda row: row.id, default=None)


# Namespaces whose names are not alike are listed rightly.
@mistake(
    "isolation/nested-namespaces",
    "a key-value scan by prefix lists the namespaces below as well",
    also={"identity/list-selects", "isolation/namespaces"},
)
class NamespaceByPrefix(ReferenceSaver):
    def _selected(self, config: Any) -> Rows:
        if config is None or not (ns := self._listed_ns(config)):
            return super()._selected(config)
        asked = {k: v for k, v in config["configurable"].items() if k != "checkpoint_ns"}
        rows = super()._selected({"configurable": asked})
        return [row for row in rows if row.ns.startswith(ns)]


# -- nested-namespaces --------------------------------------------------------------------

# A saver that confuses two namespaces shows one in the other.
SEEN = {"isolation/namespaces", "identity/list-selects"}


@mistake("isolation/nested-namespaces", "only the outermost part is kept", also=SEEN)
class OutermostNamespace(NamespacesAs):
    def _filed_namespace(self, ns: str) -> str:
        return ns.split("|")[0]


@mistake("isolation/nested-namespaces", "only the innermost part is kept", also=SEEN)
class InnermostNamespace(NamespacesAs):
    def _filed_namespace(self, ns: str) -> str:
        return ns.split("|")[-1]


@mistake(
    "isolation/nested-namespaces", "task ids are cut off, so that a node has one place", also=SEEN
)
class NamespaceWithoutTask(NamespacesAs):
    def _filed_namespace(self, ns: str) -> str:
        return re.sub(r":[^|]*", "", ns)


@mistake("isolation/nested-namespaces", "the number of the second call is cut off", also=SEEN)
class NamespaceWithoutCallNumber(NamespacesAs):
    def _filed_namespace(self, ns: str) -> str:
        return re.sub(r"\|\d+$", "", ns)


@mistake("isolation/nested-namespaces", "a varchar(40) column cuts what is longer", also=SEEN)
class NamespaceCut(NamespacesAs):
    def _filed_namespace(self, ns: str) -> str:
        return ns[:40]


@mistake("isolation/nested-namespaces", "the separator is the saver's own, and is refused in names")
class SeparatorRefused(ReferenceSaver):
    def _ns_or_root(self, config: Any) -> str:
        if "|" in (ns := super()._ns_or_root(config)):
            raise ValueError(f"namespace {ns!r} holds '|'")
        return ns


@mistake("isolation/nested-namespaces", "node, task = ns.split(':')")
class NodeAndTaskOnly(ReferenceSaver):
    def _ns_or_root(self, config: Any) -> str:
        if ns := super()._ns_or_root(config):
            node, task = ns.split("|")[-1].split(":")
            assert node or task
        return ns


@mistake(
    "isolation/nested-namespaces",
    "a namespace is a folder beside the root's `checkpoints`, which is searched with all below it",
    also=SEEN,
)
class RootHoldsNamespace(ReferenceSaver):
    def _find(self, config: Any) -> CheckpointRow | None:
        found, ns = super()._find(config), self._get_ns(config)
        if ns or self._asked_id(config):
            return found
        below = self._shelf(self._thread_of(config), "checkpoints").checkpoints.values()
        return max((row for row in (found, *below) if row), key=lambda row: row.id, default=None)

    def _selected(self, config: Any) -> Rows:
        rows = super()._selected(config)
        if config is None or self._listed_ns(config) != "":
            return rows
        below = self._shelf(self._thread_of(config), "checkpoints").checkpoints.values()
        asked = self._listed_id(config)
        return [*rows, *(row for row in below if asked in (None, row.id))]


@mistake("isolation/nested-namespaces", "the root is called `default`, as a node may be", also=SEEN)
class RootCalledDefault(NamespacesAs):
    def _filed_namespace(self, ns: str) -> str:
        return ns or "default"


# -- workspaces ---------------------------------------------------------------------------


@mistake(
    "isolation/workspaces",
    "one store for the whole process",
    # It reads the metadata of all threads, and what another workspace serialized in its own way.
    also={
        "deletion/runs",
        "lifecycle/any-first-operation",
        "lifecycle/any-first-operation-before-setup",
    },
)
class OneStoreForAll(ReferenceSaver):
    @classmethod
    def at(cls, path: Path) -> Self:
        return cls(ReferenceStore.at(Path("everywhere")))


@mistake(
    "isolation/workspaces",
    "a cache of the module is keyed by thread, not by database",
    # Asked for by its id, what was removed is still in the cache.
    also={
        "deletion/prune-drops-older",
        "deletion/prune-latest",
        "deletion/runs",
        "deletion/thread-all",
    },
)
class CacheAcrossWorkspaces(ReferenceSaver):
    _rows_of_all: ClassVar[dict[tuple[str, str, str], CheckpointRow]] = {}

    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        super()._store_checkpoint(shelf, row)
        self._rows_of_all[(row.thread, row.ns, row.id)] = row

    def _find(self, config: Any) -> CheckpointRow | None:
        found, asked = super()._find(config), self._asked_id(config)
        if found is not None or asked is None:
            return found
        return self._rows_of_all.get((self._thread_of(config), self._get_ns(config), asked))
