"""Savers that take a failure of their storage for an answer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.right_savers.file_per_thread import FilePerThread
from tests.wrong_savers.registry import wrong

READS = "atomicity/failed-reads-raise"


@wrong(READS, "except sqlite3.Error: log it, and return None")
class ErrorIsNotFound(SqliteReference):
    def get_tuple(self, config: Any) -> Any:
        try:
            return super().get_tuple(config)
        except sqlite3.Error:
            return None


@wrong(READS, "a listing ends where its cursor fails")
class ListingEndsWhereItFails(SqliteReference):
    def list(self, config: Any, **options: Any) -> Iterator[Any]:
        with suppress(sqlite3.Error):
            yield from super().list(config, **options)


@wrong(READS, "the writes are read in a try of their own: a checkpoint is shown without them")
class WritesThatCannotBeReadAreNone(SqliteReference):
    def _stored_writes(self, row: Any) -> Any:
        try:
            return super()._stored_writes(row)
        except sqlite3.Error:
            return []


class AskingThreeTimes(Database):
    def rows(self, statement: str, *values: Any) -> Sequence[tuple[Any, ...]]:
        for _ in range(3):
            with suppress(sqlite3.OperationalError):
                return super().rows(statement, *values)
        return []


@wrong(READS, "a query is tried three times, and then there is nothing")
class ThreeTriesAndThenNothing(SqliteReference):
    database_class = AskingThreeTimes


@wrong(
    READS,
    "except OSError: a file that cannot be read is no file",
    # What is written next replaces what could not be read.
    also={"atomicity/no-silent-loss"},
)
class UnreadableFilesAreNone(FilePerThread):
    def catch_up(self) -> None:
        try:
            super().catch_up()
        except OSError:
            self.store.shelves, self.before = {}, {}
