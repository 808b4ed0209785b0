"""Releases of savers for tests of updates.

The processes of releases import this module, and with it nothing that only tests need.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.upgrades import (
    CipherOfToday,
    ColumnOfNewTables,
    FirstReadMigrates,
    Later,
    MigratesHalf,
    OldMetadataForgotten,
    UndecodableIsNone,
)

from saverproof.mistakes.reference.store import Blob


class Refusing(SqliteReference):
    """An old release that does not get along with a library of today."""

    def put(self, *arguments: Any) -> Any:
        raise AttributeError("no such attribute")


class SetsUpNoMore(Later):
    """A saver that cannot be set up, on any store."""

    def setup(self) -> None:
        raise RuntimeError("is set up already")


class AddsAColumnTwice(Later):
    """It looks for a column, and adds it in another transaction."""

    def setup(self) -> None:
        with self.database.reading():
            names = [row[1] for row in self.database.rows("PRAGMA table_info(writes)")]
        if self.database.is_old and "at" not in names:
            # Longer than three interpreters need to start, one after the other.
            time.sleep(0.5)
            with self.database.writing():
                self.database.run("ALTER TABLE writes ADD COLUMN at TEXT")


class ForgetsAndRefuses(OldMetadataForgotten, ColumnOfNewTables):
    """It loses the metadata of an old store, and takes no checkpoint into it."""


class ForgetsAndMigrates(FirstReadMigrates):
    """It loses the metadata of an old store, and waits for writers before it reads one."""

    was_old = False

    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        self.was_old |= self.database.is_old
        return super().get_tuple(config)

    def _tuple(self, row: Any, blobs: Any, writes: list[Any]) -> CheckpointTuple:
        found = super()._tuple(row, blobs, writes)
        return found._replace(metadata={}) if self.was_old else found


class ForgetsAndMigratesHalf(OldMetadataForgotten, MigratesHalf):
    """It loses the metadata of an old store, and all writes if it dies at the wrong moment."""


class ForgetsAndAddsTwice(OldMetadataForgotten, AddsAColumnTwice):
    """It loses the metadata of an old store, and sets it up without a lock."""


class RefusesWhatAnotherSerializerStored(Later):
    """It stores with each value who made it, and reads it with nobody else."""

    def _maker(self) -> str:
        kind = self.serde.dumps_typed({})[0]
        return f"{type(self.serde).__name__} {kind}"

    def _dump(self, value: Any) -> Blob:
        kind, data = super()._dump(value)
        return f"{self._maker()} of {kind}", data

    def _load(self, blob: Blob) -> Any:
        maker, _, kind = blob[0].partition(" of ")
        if kind and maker != self._maker():
            raise ValueError(f"stored with {maker}, and this saver has {self._maker()}")
        return super()._load((kind or maker, blob[1]))


class KeepsItsSerializer(Later):
    """It takes none but the one that it was made with."""

    @property
    def serde(self) -> Any:
        return self.__dict__.get("_own") or BaseCheckpointSaver.serde

    @serde.setter
    def serde(self, given: Any) -> None:
        self.__dict__.setdefault("_own", given)


class LenientByItsSerializer(Later):
    """It has a serializer that builds every class, and goes by it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, serde=JsonPlusSerializer(allowed_msgpack_modules=True))


class TwoFlaws(CipherOfToday, UndecodableIsNone):
    """Two ways to lose what was stored with another serializer."""


class ForgetsAnswers(SqliteReference):
    """An old release whose graphs do not go on under itself either."""

    def _stored_writes(self, row: Any) -> Any:
        return [one for one in super()._stored_writes(row) if one.channel != "__resume__"]
