"""The suite of LangGraph's own authors, over both APIs of the bundled savers."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)

from saverproof_savers import SnapshotSqliteSaver, SqliteSaver

conformance = pytest.importorskip("langgraph.checkpoint.conformance")
capabilities = pytest.importorskip("langgraph.checkpoint.conformance.capabilities")


class AsyncOverSync(BaseCheckpointSaver[Any]):
    """The peer suite calls the async API alone: this routes it to the sync one."""

    def __init__(self, saver: Any) -> None:
        super().__init__(serde=saver.serde)
        self.saver = saver

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return self.saver.put(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        self.saver.put_writes(config, writes, task_id, task_path)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self.saver.get_tuple(config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        for found in self.saver.list(config, filter=filter, before=before, limit=limit):
            yield found

    async def adelete_thread(self, thread_id: str) -> None:
        self.saver.delete_thread(thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        self.saver.delete_for_runs(run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self.saver.copy_thread(source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        self.saver.prune(thread_ids, strategy=strategy)


@pytest.mark.parametrize("opened", [SqliteSaver.open, SnapshotSqliteSaver])
@pytest.mark.parametrize("api", ["sync", "async"])
def test_the_peer_suite_passes_in_full(tmp_path: Path, api: str, opened: Any) -> None:
    counter = iter(range(1000))

    @conformance.checkpointer_test(name=f"saver-{api}")
    async def opener() -> AsyncIterator[Any]:
        with opened(tmp_path / f"{next(counter)}.db") as saver:
            yield saver if api == "async" else AsyncOverSync(saver)

    report = asyncio.run(conformance.validate(opener))
    problems = {name: result.failures for name, result in report.results.items()}
    assert all(result.passed for result in report.results.values()), problems
    assert set(report.results) == {capability.value for capability in capabilities.Capability}
