"""A saver that takes a listing without a namespace for one of the root namespace."""

from __future__ import annotations

from langchain_core.runnables import RunnableConfig

from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right


@right(
    "without a namespace, the root's checkpoints are listed",
    about={"filter", "graph", "identity", "isolation", "ordering"},
    advice={"identity/list-without-namespace": "LangGraph names the namespace that it lists"},
)
class ListsTheRoot(SqliteReference):
    def _listed_ns(self, config: RunnableConfig) -> str | None:
        return config["configurable"].get("checkpoint_ns") or ""
