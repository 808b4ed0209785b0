"""Savers that copy, prune or delete a thread beside graphs, with their targets."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from tests.reference.database import Database
from tests.reference.sqlite import PLACE, SqliteReference
from tests.wrong_savers import opener
from tests.wrong_savers.in_threads import InThreads
from tests.wrong_savers.upkeep import CopyTableByTable, DeletionInTwoTransactions
from tests.wrong_savers.upkeep_of_graphs import (
    CopyOfQuestionsFirst,
    CopyTakesQuestionsAway,
    DeletionFillsTablesAnew,
    PruneOfChainsByWhatWasNewest,
    RunsDeletedWithNewQuestions,
)

from saverproof import target


class CopiesAnOlderMoment(InThreads, SqliteReference):
    """Reads the whole thread at once, and stores its copy table by table."""

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        if source_thread_id == target_thread_id:
            return
        with self.database.reading():
            rows = self._rows("thread = ?", source_thread_id)
            writes = self.database.rows("SELECT * FROM writes WHERE thread = ?", source_thread_id)
        with self.database.writing():
            for row in rows:
                self._insert_checkpoint(replace(row, thread=target_thread_id))
        with self.database.writing():
            for _, *rest in writes:
                self.database.run(
                    "INSERT INTO writes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", target_thread_id, *rest
                )


class CopiesNoWrites(InThreads, SqliteReference):
    """Forgets the writes of a thread that it copies, whoever is beside it."""

    def _copy_writes(self, source: str, target: str) -> None:
        pass


class PrunesWithoutChains(InThreads, SqliteReference):
    """Keeps the newest alone, whoever is beside it."""

    def _delta_chain(self, rows: Any, newest: Any) -> set[str]:
        return set()


class DeletesTheRunsItFound(InThreads, SqliteReference):
    """Finds in one transaction what is of the runs, and deletes that in another, row by row."""

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        with self.database.reading():
            rows = [
                row
                for row in self._rows()
                if self._load_metadata(row.metadata).get("run_id") in run_ids
            ]
            found = self._unneeded(rows)
        for row in found:
            for table in ("checkpoints", "writes"):
                with self.database.writing():
                    self.database.run(
                        f"DELETE FROM {table} WHERE {PLACE}", row.thread, row.ns, row.id
                    )


class WithNewest(Database):
    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS newest (thread, ns, id, PRIMARY KEY (thread, ns))"
        )


class NotesTheNewest(InThreads, SqliteReference):
    """Notes which checkpoint is the newest, and goes on with no thread that lacks it."""

    database_class = WithNewest

    def put(self, config: Any, *given: Any) -> Any:
        thread, ns = self._thread_of(config), self._put_ns(config)
        with self.database.reading():
            noted = self.database.rows(
                "SELECT id FROM newest WHERE thread = ? AND ns = ?", thread, ns
            )
            if noted and not self._rows(PLACE, thread, ns, *noted[0]):
                raise RuntimeError("the newest checkpoint is missing")
        return super().put(config, *given)

    def _insert_checkpoint(self, row: Any) -> None:
        super()._insert_checkpoint(row)
        self.database.run("INSERT OR REPLACE INTO newest VALUES (?, ?, ?)", *self._place(row))

    def _place(self, row: Any) -> tuple[str, str, str]:
        return row.thread, row.ns, row.id

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        with self.database.writing():
            self._copy_checkpoints(source_thread_id, target_thread_id)
            self._copy_writes(source_thread_id, target_thread_id)
            self._copy_newest(source_thread_id, target_thread_id)

    def _copy_newest(self, source: str, target: str) -> None:
        self.database.run(
            "INSERT OR REPLACE INTO newest SELECT ?, ns, id FROM newest WHERE thread = ?",
            *(target, source),
        )


class CopiesTheNewestLast(NotesTheNewest):
    """Notes of a copy what is the newest of its source by then."""

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        with self.database.writing():
            self._copy_checkpoints(source_thread_id, target_thread_id)
            self._copy_writes(source_thread_id, target_thread_id)
        with self.database.writing():
            self._copy_newest(source_thread_id, target_thread_id)


class ReadsNoLaggingCopy(CopiesTheNewestLast):
    """Lists no thread that lacks what is noted to be the newest."""

    def list(self, config: Any, **options: Any) -> Iterator[Any]:
        if config is not None:
            noted = self.database.rows(
                "SELECT ns, id FROM newest WHERE thread = ?", self._thread_of(config)
            )
            for ns, id in noted:
                if not self._rows(PLACE, self._thread_of(config), ns, id):
                    raise RuntimeError("the newest checkpoint is missing")
        yield from super().list(config, **options)


class RefusesOnceAfterACopy(CopiesAnOlderMoment):
    """Loses its connection with the first call for the first copy."""

    lost = False

    def put_writes(self, config: Any, *given: Any, **named: Any) -> None:
        if "copy-" in self._thread_of(config) and not type(self).lost:
            type(self).lost = True
            raise ConnectionError("gone")
        super().put_writes(config, *given, **named)


class RefusesReadsBesideACopy(CopiesAnOlderMoment):
    """Reads nothing while a copy is made, as where it waits for a lock for too long."""

    copying = 0

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self.copying += 1
        try:
            super().copy_thread(source_thread_id, target_thread_id)
        finally:
            self.copying -= 1

    def get_tuple(self, config: Any) -> Any:
        if self.copying:
            raise TimeoutError("a copy is made")
        return super().get_tuple(config)


class WithAnswers(Database):
    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS answers (thread, ns, id, PRIMARY KEY (thread, ns, id))"
        )


class NotesAnswers(InThreads, SqliteReference):
    """Notes which checkpoint was answered until the next one is there: only then the answers
    count.
    """

    database_class = WithAnswers

    def _insert_writes(self, place: tuple[str, str, str], rows: Sequence[Any]) -> None:
        super()._insert_writes(place, rows)
        if any(row.channel == "__resume__" for row in rows):
            self.database.run("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", *place)

    def _insert_checkpoint(self, row: Any) -> None:
        super()._insert_checkpoint(row)
        self.database.run("DELETE FROM answers WHERE thread = ? AND ns = ?", row.thread, row.ns)

    def get_tuple(self, config: Any) -> Any:
        found = super().get_tuple(config)
        if found is None:
            return None
        place = found.config["configurable"]
        noted = self.database.rows(
            f"SELECT id FROM answers WHERE {PLACE}",
            *(place["thread_id"], place["checkpoint_ns"], place["checkpoint_id"]),
        )
        kept = [one for one in found.pending_writes if noted or one[1] != "__resume__"]
        return found._replace(pending_writes=kept)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        with self.database.writing():
            self._copy_checkpoints(source_thread_id, target_thread_id)
            self._copy_writes(source_thread_id, target_thread_id)
            answered = self._answered(source_thread_id)
        with self.database.writing():
            for place in self._noted(answered, source_thread_id):
                self.database.run(
                    "INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", target_thread_id, *place
                )

    def _answered(self, thread: str) -> Sequence[tuple[str, str]]:
        return self.database.rows("SELECT ns, id FROM answers WHERE thread = ?", thread)

    def _noted(self, answered: Sequence[tuple[str, str]], source: str) -> Sequence[tuple[str, str]]:
        """What is noted of a copy of which this was answered when its rows were copied."""
        return answered


class CopiesAnswersLast(NotesAnswers):
    """Notes of a copy what has not been gone on from by then."""

    def _noted(self, answered: Sequence[tuple[str, str]], source: str) -> Sequence[tuple[str, str]]:
        return self._answered(source)


class CopiesNoAnswers(NotesAnswers):
    """Notes nothing of a copy, whoever is beside it."""

    def _noted(self, answered: Sequence[tuple[str, str]], source: str) -> Sequence[tuple[str, str]]:
        return ()


SAVERS = SimpleNamespace(
    notes_answers=target(name="notes-answers")(opener(NotesAnswers)),
    answers_last=target(name="answers-last")(opener(CopiesAnswersLast)),
    no_answers=target(name="no-answers")(opener(CopiesNoAnswers)),
    notes_newest=target(name="notes-newest")(opener(NotesTheNewest)),
    newest_last=target(name="newest-last")(opener(CopiesTheNewestLast)),
    not_read=target(name="not-read")(opener(ReadsNoLaggingCopy)),
    refuses_reads=target(name="refuses-reads")(opener(RefusesReadsBesideACopy)),
    refuses_once=target(name="refuses-once")(opener(RefusesOnceAfterACopy)),
    questions_first=target(name="questions-first")(opener(CopyOfQuestionsFirst)),
    questions_away=target(name="questions-away")(opener(CopyTakesQuestionsAway)),
    table_by_table=target(name="table-by-table")(opener(CopyTableByTable)),
    older_moment=target(name="older-moment")(opener(CopiesAnOlderMoment)),
    tables_anew=target(name="tables-anew")(opener(DeletionFillsTablesAnew)),
    two_transactions=target(name="two-transactions")(opener(DeletionInTwoTransactions)),
    new_questions=target(name="new-questions")(opener(RunsDeletedWithNewQuestions)),
    runs_it_found=target(name="runs-it-found")(opener(DeletesTheRunsItFound)),
    chains=target(name="chains")(opener(PruneOfChainsByWhatWasNewest)),
    without_chains=target(name="without-chains")(opener(PrunesWithoutChains)),
    without_writes=target(name="without-writes")(opener(CopiesNoWrites)),
)
