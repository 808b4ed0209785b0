"""Savers with one call that always raises: a table is missing, or its statement is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.registry import mistake

_EMPTY_STORE = {"identity/unknown-is-none", "lifecycle/any-first-operation"}
"""Contracts that a saver whose call always raises breaks even on an empty store."""


@mistake("identity/put-returns-address", "put always raises")
class PutAlwaysRaises(ReferenceSaver):
    def put(self, *args: Any, **options: Any) -> RunnableConfig:
        raise ValueError("no such table: checkpoints")


@mistake("identity/put-returns-address", "get_tuple always raises", also=_EMPTY_STORE)
class GetTupleAlwaysRaises(ReferenceSaver):
    def get_tuple(self, config: RunnableConfig) -> Any:
        raise ValueError("no such column: checkpoint")

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, Any]:
        # A saver without a method of its own walks by get_tuple, as its base class does.
        return BaseCheckpointSaver.get_delta_channel_history(self, config=config, channels=channels)


@mistake("identity/list-selects", "list always raises", also=_EMPTY_STORE)
class ListAlwaysRaises(ReferenceSaver):
    def list(self, config: Any, **narrowing: Any) -> Any:
        raise ValueError("syntax error")


@mistake(
    "pending-writes/complete",
    "put_writes always raises",
    also={
        "pending-writes/early-writes-kept",
        "pending-writes/empty-batch",
        "lifecycle/any-first-operation",
    },
)
class PutWritesAlwaysRaises(ReferenceSaver):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        raise ValueError("no such table: writes")


@mistake(
    "deletion/thread-all",
    "delete_thread always raises",
    also={"lifecycle/any-first-operation"},
)
class DeleteThreadAlwaysRaises(ReferenceSaver):
    def delete_thread(self, thread_id: str) -> None:
        raise ValueError("no such table: writes")
