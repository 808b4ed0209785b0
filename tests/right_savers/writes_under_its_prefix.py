"""A saver for one of several tenants, whose name stands before each thread in what is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig

from tests.reference.sqlite import CheckpointRows, SqliteReference
from tests.right_savers.registry import right

PREFIX = "acme/"
OF_TENANT = f"substr(thread, 1, {len(PREFIX)}) = '{PREFIX}'"


@right(
    "a tenant's name stands before each thread id in the store, and nowhere else",
    about={"filter", "identity", "isolation", "ordering"},
)
class WritesUnderItsPrefix(SqliteReference):
    def _thread_of(self, config: RunnableConfig) -> str:
        return PREFIX + super()._thread_of(config)

    def _address(self, thread: str, ns: str, id: str | None) -> RunnableConfig:
        return super()._address(thread.removeprefix(PREFIX), ns, id)

    def _rows(self, where: str = OF_TENANT, *values: Any) -> CheckpointRows:
        return super()._rows(where, *values)

    def delete_thread(self, thread_id: str) -> None:
        super().delete_thread(f"{PREFIX}{thread_id}")

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(f"{PREFIX}{source_thread_id}", f"{PREFIX}{target_thread_id}")

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        super().prune([f"{PREFIX}{thread}" for thread in thread_ids], strategy=strategy)
