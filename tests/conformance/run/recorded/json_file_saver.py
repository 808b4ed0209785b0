"""A saver as somebody writes one in an afternoon: everything in one JSON file."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple, get_checkpoint_id

from saverproof import Workspace, target


class JsonFileSaver(BaseCheckpointSaver[str]):
    """Threads in a dictionary, in a file."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.data: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    def _save(self) -> None:
        self.path.write_text(json.dumps(self.data, default=str, skipkeys=True))
        self.data = json.loads(self.path.read_text())

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        where = config["configurable"]
        thread = self.data.setdefault(where["thread_id"], {})
        thread[checkpoint["id"]] = {
            "ns": where.get("checkpoint_ns", ""),
            "checkpoint": checkpoint,
            "metadata": metadata,
            "parent": where.get("checkpoint_id"),
            "writes": [],
        }
        self._save()
        return {
            "configurable": {
                "thread_id": where["thread_id"],
                "checkpoint_ns": where.get("checkpoint_ns", ""),
                "checkpoint_id": checkpoint["id"],
            }
        }

    def put_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        where = config["configurable"]
        entry = self.data.get(where["thread_id"], {}).get(where["checkpoint_id"])
        if entry is None:
            return
        entry["writes"].extend([task_id, channel, value] for channel, value in writes)
        self._save()

    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        where = config["configurable"]
        thread = self.data.get(where["thread_id"], {})
        wanted = get_checkpoint_id(config) or max(thread, default=None)
        if wanted not in thread:
            return None
        return self._tuple(where["thread_id"], wanted, thread[wanted])

    def _tuple(self, thread_id: str, checkpoint_id: str, entry: Any) -> CheckpointTuple:
        def config(identifier: str) -> Any:
            return {
                "configurable": {
                    "thread_id": thread_id,
                    "checkpoint_ns": entry["ns"],
                    "checkpoint_id": identifier,
                }
            }

        return CheckpointTuple(
            config(checkpoint_id),
            entry["checkpoint"],
            entry["metadata"],
            config(entry["parent"]) if entry["parent"] else None,
            [(task, channel, value) for task, channel, value in entry["writes"]],
        )

    def list(
        self, config: Any, *, filter: Any = None, before: Any = None, limit: int | None = None
    ) -> Iterator[CheckpointTuple]:
        threads = [config["configurable"]["thread_id"]] if config else list(self.data)
        for thread_id in threads:
            found = list(self.data.get(thread_id, {}).items())
            if before is not None:
                found = [pair for pair in found if pair[0] <= get_checkpoint_id(before)]
            for checkpoint_id, entry in found[:limit]:
                if filter and any(entry["metadata"].get(k) != v for k, v in filter.items()):
                    continue
                yield self._tuple(thread_id, checkpoint_id, entry)

    def delete_thread(self, thread_id: str) -> None:
        self.data.pop(thread_id, None)

    async def aput(self, *args: Any, **rest: Any) -> Any:
        return self.put(*args, **rest)

    async def aput_writes(self, *args: Any, **rest: Any) -> None:
        self.put_writes(*args, **rest)

    async def aget_tuple(self, config: Any) -> CheckpointTuple | None:
        return self.get_tuple(config)

    async def alist(self, config: Any, **rest: Any) -> AsyncIterator[CheckpointTuple]:
        for found in self.list(config, **rest):
            yield found

    async def adelete_thread(self, thread_id: str) -> None:
        self.delete_thread(thread_id)


@target
@contextmanager
def json_file(workspace: Workspace) -> Iterator[JsonFileSaver]:
    """The saver on the workspace's folder."""
    yield JsonFileSaver(workspace.path / "state.json")
