"""Savers that confuse configs: what was asked, what is answered, and whose objects those are."""

from __future__ import annotations

import copy
import json
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple

from tests.reference.reading import Blobs
from tests.reference.saver import ReferenceSaver
from tests.reference.store import Blob, CheckpointRow, Shelf, WriteRow
from tests.wrong_savers.registry import wrong

Rows = list[CheckpointRow]


# -- put-returns-address ------------------------------------------------------------------


@wrong("identity/put-returns-address", "returns the config it was given")
class PutEchoesConfig(ReferenceSaver):
    def _put_answer(self, config: Any, row: CheckpointRow) -> Any:
        return config


@wrong("identity/put-returns-address", "the namespace is left out of the answer")
class PutAnswersWithoutNamespace(ReferenceSaver):
    def _put_answer(self, config: Any, row: CheckpointRow) -> Any:
        return {"configurable": {"thread_id": row.thread, "checkpoint_id": row.id}}


@wrong("identity/put-returns-address", "the namespace of the answer is always the root")
class PutAnswersWithRoot(ReferenceSaver):
    def _put_answer(self, config: Any, row: CheckpointRow) -> Any:
        return self._address(row.thread, "", row.id)


@wrong("identity/put-returns-address", "nobody seemed to use the answer")
class PutAnswersNone(ReferenceSaver):
    def _put_answer(self, config: Any, row: CheckpointRow) -> Any:
        return None


@wrong("identity/put-returns-address", "only the id is worth returning")
class PutAnswersWithIdAlone(ReferenceSaver):
    def _put_answer(self, config: Any, row: CheckpointRow) -> Any:
        return {"configurable": {"checkpoint_id": row.id}}


# -- tuple-addresses-itself ---------------------------------------------------------------


@wrong("identity/tuple-addresses-itself", "the latest is returned under the caller's config")
class LatestEchoesConfig(ReferenceSaver):
    def _got(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        return found._replace(config=config)


@wrong("identity/tuple-addresses-itself", "every listed tuple gets the config of the listing")
class ListEchoesConfig(ReferenceSaver):
    def _listed(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        return found._replace(config=config) if config is not None else found


@wrong("identity/tuple-addresses-itself", "the listed namespace is the asked one, or the root")
class ListedNamespaceIsTheAskedOne(ReferenceSaver):
    def _listed(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        own = found.config["configurable"]
        asked = (config or {}).get("configurable", {}).get("checkpoint_ns", "")
        return found._replace(config=self._address(own["thread_id"], asked, own["checkpoint_id"]))


@wrong("identity/tuple-addresses-itself", "the listed config has no id")
class ListedWithoutId(ReferenceSaver):
    def _listed(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        own = found.config["configurable"]
        address = {"thread_id": own["thread_id"], "checkpoint_ns": own["checkpoint_ns"]}
        return found._replace(config={"configurable": address})


# -- parent -------------------------------------------------------------------------------


@wrong("identity/parent", "the parent is the checkpoint put before")
class ParentIsTheLastPut(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        others = [id for id in shelf.checkpoints if id != row.id]
        if row.parent is not None and row.id not in shelf.checkpoints and others:
            row = replace(row, parent=others[-1])
        elif row.id in shelf.checkpoints:
            row = replace(row, parent=shelf.checkpoints[row.id].parent)
        super()._store_checkpoint(shelf, row)


@wrong("identity/parent", "the parent is the greatest id below")
class ParentIsTheNextOlder(ReferenceSaver):
    def _parent_config(self, row: CheckpointRow) -> Any:
        older = [id for id in self._shelf(row.thread, row.ns).checkpoints if id < row.id]
        return self._address(row.thread, row.ns, max(older)) if older else None


@wrong("identity/parent", "a root has a parent config with None for its id")
class RootHasAParentConfig(ReferenceSaver):
    def _parent_config(self, row: CheckpointRow) -> Any:
        return self._address(row.thread, row.ns, row.parent)


@wrong("identity/parent", "the parent config names the root namespace")
class ParentInTheRoot(ReferenceSaver):
    def _parent_config(self, row: CheckpointRow) -> Any:
        return None if row.parent is None else self._address(row.thread, "", row.parent)


@wrong("identity/parent", "list does not select the parent's column")
class NoParentInList(ReferenceSaver):
    def _listed(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        return found._replace(parent_config=None)


@wrong("identity/parent", "SELECT ... JOIN the parent: one that came later is not linked")
class ParentMustBeThere(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        known = row.parent in shelf.checkpoints
        super()._store_checkpoint(shelf, row if known else replace(row, parent=None))


@wrong("identity/parent", "the UPDATE of a second put leaves the parent's column out: NULL")
class ReputLosesParent(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        again = row.id in shelf.checkpoints
        super()._store_checkpoint(shelf, replace(row, parent=None) if again else row)


# -- unknown-is-none ----------------------------------------------------------------------


@wrong("identity/unknown-is-none", "storage[thread_id] of a plain dict")
class UnknownThreadRaises(ReferenceSaver):
    def _find(self, config: Any) -> CheckpointRow | None:
        thread = self._thread_of(config)
        if not self._shelves_of(thread):
            raise KeyError(thread)
        return super()._find(config)


@wrong("identity/unknown-is-none", "an id that is not found falls back to the latest")
class UnknownIdIsLatest(ReferenceSaver):
    def _by_id(self, shelf: Shelf, id: str) -> CheckpointRow | None:
        row = super()._by_id(shelf, id)
        return self._latest(shelf) if row is None and shelf.checkpoints else row


@wrong("identity/unknown-is-none", "a namespace that is not found falls back to the root")
class UnknownNamespaceIsRoot(ReferenceSaver):
    def _find(self, config: Any) -> CheckpointRow | None:
        thread, ns = self._thread_of(config), self._get_ns(config)
        if not self._shelf(thread, ns).checkpoints:
            config = self._address(thread, "", self._asked_id(config))
        return super()._find(config)


@wrong("identity/unknown-is-none", "fetchone() is not checked for None")
class UnknownIdRaises(ReferenceSaver):
    def _by_id(self, shelf: Shelf, id: str) -> CheckpointRow | None:
        return shelf.checkpoints[id]


@wrong("identity/unknown-is-none", "listing an unknown thread raises")
class UnknownThreadCannotBeListed(ReferenceSaver):
    def _selected(self, config: Any) -> Rows:
        if config is not None and not self._shelves_of(self._thread_of(config)):
            raise KeyError(self._thread_of(config))
        return super()._selected(config)


@wrong("identity/unknown-is-none", "an empty tuple stands for nothing")
class UnknownIsAnEmptyTuple(ReferenceSaver):
    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        nothing: Any = {}
        return super().get_tuple(config) or CheckpointTuple(config, nothing, nothing)


# -- none-id-is-latest --------------------------------------------------------------------


@wrong("identity/none-id-is-latest", '`"checkpoint_id" in configurable` in get_tuple')
class NoneIdIsLookedUp(ReferenceSaver):
    def _asked_id(self, config: Any) -> Any:
        asked = config["configurable"]
        return asked["checkpoint_id"] or "" if "checkpoint_id" in asked else None


@wrong("identity/none-id-is-latest", "`is not None` in get_tuple: '' is looked up")
class EmptyIdIsLookedUp(ReferenceSaver):
    def _asked_id(self, config: Any) -> Any:
        return config["configurable"].get("checkpoint_id")


@wrong("identity/none-id-is-latest", '`"checkpoint_id" in configurable` in list')
class NoneIdNarrowsTheList(ReferenceSaver):
    def _listed_id(self, config: Any) -> Any:
        asked = config["configurable"]
        return asked["checkpoint_id"] or "" if "checkpoint_id" in asked else None


@wrong("identity/none-id-is-latest", "`is not None` in list: '' selects nothing")
class EmptyIdNarrowsTheList(ReferenceSaver):
    def _listed_id(self, config: Any) -> Any:
        return config["configurable"].get("checkpoint_id")


@wrong("identity/none-id-is-latest", "'' is stored as the parent, and given back")
class EmptyIdIsAParent(ReferenceSaver):
    def _parent_of(self, config: Any) -> Any:
        return config["configurable"].get("checkpoint_id")


@wrong("identity/none-id-is-latest", 'str(configurable.get("checkpoint_id")) is the parent')
class NoneIdIsAParent(ReferenceSaver):
    def _parent_of(self, config: Any) -> Any:
        asked = config["configurable"]
        if "checkpoint_id" in asked and asked["checkpoint_id"] is None:
            return "None"
        return super()._parent_of(config)


# -- get-defaults-to-root -----------------------------------------------------------------


@wrong("identity/get-defaults-to-root", 'config["configurable"]["checkpoint_ns"] in get_tuple')
class GetNeedsANamespace(ReferenceSaver):
    def _get_ns(self, config: Any) -> str:
        return str(config["configurable"]["checkpoint_ns"])


@wrong("identity/get-defaults-to-root", "without a namespace the newest of all namespaces")
class GetWithoutNamespaceIsAnywhere(ReferenceSaver):
    def _find(self, config: Any) -> CheckpointRow | None:
        if "checkpoint_ns" in config["configurable"] or self._asked_id(config):
            return super()._find(config)
        shelves = [s for s in self._shelves_of(self._thread_of(config)) if s.checkpoints]
        rows = [self._latest(shelf) for shelf in shelves]
        return max((row for row in rows if row), key=lambda row: row.id, default=None)


# -- list-selects -------------------------------------------------------------------------


@wrong("identity/list-selects", "without a namespace only the root's checkpoints are listed")
class ListDefaultsToRoot(ReferenceSaver):
    def _listed_ns(self, config: Any) -> str | None:
        return str(config["configurable"].get("checkpoint_ns") or "")


@wrong("identity/list-selects", "`if checkpoint_ns:` takes the root for no namespace")
class RootListsEverything(ReferenceSaver):
    def _listed_ns(self, config: Any) -> str | None:
        return config["configurable"].get("checkpoint_ns") or None


@wrong("identity/list-selects", "the id in the config is not looked at")
class ListIgnoresId(ReferenceSaver):
    def _listed_id(self, config: Any) -> str | None:
        return None


@wrong("identity/list-selects", 'config["configurable"] of None')
class ListNeedsAConfig(ReferenceSaver):
    def _selected(self, config: Any) -> Rows:
        self._thread_of(config)
        return super()._selected(config)


@wrong("identity/list-selects", "`if config is None: return`")
class ListOfAllIsEmpty(ReferenceSaver):
    def _selected(self, config: Any) -> Rows:
        return [] if config is None else super()._selected(config)


@wrong("identity/list-selects", "the search engine's own limit of ten, where none was asked")
class TenByDefault(ReferenceSaver):
    def _limited(self, rows: Rows, limit: int | None) -> Rows:
        return super()._limited(rows, 10 if limit is None else limit)


@wrong("identity/list-selects", "list(None) gives the newest checkpoint of each thread")
class ListOfAllIsLatestOnly(ReferenceSaver):
    def _selected(self, config: Any) -> Rows:
        rows = super()._selected(config)
        if config is not None:
            return rows
        newest = {(row.thread, row.ns): row for row in sorted(rows, key=lambda row: row.id)}
        return list(newest.values())


# -- loop-configs -------------------------------------------------------------------------


@wrong("identity/loop-configs", "stores the config as JSON")
class ConfigAsJson(ReferenceSaver):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        json.dumps(config)
        return super().put(config, checkpoint, metadata, new_versions)


@wrong("identity/loop-configs", "deep copies the config: locks and loops cannot be copied")
class ConfigDeepCopied(ReferenceSaver):
    def _find(self, config: Any) -> CheckpointRow | None:
        return super()._find(copy.deepcopy(config))


@wrong("identity/loop-configs", "the config is the key of a cache")
class ConfigHashed(ReferenceSaver):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        hash(tuple(sorted(config["configurable"].items())))
        super().put_writes(config, writes, task_id, task_path)


@wrong("identity/loop-configs", "keys that the saver does not know are refused")
class ConfigKeysRefused(ReferenceSaver):
    def _thread_of(self, config: Any) -> str:
        if unknown := [key for key in config["configurable"] if key.startswith("__")]:
            raise ValueError(f"unknown configurable: {unknown}")
        return super()._thread_of(config)


class Narrowed(ReferenceSaver):
    """Hands `_narrowing` exactly the options that the caller named."""

    def _narrowing(self, options: dict[str, Any]) -> dict[str, Any]:
        return options

    def list(self, config: Any, **options: Any) -> Any:
        yield from super().list(config, **self._narrowing(options))

    async def alist(self, config: Any, **options: Any) -> Any:
        for found in super().list(config, **self._narrowing(options)):
            yield found


@wrong("identity/loop-configs", "filter.items() of None")
class FilterNoneRaises(Narrowed):
    def _narrowing(self, options: dict[str, Any]) -> dict[str, Any]:
        return {**options, "filter": dict(options.get("filter", {}).items())}


@wrong("identity/loop-configs", 'before["configurable"] of None')
class BeforeNoneRaises(Narrowed):
    def _narrowing(self, options: dict[str, Any]) -> dict[str, Any]:
        return {**options, "before": dict(options.get("before", {"configurable": {}}).items())}


@wrong("identity/loop-configs", "int(limit) of None")
class LimitNoneRaises(Narrowed):
    def _narrowing(self, options: dict[str, Any]) -> dict[str, Any]:
        return {**options, "limit": int(options["limit"])} if "limit" in options else options


# -- inputs-untouched ---------------------------------------------------------------------


@wrong("identity/inputs-untouched", 'checkpoint.pop("channel_values") of the caller\'s checkpoint')
class PopsChannelValues(ReferenceSaver):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        answer = super().put(config, checkpoint, metadata, new_versions)
        checkpoint.pop("channel_values")
        return answer


@wrong("identity/inputs-untouched", "metadata.update(config['metadata'])")
class UpdatesMetadata(ReferenceSaver):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        metadata.update(self._merged_metadata(config, metadata))
        return super().put(config, checkpoint, metadata, new_versions)


@wrong("identity/inputs-untouched", "the caller's config is made the answer of put")
class PutChangesConfig(ReferenceSaver):
    def _put_answer(self, config: Any, row: CheckpointRow) -> Any:
        config["configurable"]["checkpoint_id"] = row.id
        return super()._put_answer(config, row)


@wrong("identity/inputs-untouched", 'setdefault("checkpoint_ns", "") on the caller\'s config')
class GetFillsInTheNamespace(ReferenceSaver):
    def _get_ns(self, config: Any) -> str:
        return str(config["configurable"].setdefault("checkpoint_ns", ""))


@wrong("identity/inputs-untouched", "get_tuple notes the id that it found in the caller's config")
class GetFillsInTheId(ReferenceSaver):
    def _got(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        config["configurable"]["checkpoint_id"] = found.config["configurable"]["checkpoint_id"]
        return found


@wrong("identity/inputs-untouched", "the batch is emptied as it is stored")
class EmptiesTheBatch(ReferenceSaver):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        super().put_writes(config, list(writes), task_id, task_path)
        if isinstance(writes, list):
            writes.clear()


@wrong("identity/inputs-untouched", "removes what it cannot store from the caller's configurable")
class DropsPrivateConfigKeys(ReferenceSaver):
    def _thread_of(self, config: Any) -> str:
        for key in [key for key in config["configurable"] if key.startswith("__")]:
            del config["configurable"][key]
        return super()._thread_of(config)


@wrong("identity/inputs-untouched", "empty entries are taken out of the caller's versions_seen")
class TrimsVersionsSeen(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        fields = super()._fields(checkpoint)
        fields["versions_seen"] = {k: dict(v) for k, v in fields["versions_seen"].items()}
        for channel in [
            c for c in checkpoint["versions_seen"] if not checkpoint["versions_seen"][c]
        ]:
            del checkpoint["versions_seen"][channel]
        return fields


# -- snapshots ----------------------------------------------------------------------------


@wrong("identity/snapshots", "values are kept as they are: memory needs no serializer")
class ValuesAliased(ReferenceSaver):
    def _dump_value(self, value: Any) -> Blob:
        self._dump(value)
        return ("object", value)

    def _load_value(self, blob: Blob) -> Any:
        return blob[1]


@wrong("identity/snapshots", "copy() where deepcopy() was needed")
class ValuesCopiedShallowly(ReferenceSaver):
    def _dump_value(self, value: Any) -> Blob:
        self._dump(value)
        return ("object", value.copy() if type(value) in {dict, list, set} else value)

    def _load_value(self, blob: Blob) -> Any:
        return blob[1].copy() if type(blob[1]) in {dict, list, set} else blob[1]


@wrong("identity/snapshots", "writes are kept as they are")
class WritesAliased(ReferenceSaver):
    def _dump_write(self, value: Any) -> Blob:
        self._dump(value)
        return ("error", repr(value)) if isinstance(value, BaseException) else ("object", value)

    def _load_write(self, blob: Blob) -> Any:
        return blob[1]


@wrong("identity/snapshots", "the metadata is kept as it is")
class MetadataAliased(ReferenceSaver):
    def _dump_metadata(self, metadata: dict[str, Any]) -> Blob:
        self._dump(metadata)
        return ("object", metadata)

    def _load_metadata(self, blob: Blob) -> dict[str, Any]:
        return dict(blob[1])


@wrong("identity/snapshots", "the checkpoint's fields are kept as they are")
class FieldsAliased(ReferenceSaver):
    def _dump_fields(self, fields: dict[str, Any]) -> Blob:
        self._dump(fields)
        return ("object", fields)

    def _load_fields(self, blob: Blob) -> dict[str, Any]:
        return dict(blob[1])


@wrong("identity/snapshots", "a cache hands the same decoded values to every reader")
class DecodedValuesCached(ReferenceSaver):
    def _load_values(self, blobs: Blobs) -> dict[str, Any]:
        cache: dict[Hashable, Any] = self.__dict__.setdefault("decoded", {})
        for blob in blobs.values():
            if blob is not None and blob not in cache:
                cache[blob] = self._load_value(blob)
        return {channel: cache[blob] for channel, blob in blobs.items() if blob is not None}


@wrong("identity/snapshots", "the last tuple is kept, and handed out until something is put")
class LastTupleCached(ReferenceSaver):
    def _tuple(self, row: CheckpointRow, blobs: Blobs, writes: list[WriteRow]) -> CheckpointTuple:
        key = (id(row), tuple(map(id, writes)))
        kept = self.__dict__.get("last")
        if kept is None or kept[0] != key:
            kept = (key, row, list(writes), super()._tuple(row, blobs, writes))
            self.__dict__["last"] = kept
        found: CheckpointTuple = kept[3]
        return found
