"""Savers whose files say more, or to more people, than they should."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any, Self

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from saverproof.mistakes.reference.store import Blob, CheckpointRow
from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.registry import wrong

ENCRYPTED = "serialization/encrypted-at-rest"


class ValuesInside(SqliteReference):
    """Stores each channel value as a blob of its own, inside the checkpoint's."""

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        values = checkpoint["channel_values"]
        blobs = {channel: self._dump_value(value) for channel, value in values.items()}
        stored: Any = {**checkpoint, "channel_values": blobs}
        return super().put(config, stored, metadata, new_versions)

    def _dump(self, value: Any) -> Blob:
        inside = isinstance(value, dict) and "channel_versions" in value
        return JsonPlusSerializer().dumps_typed(value) if inside else super()._dump(value)

    def _load(self, blob: Blob) -> Any:
        value = super()._load(blob)
        if isinstance(value, dict) and "channel_versions" in value:
            blobs = value["channel_values"].items()
            value["channel_values"] = {c: self._load_value(tuple(b)) for c, b in blobs}
        return value


@wrong(ENCRYPTED, "text needs no serializer, and goes into a column of its own")
class TextInPlain(ValuesInside):
    def _dump_value(self, value: Any) -> Blob:
        return ("plain", value) if type(value) is str else super()._dump_value(value)

    def _load_value(self, blob: Blob) -> Any:
        return blob[1] if blob[0] == "plain" else super()._load_value(blob)


@wrong(ENCRYPTED, "bytes need no serializer")
class BytesInPlain(ValuesInside):
    def _dump_value(self, value: Any) -> Blob:
        return ("plain", value) if type(value) is bytes else super()._dump_value(value)

    def _load_value(self, blob: Blob) -> Any:
        return blob[1] if blob[0] == "plain" else super()._load_value(blob)


@wrong(ENCRYPTED, "pending writes go through a serializer of the module's own")
class WritesInPlain(SqliteReference):
    def _dump_write(self, value: Any) -> Blob:
        return JsonPlusSerializer().dumps_typed(value)

    def _load_write(self, blob: Blob) -> Any:
        return JsonPlusSerializer().loads_typed(blob)


@wrong(ENCRYPTED, "a preview for the web page, in a table of its own")
class PreviewInPlain(SqliteReference):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        self.__dict__["preview"] = repr(checkpoint["channel_values"])
        return super().put(config, checkpoint, metadata, new_versions)

    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        super()._insert_checkpoint(row)
        self.database.run("CREATE TABLE IF NOT EXISTS previews (id TEXT PRIMARY KEY, text TEXT)")
        self.database.run("REPLACE INTO previews VALUES (?, ?)", row.id, self.__dict__["preview"])


PRIVATE = "isolation/private-files"
EVERYBODY = stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP | stat.S_IROTH


class OpenDatabase(Database):
    """Leaves the file's mode to a common umask."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        os.chmod(self.path, EVERYBODY)


@wrong(PRIVATE, "the file has the mode that the umask leaves")
class FileForEverybody(SqliteReference):
    database_class = OpenDatabase


@wrong(PRIVATE, "a side file with the saver's settings is written by open()")
class SideFileForEverybody(SqliteReference):
    @classmethod
    def at(cls, path: Path) -> Self:
        side = path / "settings.json"
        side.write_text("{}")
        side.chmod(EVERYBODY)
        return super().at(path)


@wrong("isolation/hostile-filter-keys", "f\"json_extract(metadata, '$.{key}') = ?\"")
class FilterKeyInSql(SqliteReference):
    def _equals(self, metadata: dict[str, Any], key: str, value: Any) -> bool:
        if re.fullmatch(r"[\w.]+", key):
            return super()._equals(metadata, key, value)
        query = f"SELECT json_extract(metadata, '$.{key}') = ? FROM (SELECT ? AS metadata)"
        found = self.database.rows(query, value, json.dumps(metadata, default=str))
        return bool(found[0][0])
