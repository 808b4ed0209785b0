"""Savers that confuse names, or give them back changed."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from saverproof.mistakes.reference.reading import Blobs
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, WriteRow
from saverproof.mistakes.registry import mistake

Batch = Sequence[tuple[str, Any]]


# -- names --------------------------------------------------------------------------------


class ChannelsAs(ReferenceSaver):
    """A base saver that shows a channel under the name that `_named` makes of the channel's
    name.
    """

    def _named(self, channel: str) -> str:
        return channel

    def _load_values(self, blobs: Blobs) -> dict[str, Any]:
        return {self._named(c): value for c, value in super()._load_values(blobs).items()}

    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        rows = super()._rows_of_batch(writes, task_id, path)
        return [replace(row, channel=self._named(row.channel)) for row in rows]


@mistake("serialization/names", "a dot in a document's key makes a nested document")
class DottedChannelsNested(ReferenceSaver):
    def _load_values(self, blobs: Blobs) -> dict[str, Any]:
        nested: dict[str, Any] = {}
        for channel, value in super()._load_values(blobs).items():
            head, dot, tail = channel.partition(".")
            nested[head or channel] = {tail: value} if dot and tail else value
        return nested


@mistake("serialization/names", "blanks in a key become underscores")
class BlanksInNames(ChannelsAs):
    def _named(self, channel: str) -> str:
        return channel.replace(" ", "_")


@mistake("serialization/names", "a backslash in a JSON path escapes what follows")
class BackslashesInNames(ChannelsAs):
    def _named(self, channel: str) -> str:
        return channel.replace("\\", "")


@mistake("serialization/names", "quotes are doubled, and stay doubled")
class QuotesInNames(ChannelsAs):
    def _named(self, channel: str) -> str:
        return channel.replace("'", "''").replace('"', '""')


@mistake("serialization/names", "a column of ASCII")
class NamesInAscii(ChannelsAs):
    def _named(self, channel: str) -> str:
        return channel.encode("ascii", "replace").decode()


@mistake("serialization/names", "column names have no case")
class NamesWithoutCase(ChannelsAs):
    def _named(self, channel: str) -> str:
        return channel.lower()


@mistake("serialization/names", "names are checked against what a Python name may hold")
class OddNamesRefused(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        for channel in checkpoint["channel_versions"]:
            if not re.fullmatch(r"[\w:.-]+", channel, re.ASCII):
                raise ValueError(f"invalid channel name {channel!r}")
        return super()._fields(checkpoint)


@mistake("serialization/names", "a key of channel and version, joined by a dot, and split again")
class ValueKeySplit(ReferenceSaver):
    def _value_key(self, row: CheckpointRow, channel: str, version: Any) -> Hashable:
        return f"{channel}.{version}".split(".")[0], str(version)


@mistake("serialization/names", "the channel of a write ends at its first colon")
class WriteChannelsCut(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        rows = super()._rows_of_batch(writes, task_id, path)
        return [replace(row, channel=row.channel.split(":")[0]) for row in rows]


@mistake("serialization/names", "task paths are checked for what a file path may hold")
class OddPathsRefused(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        if not re.fullmatch(r"[\w~, :|.-]*", path, re.ASCII):
            raise ValueError(f"invalid task path {path!r}")
        return super()._rows_of_batch(writes, task_id, path)
