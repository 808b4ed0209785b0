"""Savers that confuse runs, or change the lists of what they are asked to remove."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatch
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Shelf
from saverproof.mistakes.registry import mistake


@mistake("deletion/runs", "runs are looked for by LIKE, and any letter is an underscore")
class RunsLike(ReferenceSaver):
    def _ids_of_runs(self, shelf: Shelf, run_ids: Sequence[str]) -> list[str]:
        patterns = [run.replace("_", "?").replace("%", "*") for run in run_ids]
        runs = {
            id: str(self._load_metadata(row.metadata).get("run_id"))
            for id, row in shelf.checkpoints.items()
        }
        return [id for id, run in runs.items() if any(fnmatch(run, like) for like in patterns)]


@mistake(
    "deletion/runs", "the column is filled from the argument, and the loop's id is in the config"
)
class RunOfTheArgumentOnly(ReferenceSaver):
    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        key = self._thread_of(config), checkpoint["id"]
        self._runs()[key] = metadata.get("run_id")
        return super().put(config, checkpoint, metadata, new_versions)

    def _runs(self) -> dict[tuple[str, str], Any]:
        runs: dict[tuple[str, str], Any] = self.store.extra.setdefault("runs", {})
        return runs

    def _ids_of_runs(self, shelf: Shelf, run_ids: Sequence[str]) -> list[str]:
        named = super()._ids_of_runs(shelf, run_ids)
        return [id for id in named if self._runs().get((shelf.thread, id)) in run_ids]


@mistake("deletion/prune-latest", "everything goes unless a strategy is named")
class PruneDeletesByDefault(ReferenceSaver):
    def prune(self, thread_ids: Sequence[str], *, strategy: str = "delete") -> None:
        super().prune(thread_ids, strategy=strategy)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "delete") -> None:
        await super().aprune(thread_ids, strategy=strategy)


@mistake("identity/inputs-untouched", "the runs are a queue that is worked off")
class RunIdsPopped(ReferenceSaver):
    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        while run_ids and isinstance(run_ids, list):
            super().delete_for_runs([run_ids.pop()])


@mistake("identity/inputs-untouched", "the threads are a queue that is worked off")
class ThreadIdsPopped(ReferenceSaver):
    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        while thread_ids and isinstance(thread_ids, list):
            super().prune([thread_ids.pop()], strategy=strategy)
