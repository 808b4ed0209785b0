"""A first saver: a JSON file for each checkpoint, and one for its pending writes."""

from __future__ import annotations

import base64
import hashlib
import json
import re
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


class JsonFileSaver(BaseCheckpointSaver[int]):
    """Keeps each thread in a folder of its own, with a folder for each namespace in it."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)

    # -- files ----------------------------------------------------------------------------

    def file_name(self, text: str) -> str:
        return re.sub(r"[^\w.-]", "_", text) or "root"

    def folder_of(self, thread_id: str, ns: str) -> Path:
        return self.folder / self.file_name(thread_id) / self.file_name(ns)

    def checkpoint_file(self, thread_id: str, ns: str, checkpoint_id: str) -> Path:
        return self.folder_of(thread_id, ns) / f"{self.file_name(checkpoint_id)}.checkpoint.json"

    def writes_file(self, thread_id: str, ns: str, checkpoint_id: str) -> Path:
        return self.folder_of(thread_id, ns) / f"{self.file_name(checkpoint_id)}.writes.json"

    def save(self, file: Path, data: Any) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(self.mode)
        file.write_text(json.dumps(data))

    mode = 0o666

    def load(self, file: Path) -> Any:
        return json.loads(file.read_text())

    # -- values ---------------------------------------------------------------------------

    def encode(self, value: Any) -> list[str]:
        kind, data = self.serde.dumps_typed(value)
        return [kind, base64.b64encode(data).decode()]

    def decode(self, stored: list[str]) -> Any:
        return self.serde.loads_typed((stored[0], base64.b64decode(stored[1])))

    def whole_metadata(self, config: RunnableConfig, metadata: CheckpointMetadata) -> Any:
        return {key: value for key, value in metadata.items() if self.is_worth_keeping(value)}

    def is_worth_keeping(self, value: Any) -> bool:
        return value is not None

    # -- writing --------------------------------------------------------------------------

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        thread_id = str(config["configurable"]["thread_id"])
        ns = config["configurable"].get("checkpoint_ns") or ""
        row = {
            "thread_id": thread_id,
            "ns": ns,
            "id": checkpoint["id"],
            "parent_id": config["configurable"].get("checkpoint_id") or None,
            "ts": checkpoint["ts"],
            "checkpoint": self.encode(checkpoint),
            "metadata": self.encode(self.whole_metadata(config, metadata)),
        }
        self.save(self.checkpoint_file(thread_id, ns, checkpoint["id"]), row)
        return self.config_of(thread_id, ns, checkpoint["id"])

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        thread_id = str(config["configurable"]["thread_id"])
        ns = config["configurable"].get("checkpoint_ns") or ""
        checkpoint_id = config["configurable"]["checkpoint_id"]
        if not self.takes_writes(thread_id, ns, checkpoint_id):
            return
        file = self.writes_file(thread_id, ns, checkpoint_id)
        stored = self.load(file) if file.exists() else {}
        for position, (channel, value) in enumerate(writes):
            index = WRITES_IDX_MAP.get(channel, position)
            write = {
                "task_id": task_id,
                "task_path": task_path,
                "index": index,
                "channel": channel,
                "value": self.encode(value),
            }
            self.add_write(stored, f"{task_id}/{index}", write)
        self.save(file, stored)

    def takes_writes(self, thread_id: str, ns: str, checkpoint_id: str) -> bool:
        return self.checkpoint_file(thread_id, ns, checkpoint_id).exists()

    def add_write(self, stored: dict[str, Any], key: str, write: dict[str, Any]) -> None:
        stored[key] = write

    def delete_thread(self, thread_id: str) -> None:
        folder = self.folder_of(thread_id, "")
        for file in folder.glob("*.json"):
            file.unlink()

    # -- reading --------------------------------------------------------------------------

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread_id = str(config["configurable"]["thread_id"])
        ns = config["configurable"].get("checkpoint_ns") or ""
        checkpoint_id = config["configurable"].get("checkpoint_id")
        if checkpoint_id:
            file = self.checkpoint_file(thread_id, ns, checkpoint_id)
            return self.tuple_of(self.load(file)) if file.exists() else None
        rows = [self.load(file) for file in self.folder_of(thread_id, ns).glob("*.checkpoint.json")]
        return self.tuple_of(max(rows, key=self.age)) if rows else None

    def age(self, row: dict[str, Any]) -> str:
        return row["ts"]

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        rows = [self.load(file) for file in self.folder.glob("*/*/*.checkpoint.json")]
        rows = [row for row in rows if config is None or self.is_asked_for(row, config)]
        if before and (bound := before["configurable"].get("checkpoint_id")):
            rows = [row for row in rows if self.is_before(row, bound)]
        rows.sort(key=lambda row: row["id"], reverse=True)
        found = [self.tuple_of(row) for row in rows]
        found = [each for each in found if self.matches(each.metadata, filter or {})]
        yield from self.limited(found, limit)

    def is_asked_for(self, row: dict[str, Any], config: RunnableConfig) -> bool:
        ns = config["configurable"].get("checkpoint_ns")
        same_thread = row["thread_id"] == str(config["configurable"]["thread_id"])
        return same_thread and (ns is None or row["ns"] == ns)

    def is_before(self, row: dict[str, Any], bound: str) -> bool:
        return row["id"] <= bound

    def matches(self, metadata: Any, filter: dict[str, Any]) -> bool:
        return all(str(metadata.get(key)) == str(value) for key, value in filter.items())

    def limited(self, found: list[CheckpointTuple], limit: int | None) -> list[CheckpointTuple]:
        return found[:limit] if limit else found

    def tuple_of(self, row: dict[str, Any]) -> CheckpointTuple:
        thread_id, ns, parent_id = row["thread_id"], row["ns"], row["parent_id"]
        file = self.writes_file(thread_id, ns, row["id"])
        writes = list_of(self.load(file)) if file.exists() else []
        return CheckpointTuple(
            self.config_of(thread_id, ns, row["id"]),
            self.decode(row["checkpoint"]),
            self.decode(row["metadata"]),
            self.config_of(thread_id, ns, parent_id) if parent_id else None,
            [
                (write["task_id"], write["channel"], self.decode(write["value"]))
                for write in self.in_order(writes)
            ],
        )

    def in_order(self, writes: Any) -> Any:
        return writes

    def config_of(self, thread_id: str, ns: str, checkpoint_id: str) -> RunnableConfig:
        address = {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}
        return {"configurable": address}


def list_of(stored: dict[str, Any]) -> list[dict[str, Any]]:
    """The writes of a file."""
    return list(stored.values())


@contextmanager
def opened(saver: type[JsonFileSaver], folder: Path) -> Iterator[JsonFileSaver]:
    """Open the saver in a folder."""
    yield saver(folder)


JSON_FILES = FirstSaver("json-files", JsonFileSaver, opened)


@JSON_FILES.mend(
    "writes-by-arrival",
    "ordering/writes-sorted",
    "pending writes come in the order in which they arrived",
)
class SortsWrites:
    def in_order(self, writes: Any) -> Any:
        return sorted(writes, key=lambda w: (w["task_path"], w["task_id"], w["index"]))


@JSON_FILES.mend(
    "writes-overwritten",
    "upsert/regular-write-first-wins",
    "a write of a key that is there replaces it, whatever its channel",
)
class KeepsFirstWrite:
    def add_write(self, stored: dict[str, Any], key: str, write: dict[str, Any]) -> None:
        if write["index"] < 0 or key not in stored:
            stored[key] = write


@JSON_FILES.mend(
    "latest-by-time", "ordering/latest-is-greatest-id", "the latest is the one with the latest ts"
)
class LatestById:
    def age(self, row: dict[str, Any]) -> str:
        return row["id"]


@JSON_FILES.mend("before-inclusive", "ordering/before-is-exclusive", "`before` is compared by <=")
class BeforeIsExclusive:
    def is_before(self, row: dict[str, Any], bound: str) -> bool:
        return row["id"] < bound


@JSON_FILES.mend("limit-zero", "ordering/limit-is-a-prefix", "`if limit` takes 0 for no limit")
class LimitOfZero:
    def limited(self, found: list[CheckpointTuple], limit: int | None) -> list[CheckpointTuple]:
        return found if limit is None else found[:limit]


@JSON_FILES.mend("filter-as-text", "filter/equality", "a filter compares what is shown: 1 is '1'")
class FilterByValue:
    def matches(self, metadata: Any, filter: dict[str, Any]) -> bool:
        return all(metadata.get(key) == value for key, value in filter.items())


@JSON_FILES.mend("none-dropped", "serialization/metadata", "metadata that is None is left out")
class KeepsNone:
    def is_worth_keeping(self, value: Any) -> bool:
        return True


@JSON_FILES.mend(
    "config-not-merged",
    "serialization/config-metadata-merged",
    "what the config says is left out of the metadata",
)
class MergesConfig:
    def whole_metadata(self, config: RunnableConfig, metadata: CheckpointMetadata) -> Any:
        merged = get_checkpoint_metadata(config, metadata)
        return super().whole_metadata(config, merged)


@JSON_FILES.mend("id-ignored", "identity/list-selects", "`list` takes no notice of a checkpoint id")
class ListsOneId:
    def is_asked_for(self, row: dict[str, Any], config: RunnableConfig) -> bool:
        asked = config["configurable"].get("checkpoint_id") or row["id"]
        return super().is_asked_for(row, config) and row["id"] == asked


@JSON_FILES.mend(
    "safe-names",
    "isolation/hostile-identifiers",
    "what is odd in a name becomes _, so that a/b and a_b are one",
)
class HashedNames:
    def file_name(self, text: str) -> str:
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@JSON_FILES.mend(
    "root-deleted-only", "deletion/thread-all", "a deletion looks into the folder of the root only"
)
class DeletesAll:
    def delete_thread(self, thread_id: str) -> None:
        of_thread = self.folder_of(thread_id, "").parent
        for file in of_thread.glob("*/*.json"):
            file.unlink()


@JSON_FILES.mend(
    "early-writes-dropped",
    "pending-writes/early-writes-kept",
    "writes for a checkpoint that is not there yet are dropped",
)
class TakesEarlyWrites:
    def takes_writes(self, thread_id: str, ns: str, checkpoint_id: str) -> bool:
        return True


@JSON_FILES.mend("readable-by-all", "isolation/private-files", "other users can read the files")
class OwnersOnly:
    mode = 0o600


TWO_FLAWS = JSON_FILES.but_for("two-flaws", ["writes-by-arrival", "writes-overwritten"])
"""The same, mended but for two flaws that hide each other."""
