"""Savers whose upkeep breaks a graph that goes on beside it, and no run of plain calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.in_threads import InThreads
from tests.wrong_savers.registry import wrong
from tests.wrong_savers.upkeep import COPY, DELETION, PRUNE

NEWEST_OF_EACH = "SELECT ns, max(id) FROM checkpoints WHERE thread = ? GROUP BY ns"
CONTROL = "thread = ? AND position < 0"
"""Questions, answers and errors have numbers of their own, below those of results."""


@wrong(PRUNE, "questions of what was not the newest go in a second transaction: new ones as well")
class PruneOfQuestionsByWhatWasNewest(InThreads, SqliteReference):
    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        with self.database.reading():
            newest = {thread: self.database.rows(NEWEST_OF_EACH, thread) for thread in thread_ids}
        super().prune(thread_ids, strategy=strategy)
        if strategy != "keep_latest":
            return
        with self.database.writing():
            for thread, found in newest.items():
                kept = " AND ".join(["NOT (ns = ? AND id = ?)"] * len(found)) or "TRUE"
                self.database.run(
                    f"DELETE FROM writes WHERE {CONTROL} AND {kept}",
                    *(thread, *(one for row in found for one in row)),
                )


@wrong(PRUNE, "what was asked and answered is read, then written anew: an answer since is undone")
class PruneWritesAnswersAnew(InThreads, SqliteReference):
    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        with self.database.reading():
            read = {thread: self._control_of(thread) for thread in thread_ids}
        super().prune(thread_ids, strategy=strategy)
        if strategy != "keep_latest":
            return
        with self.database.writing():
            for rows in read.values():
                for row in rows:
                    self.database.run(
                        "INSERT OR REPLACE INTO writes SELECT ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE "
                        "EXISTS (SELECT 1 FROM checkpoints WHERE thread = ? AND ns = ? AND id = ?)",
                        *(*row, *row[:3]),
                    )

    def _control_of(self, thread: str) -> Sequence[tuple[Any, ...]]:
        return self.database.rows(f"SELECT * FROM writes WHERE {CONTROL}", thread)


@wrong(PRUNE, "the newest is looked for again, its chain is not: what is between the two goes")
class PruneOfChainsByWhatWasNewest(InThreads, SqliteReference):
    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        if strategy != "keep_latest":
            super().prune(thread_ids, strategy=strategy)
            return
        with self.database.reading():
            kept = {(*space, id) for space in self._spaces(thread_ids) for id in self._kept(*space)}
        with self.database.writing():
            for space in self._spaces(thread_ids):
                rows = self._rows("thread = ? AND ns = ? ORDER BY id", *space)
                for row in rows[:-1]:
                    if (*space, row.id) not in kept:
                        self._delete_row(row)

    def _spaces(self, threads: Sequence[str]) -> set[tuple[str, str]]:
        return {(row.thread, row.ns) for row in self._rows() if row.thread in threads}

    def _kept(self, thread: str, ns: str) -> set[str]:
        rows = {row.id: row for row in self._rows("thread = ? AND ns = ?", thread, ns)}
        return self._delta_chain(rows, rows[max(rows)])


# -- copies -------------------------------------------------------------------------------


@wrong(COPY, "questions and answers are copied, then the rest: it has more than was answered")
class CopyOfQuestionsFirst(InThreads, SqliteReference):
    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        if source_thread_id == target_thread_id:
            return
        with self.database.writing():
            self.database.run(
                "INSERT OR REPLACE INTO writes SELECT ?, ns, id, task, position, channel, type, "
                f"value, path FROM writes WHERE {CONTROL}",
                *(target_thread_id, source_thread_id),
            )
        with self.database.writing():
            self._copy_checkpoints(source_thread_id, target_thread_id)
            self.database.run(
                "INSERT OR REPLACE INTO writes SELECT ?, ns, id, task, position, channel, type, "
                "value, path FROM writes WHERE thread = ? AND position >= 0",
                *(target_thread_id, source_thread_id),
            )


@wrong(COPY, "questions and answers change hands, and are given back when the copy is made")
class CopyTakesQuestionsAway(InThreads, SqliteReference):
    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        if source_thread_id == target_thread_id:
            return
        with self.database.writing():
            self.database.run(
                f"UPDATE OR REPLACE writes SET thread = ? WHERE {CONTROL}",
                *(target_thread_id, source_thread_id),
            )
        with self.database.writing():
            self._copy_checkpoints(source_thread_id, target_thread_id)
            self.database.run(
                "INSERT OR IGNORE INTO writes SELECT ?, ns, id, task, position, channel, type, "
                f"value, path FROM writes WHERE {CONTROL}",
                *(source_thread_id, target_thread_id),
            )
            self._copy_writes(source_thread_id, target_thread_id)


# -- deletions ----------------------------------------------------------------------------


@wrong(DELETION, "what is of other threads is read, and the tables are filled with it anew")
class DeletionFillsTablesAnew(InThreads, SqliteReference):
    def delete_thread(self, thread_id: str) -> None:
        tables = {"checkpoints": 8, "writes": 9}
        with self.database.reading():
            kept = {
                table: self.database.rows(f"SELECT * FROM {table} WHERE thread <> ?", thread_id)
                for table in tables
            }
        with self.database.writing():
            for table, width in tables.items():
                self.database.run(f"DELETE FROM {table}")
                marks = ", ".join("?" * width)
                for row in kept[table]:
                    self.database.run(f"INSERT INTO {table} VALUES ({marks})", *row)


@wrong(DELETION, "questions go unless their checkpoint was seen to be another run's: new ones too")
class RunsDeletedWithNewQuestions(InThreads, SqliteReference):
    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        with self.database.reading():
            rows = [(self._load_metadata(row.metadata).get("run_id"), row) for row in self._rows()]
        theirs = {row.thread for run, row in rows if run in run_ids}
        others = [row for run, row in rows if run not in run_ids]
        super().delete_for_runs(run_ids)
        with self.database.writing():
            for thread in theirs:
                kept = [row for row in others if row.thread == thread]
                known = " AND ".join(["NOT (ns = ? AND id = ?)"] * len(kept)) or "TRUE"
                self.database.run(
                    f"DELETE FROM writes WHERE {CONTROL} AND {known}",
                    *(thread, *(one for row in kept for one in (row.ns, row.id))),
                )
