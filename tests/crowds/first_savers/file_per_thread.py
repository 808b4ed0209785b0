"""A first saver: a file for each thread, which holds all of it as one serialized dict."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_metadata,
)

from tests.crowds.first_savers.registry import FirstSaver

State = dict[str, Any]
LOCK = threading.RLock()


class FilePerThreadSaver(BaseCheckpointSaver[int]):
    """Reads the file of a thread, changes what it holds, and writes it back."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)

    def file_of(self, thread_id: str) -> Path:
        return self.folder / f"{thread_id.lower().strip()}.thread"

    def load(self, file: Path) -> State:
        if not file.exists():
            return {"checkpoints": [], "writes": []}
        kind, _, data = file.read_bytes().partition(b"\n")
        state: State = self.serde.loads_typed((kind.decode(), data))
        return state

    def save(self, thread_id: str, state: State) -> None:
        kind, data = self.serde.dumps_typed(state)
        file = self.file_of(thread_id)
        file.touch(self.mode)
        file.write_bytes(kind.encode() + b"\n" + data)

    mode = 0o666

    # -- writing --------------------------------------------------------------------------

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        thread_id, ns = self.place_of(config)
        row = {
            "thread_id": thread_id,
            "ns": ns,
            "id": checkpoint["id"],
            "parent_id": config["configurable"].get("checkpoint_id") or None,
            "checkpoint": list(self.serde.dumps_typed(checkpoint)),
            "metadata": list(self.serde.dumps_typed(get_checkpoint_metadata(config, metadata))),
        }
        with LOCK:
            state = self.load(self.file_of(thread_id))
            self.clear_up(state, ns, checkpoint["id"])
            there = [(each["ns"], each["id"]) for each in state["checkpoints"]]
            if (ns, checkpoint["id"]) in there:
                state["checkpoints"][there.index((ns, checkpoint["id"]))] = row
            else:
                state["checkpoints"].append(row)
            self.save(thread_id, state)
        return self.address(thread_id, ns, checkpoint["id"])

    def clear_up(self, state: State, ns: str, checkpoint_id: str) -> None:
        """Writes of a checkpoint that is put again are those of a run that failed."""
        if any((row["ns"], row["id"]) == (ns, checkpoint_id) for row in state["checkpoints"]):
            kept = [w for w in state["writes"] if (w["ns"], w["of"]) != (ns, checkpoint_id)]
            state["writes"] = kept

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        thread_id, ns = self.place_of(config)
        checkpoint_id = config["configurable"]["checkpoint_id"]
        with LOCK:
            state = self.load(self.file_of(thread_id))
            for position, (channel, value) in enumerate(writes):
                write = {
                    "ns": ns,
                    "of": self.written_to(state, ns, checkpoint_id),
                    "task_id": task_id,
                    "path": task_path,
                    "index": self.index_of(channel, position),
                    "channel": channel,
                    "value": list(self.serde.dumps_typed(value)),
                }
                self.add_write(state["writes"], write)
            self.save(thread_id, state)

    def written_to(self, state: State, ns: str, checkpoint_id: str) -> str:
        """The checkpoint that writes go to."""
        ids = [row["id"] for row in state["checkpoints"] if row["ns"] == ns]
        return max(ids, default=checkpoint_id)

    def index_of(self, channel: str, position: int) -> int:
        return position

    def add_write(self, stored: list[State], write: State) -> None:
        key = [write[name] for name in ("ns", "of", "task_id", "index")]
        for old in stored:
            if [old[name] for name in ("ns", "of", "task_id", "index")] == key:
                if write["channel"] in WRITES_IDX_MAP:
                    old.update(write)
                return
        stored.append(write)

    def delete_thread(self, thread_id: str) -> None:
        self.file_of(thread_id).unlink()

    # -- reading --------------------------------------------------------------------------

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread_id, ns = self.place_of(config)
        asked = config["configurable"].get("checkpoint_id")
        state = self.load(self.file_of(thread_id))
        rows = [
            row
            for row in state["checkpoints"]
            if self.is_of(row, ns, asked) and self.fits(row, asked)
        ]
        newest = max(rows, key=lambda row: row["id"], default=None)
        return None if newest is None else self.tuple_of(state, newest)

    def is_of(self, row: State, ns: str, asked: str | None) -> bool:
        """An id says all: it is looked up in the whole thread."""
        return bool(asked) or row["ns"] == ns

    def fits(self, row: State, asked: str | None) -> bool:
        return not asked or row["id"] == asked

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        asked = self.asked_of(config)
        files = sorted(self.folder.glob("*.thread"))
        if config is not None:
            files = [self.file_of(str(asked["thread_id"]))]
        found = []
        for file in files:
            state = self.load(file)
            found += [(row["id"], self.tuple_of(state, row)) for row in state["checkpoints"]]
        found.sort(key=lambda pair: pair[0], reverse=True)
        bound = before["configurable"].get("checkpoint_id") if before else None
        left = limit
        for checkpoint_id, each in found:
            place = each.config["configurable"]
            if (
                (config is not None and place["thread_id"] != str(asked["thread_id"]))
                or asked.get("checkpoint_ns") not in (None, place["checkpoint_ns"])
                or not self.fits({"id": checkpoint_id}, asked.get("checkpoint_id"))
                or (bound and not checkpoint_id < bound)
                or any(each.metadata.get(key) != value for key, value in (filter or {}).items())
            ):
                continue
            if left == 0:
                return
            left = None if left is None else left - 1
            yield each

    def asked_of(self, config: RunnableConfig | None) -> Any:
        return config["configurable"]

    def tuple_of(self, state: State, row: State) -> CheckpointTuple:
        writes = [w for w in state["writes"] if (w["ns"], w["of"]) == (row["ns"], row["id"])]
        writes.sort(key=lambda write: (write["path"], write["task_id"], write["index"]))
        thread_id, ns, parent_id = row["thread_id"], row["ns"], row["parent_id"]
        return CheckpointTuple(
            self.address(thread_id, ns, row["id"]),
            self.serde.loads_typed(tuple(row["checkpoint"])),
            self.serde.loads_typed(tuple(row["metadata"])),
            self.address(thread_id, ns, parent_id) if parent_id else None,
            [
                (w["task_id"], w["channel"], self.serde.loads_typed(tuple(w["value"])))
                for w in writes
            ],
        )

    def place_of(self, config: RunnableConfig) -> tuple[str, str]:
        asked = config["configurable"]
        return str(asked["thread_id"]), asked.get("checkpoint_ns") or ""

    def address(self, thread_id: str, ns: str, checkpoint_id: str) -> RunnableConfig:
        address = {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}
        return {"configurable": address}


@contextmanager
def opened(saver: type[FilePerThreadSaver], folder: Path) -> Iterator[FilePerThreadSaver]:
    """Open the saver in a folder."""
    yield saver(folder)


FILE_PER_THREAD = FirstSaver("file-per-thread", FilePerThreadSaver, opened)


@FILE_PER_THREAD.mend(
    "ids-without-case",
    "isolation/hostile-identifiers",
    "a thread's id is a file name: 'A' and 'a' are one, and 'a/b' is none",
)
class HashedNames:
    def file_of(self, thread_id: str) -> Path:
        name = hashlib.sha256(thread_id.encode("utf-8", "surrogatepass")).hexdigest()
        return self.folder / f"{name}.thread"


@FILE_PER_THREAD.mend(
    "reput-clears-writes",
    "upsert/reput-keeps-writes",
    "a put of a checkpoint that is there clears its writes",
)
class KeepsWrites:
    def clear_up(self, state: State, ns: str, checkpoint_id: str) -> None:
        pass


@FILE_PER_THREAD.mend(
    "writes-to-the-latest",
    "pending-writes/late-writes",
    "writes go to the latest checkpoint, whatever id is named",
)
class WritesWhereTold:
    def written_to(self, state: State, ns: str, checkpoint_id: str) -> str:
        return checkpoint_id


@FILE_PER_THREAD.mend(
    "position-is-the-index",
    "pending-writes/special-index",
    "the index of an interrupt is its position, as that of a result is",
)
class SpecialIndexes:
    def index_of(self, channel: str, position: int) -> int:
        return WRITES_IDX_MAP.get(channel, position)


@FILE_PER_THREAD.mend(
    "unknown-thread-raises",
    "deletion/thread-all",
    "a thread that is not there cannot be deleted: FileNotFoundError",
)
class DeletesUnknown:
    def delete_thread(self, thread_id: str) -> None:
        self.file_of(thread_id).unlink(missing_ok=True)


@FILE_PER_THREAD.mend(
    "id-in-any-namespace",
    "isolation/namespaces",
    "an id is looked up in the whole thread, in whichever namespace",
)
class IdInNamespace:
    def is_of(self, row: State, ns: str, asked: str | None) -> bool:
        return bool(row["ns"] == ns)


@FILE_PER_THREAD.mend("no-list-of-all", "identity/list-selects", "`list(None)` raises TypeError")
class ListsAll:
    def asked_of(self, config: RunnableConfig | None) -> Any:
        return {} if config is None else config["configurable"]


@FILE_PER_THREAD.mend(
    "readable-by-all", "isolation/private-files", "other users can read the files"
)
class OwnersOnly:
    mode = 0o600
