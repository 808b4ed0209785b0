"""Savers that answer with a wrong address: of a checkpoint, of its parent, or of nothing stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf
from saverproof.mistakes.registry import mistake

Rows = list[CheckpointRow]


# -- put-returns-address ------------------------------------------------------------------


@mistake("identity/put-returns-address", "returns the config it was given")
class PutEchoesConfig(ReferenceSaver):
    def _put_answer(self, config: Any, row: CheckpointRow) -> Any:
        return config


@mistake("identity/put-returns-address", "the namespace is left out of the answer")
class PutAnswersWithoutNamespace(ReferenceSaver):
    def _put_answer(self, config: Any, row: CheckpointRow) -> Any:
        return {"configurable": {"thread_id": row.thread, "checkpoint_id": row.id}}


@mistake("identity/put-returns-address", "the namespace of the answer is always the root")
class PutAnswersWithRoot(ReferenceSaver):
    def _put_answer(self, config: Any, row: CheckpointRow) -> Any:
        return self._address(row.thread, "", row.id)


@mistake("identity/put-returns-address", "nobody seemed to use the answer")
class PutAnswersNone(ReferenceSaver):
    def _put_answer(self, config: Any, row: CheckpointRow) -> Any:
        return None


@mistake("identity/put-returns-address", "only the id is worth returning")
class PutAnswersWithIdAlone(ReferenceSaver):
    def _put_answer(self, config: Any, row: CheckpointRow) -> Any:
        return {"configurable": {"checkpoint_id": row.id}}


# -- tuple-addresses-itself ---------------------------------------------------------------


@mistake("identity/tuple-addresses-itself", "the latest is returned under the caller's config")
class LatestEchoesConfig(ReferenceSaver):
    def _got(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        return found._replace(config=config)


@mistake("identity/tuple-addresses-itself", "every listed tuple gets the config of the listing")
class ListEchoesConfig(ReferenceSaver):
    def _listed(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        return found._replace(config=config) if config is not None else found


@mistake("identity/tuple-addresses-itself", "the listed namespace is the asked one, or the root")
class ListedNamespaceIsTheAskedOne(ReferenceSaver):
    def _listed(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        own = found.config["configurable"]
        asked = (config or {}).get("configurable", {}).get("checkpoint_ns", "")
        return found._replace(config=self._address(own["thread_id"], asked, own["checkpoint_id"]))


@mistake(
    "identity/tuple-addresses-itself",
    "the config of a tuple names no namespace",
    also={"identity/list-selects"},
)
class TuplesWithoutNamespace(ReferenceSaver):
    def _got(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        own = found.config["configurable"]
        return found._replace(config=self._address(own["thread_id"], "", own["checkpoint_id"]))

    def _listed(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        return self._got(config, found)


@mistake("identity/tuple-addresses-itself", "the listed config has no id")
class ListedWithoutId(ReferenceSaver):
    def _listed(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        own = found.config["configurable"]
        address = {"thread_id": own["thread_id"], "checkpoint_ns": own["checkpoint_ns"]}
        return found._replace(config={"configurable": address})


# -- parent -------------------------------------------------------------------------------


@mistake("identity/parent", "the parent is the checkpoint put before")
class ParentIsTheLastPut(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        others = [id for id in shelf.checkpoints if id != row.id]
        if row.parent is not None and row.id not in shelf.checkpoints and others:
            row = replace(row, parent=others[-1])
        elif row.id in shelf.checkpoints:
            row = replace(row, parent=shelf.checkpoints[row.id].parent)
        super()._store_checkpoint(shelf, row)


@mistake(
    "identity/parent",
    "the parent is whatever is the latest when it is put: itself, if it is put again",
    also={"upsert/put-is-idempotent", "upsert/put-replaces"},
)
class ParentIsTheLatest(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        latest = max(shelf.checkpoints, default=None)
        super()._store_checkpoint(shelf, replace(row, parent=latest))


@mistake(
    "identity/parent",
    "the parent is the greatest id below",
    # Which changes with what is put between them, or deleted.
    also={
        "channels/history-immutable",
        "deletion/prune-keeps-delta-chain",
        "deletion/runs",
        "delta-history/matches-walk",
    },
)
class ParentIsTheNextOlder(ReferenceSaver):
    def _parent_config(self, row: CheckpointRow) -> Any:
        older = [id for id in self._shelf(row.thread, row.ns).checkpoints if id < row.id]
        return self._address(row.thread, row.ns, max(older)) if older else None


@mistake(
    "identity/parent",
    "a root has a parent config with None for its id",
    also={"delta-history/matches-walk"},
)
class RootHasAParentConfig(ReferenceSaver):
    def _parent_config(self, row: CheckpointRow) -> Any:
        return self._address(row.thread, row.ns, row.parent)


@mistake(
    "identity/parent",
    "the parent config names the root namespace",
    also={"delta-history/matches-walk"},
)
class ParentInTheRoot(ReferenceSaver):
    def _parent_config(self, row: CheckpointRow) -> Any:
        return None if row.parent is None else self._address(row.thread, "", row.parent)


@mistake("identity/parent", "there is no column for a parent", also={"delta-history/matches-walk"})
class NoParents(ReferenceSaver):
    def _parent_of(self, config: Any) -> str | None:
        return None


@mistake(
    "identity/parent",
    "the parent is taken from the metadata's `parents`, which are checkpoints of graphs around",
    also={"delta-history/matches-walk"},
)
class ParentFromMetadata(ReferenceSaver):
    def _parent_config(self, row: CheckpointRow) -> Any:
        parent = self._load_metadata(row.metadata).get("parents", {}).get(row.ns)
        return None if parent is None else self._address(row.thread, row.ns, parent)


@mistake(
    "identity/parent",
    "get_tuple does not select the parent's column",
    also={"delta-history/matches-walk"},
)
class GotWithoutParent(ReferenceSaver):
    def _got(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        return found._replace(parent_config=None)


@mistake("identity/parent", "list does not select the parent's column")
class NoParentInList(ReferenceSaver):
    def _listed(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        return found._replace(parent_config=None)


@mistake("identity/parent", "SELECT ... JOIN the parent: one that came later is not linked")
class ParentMustBeThere(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        known = row.parent in shelf.checkpoints
        super()._store_checkpoint(shelf, row if known else replace(row, parent=None))


@mistake(
    "upsert/put-is-idempotent",
    "the UPDATE of a second put leaves the parent's column out: NULL",
    also={"identity/parent", "upsert/put-replaces"},
)
class ReputLosesParent(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        again = row.id in shelf.checkpoints
        super()._store_checkpoint(shelf, replace(row, parent=None) if again else row)


# -- unknown-is-none ----------------------------------------------------------------------


@mistake("identity/unknown-is-none", "storage[thread_id] of a plain dict")
class UnknownThreadRaises(ReferenceSaver):
    def _find(self, config: Any) -> CheckpointRow | None:
        thread = self._thread_of(config)
        if not self._shelves_of(thread):
            raise KeyError(thread)
        return super()._find(config)


@mistake("identity/unknown-is-none", "an id that is not found falls back to the latest")
class UnknownIdIsLatest(ReferenceSaver):
    def _by_id(self, shelf: Shelf, id: str) -> CheckpointRow | None:
        row = super()._by_id(shelf, id)
        return self._latest(shelf) if row is None and shelf.checkpoints else row


@mistake(
    "isolation/namespaces",
    "a namespace that is not found falls back to the root",
    also={"isolation/same-id-in-namespaces"},
)
class UnknownNamespaceIsRoot(ReferenceSaver):
    def _find(self, config: Any) -> CheckpointRow | None:
        thread, ns = self._thread_of(config), self._get_ns(config)
        if not self._shelf(thread, ns).checkpoints:
            config = self._address(thread, "", self._asked_id(config))
        return super()._find(config)


@mistake("identity/unknown-is-none", "fetchone() is not checked for None")
class UnknownIdRaises(ReferenceSaver):
    def _by_id(self, shelf: Shelf, id: str) -> CheckpointRow | None:
        return shelf.checkpoints[id]


@mistake("identity/unknown-is-none", "listing an unknown thread raises")
class UnknownThreadCannotBeListed(ReferenceSaver):
    def _selected(self, config: Any) -> Rows:
        if config is not None and not self._shelves_of(self._thread_of(config)):
            raise KeyError(self._thread_of(config))
        return super()._selected(config)


@mistake("identity/unknown-is-none", "an empty tuple stands for nothing")
class UnknownIsAnEmptyTuple(ReferenceSaver):
    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        nothing: Any = {}
        return super().get_tuple(config) or CheckpointTuple(config, nothing, nothing)
