"""Savers whose files cannot be opened again, or not be trusted, after a crash."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from saverproof.mistakes.reference.saver import ReferenceSaver
from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.reference.state_text import read_state, write_state
from tests.wrong_savers.registry import wrong

ACKNOWLEDGED = "durability/acknowledged-survives"
IN_FLIGHT = "durability/in-flight-atomic"
REOPENS = "durability/reopens"
POWER = "durability/power-cut"
# What is lost cannot be resumed from, and a later operation may have survived it.
LOST = {"durability/resume", "durability/no-rerun", "durability/no-gaps", POWER}


@wrong(
    ACKNOWLEDGED,
    "everything is written to the file when the saver is closed",
    # A kill while it is written leaves half of a file.
    also={*LOST, REOPENS},
)
class WrittenAtClose(ReferenceSaver):
    def close(self) -> None:
        path = self.__dict__.get("path")
        if path is not None:
            write_state(path, self.store)

    @classmethod
    def at(cls, path: Path) -> Self:
        saver = cls(read_state(path))
        saver.__dict__["path"] = path
        return saver


class StateFile(ReferenceSaver):
    """Writes its whole store to a file after each change."""

    @classmethod
    def at(cls, path: Path) -> Self:
        saver = cls(read_state(path))
        saver.__dict__["path"] = path
        return saver

    def _save(self) -> None:
        write_state(self.__dict__["path"], self.store)

    def put(self, *args: Any, **options: Any) -> Any:
        answer = super().put(*args, **options)
        self._save()
        return answer

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        super().put_writes(config, writes, task_id, task_path)
        self._save()

    def delete_thread(self, thread_id: str) -> None:
        super().delete_thread(thread_id)
        self._save()

    def delete_for_runs(self, run_ids: Any) -> None:
        super().delete_for_runs(run_ids)
        self._save()

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        self._save()

    def prune(self, thread_ids: Any, *, strategy: str = "keep_latest") -> None:
        super().prune(thread_ids, strategy=strategy)
        self._save()


# -- reopens ------------------------------------------------------------------------------


@wrong(
    REOPENS, "the state file is truncated and written anew", also={*LOST, ACKNOWLEDGED, IN_FLIGHT}
)
class StateFileInPlace(StateFile):
    """Nothing but what `StateFile` does."""


class WithoutAJournal(Database):
    journal_mode = "OFF"


@wrong(REOPENS, "PRAGMA journal_mode=OFF, for speed", also={*LOST, IN_FLIGHT})
class NoJournal(SqliteReference):
    database_class = WithoutAJournal


class Marking(Database):
    """A file beside the database says that a change is under way."""

    def connect(self) -> sqlite3.Connection:
        if self._mark().exists():
            raise sqlite3.DatabaseError("the store was not closed; run the repair command")
        return super().connect()

    def _mark(self) -> Path:
        return self.path.with_suffix(".dirty")

    def begin(self) -> None:
        self._mark().touch(0o600)
        super().begin()

    def commit(self) -> None:
        super().commit()
        self._mark().unlink(missing_ok=True)

    def roll_back(self) -> None:
        super().roll_back()
        self._mark().unlink(missing_ok=True)


@wrong(REOPENS, "a store that was not closed is opened only after a repair by hand", also=LOST)
class RepairedByHand(SqliteReference):
    database_class = Marking


# -- power-cut ----------------------------------------------------------------------------


class Unsynced(Database):
    synchronous = "OFF"


@wrong(POWER, "PRAGMA synchronous=OFF, for speed")
class NeverSynced(SqliteReference):
    database_class = Unsynced


class UnsyncedRollback(Database):
    journal_mode = "DELETE"
    synchronous = "OFF"


@wrong(POWER, "PRAGMA synchronous=OFF with a rollback journal")
class RollbackJournalNeverSynced(SqliteReference):
    database_class = UnsyncedRollback


class UnsyncedPerCall(Database):
    """Keeps no connection open between calls, so that nobody can ask one for its settings."""

    journal_mode = "DELETE"
    synchronous = "OFF"

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self.lock, super().writing():
            yield
        self.connection.close()

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self.lock, super().reading():
            yield
        self.connection.close()


@wrong(POWER, "PRAGMA synchronous=OFF on a connection for each call")
class ConnectionPerCallNeverSynced(SqliteReference):
    database_class = UnsyncedPerCall


class NotingFirst(Database):
    def configure(self, connection: sqlite3.Connection) -> None:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            connection.execute("PRAGMA user_version = 1")
            super().configure(connection)


@wrong(REOPENS, "a migration is noted as done before it is")
class MigrationNotedFirst(SqliteReference):
    database_class = NotingFirst


# Whoever opens it while another does is refused as well; what is killed is not resumed.
SEEN = {"concurrency/instances-agree", "concurrency/processes-lose-nothing", "durability/resume"}


@wrong(REOPENS, "a lock file that a killed process leaves is a store in use", also=SEEN)
class LockFileIsBelieved(SqliteReference):
    def __init__(self, folder: Path, *, serde: object = None) -> None:
        self.__dict__["lock_file"] = folder / "saver.lock"
        os.close(os.open(self.__dict__["lock_file"], os.O_CREAT | os.O_EXCL, 0o600))
        super().__init__(folder, serde=serde)

    def close(self) -> None:
        super().close()
        if not self.is_clone:
            self.__dict__["lock_file"].unlink(missing_ok=True)
