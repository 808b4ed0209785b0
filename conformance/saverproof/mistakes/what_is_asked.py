"""Savers that ignore one argument of a listing when another is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow
from saverproof.mistakes.registry import mistake

Config = RunnableConfig | None
Filter = dict[str, Any] | None


@mistake("filter/equality", "the query over all threads has no WHERE at all")
class FilterForgottenForAllThreads(ReferenceSaver):
    def _page(
        self, config: Config, filter: Filter, before: Config, limit: int | None
    ) -> list[CheckpointRow]:
        return super()._page(config, filter if config else None, before, limit)


@mistake("filter/equality", "an id is looked up, and the filter is not looked at")
class FilterForgottenBesideAnId(ReferenceSaver):
    def _page(
        self, config: Config, filter: Filter, before: Config, limit: int | None
    ) -> list[CheckpointRow]:
        named = config is not None and self._listed_id(config) is not None
        return super()._page(config, None if named else filter, before, limit)


@mistake("ordering/before-is-exclusive", "a search by metadata takes another way, without a bound")
class BeforeForgottenBesideAFilter(ReferenceSaver):
    def _page(
        self, config: Config, filter: Filter, before: Config, limit: int | None
    ) -> list[CheckpointRow]:
        return super()._page(config, filter, None if filter else before, limit)


@mistake("pending-writes/same-in-list", "the query over all threads joins no writes")
class AllThreadsWithoutWrites(ReferenceSaver):
    def _listed(self, config: Config, found: CheckpointTuple) -> CheckpointTuple:
        return found._replace(pending_writes=[]) if config is None else found


@mistake("ordering/limit-is-a-prefix", "a limit for each thread, where all are listed")
class LimitForEachThread(ReferenceSaver):
    def _limited(self, rows: list[CheckpointRow], limit: int | None) -> list[CheckpointRow]:
        def page() -> Iterator[CheckpointRow]:
            for thread in {row.thread for row in rows}:
                yield from [row for row in rows if row.thread == thread][:limit]

        return self._order(list(page()))
