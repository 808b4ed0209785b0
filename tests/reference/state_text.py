"""The whole of a store as JSON text, and the file of a saver that rewrites it in place."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from operator import attrgetter
from pathlib import Path
from typing import Any

from saverproof.mistakes.reference.store import CheckpointRow, ReferenceStore, Shelf, WriteRow

_ROW = attrgetter("thread", "ns", "id", "parent", "checkpoint", "metadata")
_WRITE = attrgetter("task_id", "index", "channel", "value", "path")


def state_of(store: ReferenceStore) -> str:
    """The whole store as JSON text."""

    def plain(value: Any) -> Any:
        if isinstance(value, bytes):
            return {"b": b64encode(value).decode()}
        return [plain(item) for item in value] if isinstance(value, (tuple, list)) else value

    return json.dumps(
        {
            "minted": store.minted,
            "shelves": [
                [
                    *(shelf.thread, shelf.ns),
                    [[*plain(_ROW(row)), row.versions] for row in shelf.checkpoints.values()],
                    [
                        [id, plain(_WRITE(w))]
                        for id, ws in shelf.writes.items()
                        for w in ws.values()
                    ],
                    [[key, plain(blob)] for key, blob in shelf.values.items()],
                ]
                for shelf in store.shelves.values()
            ],
        }
    )


def read_state(path: Path) -> ReferenceStore:
    """The store in the state file of a folder, or an empty one."""
    file = path / "state.json"
    return state_from(file.read_text()) if file.exists() else ReferenceStore()


def state_from(text: str) -> ReferenceStore:
    """The store that `state_of` describes."""
    store = ReferenceStore()

    def whole(value: Any) -> Any:
        if isinstance(value, dict):
            return b64decode(value["b"])
        return tuple(whole(item) for item in value) if isinstance(value, list) else value

    state = json.loads(text)
    store.minted = state["minted"]
    for thread, ns, rows, writes, values in state["shelves"]:
        shelf = store.shelves[thread, ns] = Shelf(thread, ns)
        for *fields, versions in rows:
            thread, ns, id, parent, checkpoint, metadata = whole(fields)
            row = CheckpointRow(thread, ns, id, parent, checkpoint, metadata, versions)
            shelf.checkpoints[row.id] = row
        for id, fields in writes:
            write = WriteRow(*whole(fields))
            shelf.writes.setdefault(id, {})[write.task_id, write.index] = write
        shelf.values.update({tuple(key): whole(blob) for key, blob in values})
    return store


def write_state(path: Path, store: ReferenceStore) -> None:
    """Rewrite the state file in place."""
    with (path / "state.json").open("w") as file:
        file.write(state_of(store))
