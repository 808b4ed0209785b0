"""A saver that refuses, loudly, what says nothing: an empty id, and a limit of 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig

from tests.reference.sqlite import CheckpointRows, SqliteReference
from tests.right_savers.registry import right


@right(
    "an explicit empty checkpoint_id and limit=0 raise ValueError",
    about={"filter", "graph", "identity", "ordering"},
    advice={
        "identity/empty-id": "an id that means nothing is refused, loudly",
        "ordering/limit-zero": "so is a limit of nothing",
    },
)
class RefusesWhatIsEmpty(SqliteReference):
    def _parent_of(self, config: RunnableConfig) -> str | None:
        return _not_empty(super()._parent_of(config), config)

    def _asked_id(self, config: RunnableConfig) -> str | None:
        return _not_empty(super()._asked_id(config), config)

    def _listed_id(self, config: RunnableConfig) -> str | None:
        return _not_empty(super()._listed_id(config), config)

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        if "" in run_ids:
            raise ValueError("run_ids: found an empty text, expected ids")
        super().delete_for_runs(run_ids)

    def _page(self, config: Any, filter: Any, before: Any, limit: int | None) -> CheckpointRows:
        if limit is not None and limit < 1:
            raise ValueError(f"limit: found {limit}, expected a number from 1")
        return super()._page(config, filter, before, limit)


def _not_empty(id: str | None, config: RunnableConfig) -> str | None:
    if config["configurable"].get("checkpoint_id") == "":
        raise ValueError("checkpoint_id: found an empty text, expected an id or None")
    return id
