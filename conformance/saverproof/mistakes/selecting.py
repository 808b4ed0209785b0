"""Savers that misread a config: what it selects, what it leaves out, or what else it carries."""

from __future__ import annotations

import copy
import json
from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow
from saverproof.mistakes.registry import mistake

Rows = list[CheckpointRow]


# -- none-id-is-latest --------------------------------------------------------------------


@mistake("identity/none-id-is-latest", '`"checkpoint_id" in configurable` in get_tuple')
class NoneIdIsLookedUp(ReferenceSaver):
    def _asked_id(self, config: Any) -> Any:
        asked = config["configurable"]
        return asked["checkpoint_id"] or "" if "checkpoint_id" in asked else None


@mistake("identity/none-id-is-latest", "`is not None` in get_tuple: '' is looked up")
class EmptyIdIsLookedUp(ReferenceSaver):
    def _asked_id(self, config: Any) -> Any:
        return config["configurable"].get("checkpoint_id")


@mistake("identity/none-id-is-latest", '`"checkpoint_id" in configurable` in list')
class NoneIdNarrowsTheList(ReferenceSaver):
    def _listed_id(self, config: Any) -> Any:
        asked = config["configurable"]
        return asked["checkpoint_id"] or "" if "checkpoint_id" in asked else None


@mistake("identity/none-id-is-latest", "`is not None` in list: '' selects nothing")
class EmptyIdNarrowsTheList(ReferenceSaver):
    def _listed_id(self, config: Any) -> Any:
        return config["configurable"].get("checkpoint_id")


@mistake("identity/none-id-is-latest", "'' is stored as the parent, and given back")
class EmptyIdIsAParent(ReferenceSaver):
    def _parent_of(self, config: Any) -> Any:
        return config["configurable"].get("checkpoint_id")


@mistake("identity/none-id-is-latest", 'str(configurable.get("checkpoint_id")) is the parent')
class NoneIdIsAParent(ReferenceSaver):
    def _parent_of(self, config: Any) -> Any:
        asked = config["configurable"]
        if "checkpoint_id" in asked and asked["checkpoint_id"] is None:
            return "None"
        return super()._parent_of(config)


# -- empty-id -----------------------------------------------------------------------------


@mistake("identity/empty-id", "an id of '' raises in get_tuple")
class EmptyIdIsRefused(ReferenceSaver):
    def _asked_id(self, config: Any) -> str | None:
        if config["configurable"].get("checkpoint_id") == "":
            raise ValueError("checkpoint_id is empty")
        return super()._asked_id(config)


@mistake("identity/empty-id", "an id of '' raises in put")
class EmptyParentIsRefused(ReferenceSaver):
    def _parent_of(self, config: Any) -> str | None:
        if config["configurable"].get("checkpoint_id") == "":
            raise ValueError("checkpoint_id is empty")
        return super()._parent_of(config)


# -- get-defaults-to-root -----------------------------------------------------------------


@mistake("identity/get-defaults-to-root", 'config["configurable"]["checkpoint_ns"] in get_tuple')
class GetNeedsANamespace(ReferenceSaver):
    def _get_ns(self, config: Any) -> str:
        return str(config["configurable"]["checkpoint_ns"])


@mistake("identity/get-defaults-to-root", "without a namespace the newest of all namespaces")
class GetWithoutNamespaceIsAnywhere(ReferenceSaver):
    def _find(self, config: Any) -> CheckpointRow | None:
        if "checkpoint_ns" in config["configurable"] or self._asked_id(config):
            return super()._find(config)
        shelves = [s for s in self._shelves_of(self._thread_of(config)) if s.checkpoints]
        rows = [self._latest(shelf) for shelf in shelves]
        return max((row for row in rows if row), key=lambda row: row.id, default=None)


# -- list-without-namespace ---------------------------------------------------------------


@mistake(
    "identity/list-without-namespace", "without a namespace only the root's checkpoints are listed"
)
class ListDefaultsToRoot(ReferenceSaver):
    def _listed_ns(self, config: Any) -> str | None:
        return str(config["configurable"].get("checkpoint_ns") or "")


@mistake("identity/list-without-namespace", 'config["configurable"]["checkpoint_ns"] in list')
class ListNeedsANamespace(ReferenceSaver):
    def _listed_ns(self, config: Any) -> str:
        return str(config["configurable"]["checkpoint_ns"])


# -- list-selects -------------------------------------------------------------------------


@mistake(
    "identity/list-selects",
    "`if checkpoint_ns:` takes the root for no namespace",
    also={"ordering/pages-tile"},
)
class RootListsEverything(ReferenceSaver):
    def _listed_ns(self, config: Any) -> str | None:
        return config["configurable"].get("checkpoint_ns") or None


@mistake(
    "identity/list-selects",
    "WHERE thread_id = ?: the namespace in the config is not looked at",
    also={"ordering/pages-tile"},
)
class ListIgnoresNamespace(ReferenceSaver):
    def _listed_ns(self, config: Any) -> str | None:
        return None


@mistake("identity/list-selects", "the id in the config is not looked at")
class ListIgnoresId(ReferenceSaver):
    def _listed_id(self, config: Any) -> str | None:
        return None


@mistake("identity/list-selects", 'config["configurable"] of None')
class ListNeedsAConfig(ReferenceSaver):
    def _selected(self, config: Any) -> Rows:
        self._thread_of(config)
        return super()._selected(config)


@mistake("identity/list-selects", "`if config is None: return`")
class ListOfAllIsEmpty(ReferenceSaver):
    def _selected(self, config: Any) -> Rows:
        return [] if config is None else super()._selected(config)


@mistake("identity/list-selects", "an OR of no conditions: an empty filter fits nothing")
class EmptyFilterFitsNothing(ReferenceSaver):
    def _filtered(self, rows: Rows, filter: dict[str, Any] | None) -> Rows:
        return [] if filter == {} else super()._filtered(rows, filter)


@mistake("identity/list-selects", "the search engine's own limit of ten, where none was asked")
class TenByDefault(ReferenceSaver):
    def _limited(self, rows: Rows, limit: int | None) -> Rows:
        return super()._limited(rows, 10 if limit is None else limit)


@mistake("identity/list-selects", "list(None) gives the newest checkpoint of each thread")
class ListOfAllIsLatestOnly(ReferenceSaver):
    def _selected(self, config: Any) -> Rows:
        rows = super()._selected(config)
        if config is not None:
            return rows
        newest = {(row.thread, row.ns): row for row in sorted(rows, key=lambda row: row.id)}
        return list(newest.values())


# -- loop-configs -------------------------------------------------------------------------


@mistake("identity/loop-configs", "stores the config as JSON")
class ConfigAsJson(ReferenceSaver):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        json.dumps(config)
        return super().put(config, checkpoint, metadata, new_versions)


@mistake("identity/loop-configs", "deep copies the config: locks and loops cannot be copied")
class ConfigDeepCopied(ReferenceSaver):
    def _find(self, config: Any) -> CheckpointRow | None:
        return super()._find(copy.deepcopy(config))


@mistake("identity/loop-configs", "the config is the key of a cache")
class ConfigHashed(ReferenceSaver):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        hash(tuple(sorted(config["configurable"].items())))
        super().put_writes(config, writes, task_id, task_path)


@mistake(
    "identity/loop-configs",
    "keys that the saver does not know are refused",
    also={"serialization/config-metadata-merged"},
)
class ConfigKeysRefused(ReferenceSaver):
    def _thread_of(self, config: Any) -> str:
        if unknown := [key for key in config["configurable"] if key.startswith("__")]:
            raise ValueError(f"unknown configurable: {unknown}")
        return super()._thread_of(config)


class OnlyNamedOptions(ReferenceSaver):
    """A base saver that passes `_narrowing` exactly the options that the caller named."""

    def _narrowing(self, options: dict[str, Any]) -> dict[str, Any]:
        return options

    def list(self, config: Any, **options: Any) -> Any:
        yield from super().list(config, **self._narrowing(options))

    async def alist(self, config: Any, **options: Any) -> Any:
        for found in super().list(config, **self._narrowing(options)):
            yield found


@mistake("identity/loop-configs", "filter.items() of None")
class FilterNoneRaises(OnlyNamedOptions):
    def _narrowing(self, options: dict[str, Any]) -> dict[str, Any]:
        return {**options, "filter": dict(options.get("filter", {}).items())}


@mistake("identity/loop-configs", 'before["configurable"] of None')
class BeforeNoneRaises(OnlyNamedOptions):
    def _narrowing(self, options: dict[str, Any]) -> dict[str, Any]:
        return {**options, "before": dict(options.get("before", {"configurable": {}}).items())}


@mistake("identity/loop-configs", "int(limit) of None")
class LimitNoneRaises(OnlyNamedOptions):
    def _narrowing(self, options: dict[str, Any]) -> dict[str, Any]:
        return {**options, "limit": int(options["limit"])} if "limit" in options else options
