"""Hooks of the reference saver that find the rows for a config."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from saverproof.mistakes.reference.store import ReferenceStore, Shelf

NOTHING = Shelf("", "")


class Addresses(BaseCheckpointSaver[str]):
    """The hooks between configs and shelves, which hold the rows of a thread and namespace."""

    store: ReferenceStore

    def _thread_of(self, config: RunnableConfig) -> str:
        return str(config["configurable"]["thread_id"])

    def _put_ns(self, config: RunnableConfig) -> str:
        return self._ns_or_root(config)

    def _writes_ns(self, config: RunnableConfig) -> str:
        return self._ns_or_root(config)

    def _get_ns(self, config: RunnableConfig) -> str:
        return self._ns_or_root(config)

    def _ns_or_root(self, config: RunnableConfig) -> str:
        return config["configurable"].get("checkpoint_ns") or ""

    def _writes_id(self, config: RunnableConfig) -> str:
        return str(config["configurable"]["checkpoint_id"])

    def _parent_of(self, config: RunnableConfig) -> str | None:
        return config["configurable"].get("checkpoint_id") or None

    def _asked_id(self, config: RunnableConfig) -> str | None:
        return config["configurable"].get("checkpoint_id") or None

    def _listed_id(self, config: RunnableConfig) -> str | None:
        return config["configurable"].get("checkpoint_id") or None

    def _listed_ns(self, config: RunnableConfig) -> str | None:
        return config["configurable"].get("checkpoint_ns")

    def _shelf_key(self, thread: str, ns: str) -> Any:
        return (thread, ns)

    def _shelf(self, thread: str, ns: str) -> Shelf:
        return self.store.shelves.get(self._shelf_key(thread, ns), NOTHING)

    def _shelf_for_writing(self, thread: str, ns: str) -> Shelf:
        return self.store.shelves.setdefault(self._shelf_key(thread, ns), Shelf(thread, ns))

    def _all_shelves(self) -> Collection[Shelf]:
        return self.store.shelves.values()

    def _shelves_of(self, thread: str, ns: str | None = None) -> list[Shelf]:
        if ns is not None:
            return [self._shelf(thread, ns)]
        return [
            shelf
            for shelf in self._all_shelves()
            if self._shelf_key(thread, shelf.ns) == self._shelf_key(shelf.thread, shelf.ns)
        ]

    def _address(self, thread: str, ns: str, id: str | None) -> RunnableConfig:
        return {"configurable": {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": id}}
