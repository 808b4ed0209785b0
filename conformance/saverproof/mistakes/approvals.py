"""Savers that mix up what the tasks of one checkpoint wait for, and what they were answered."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Shelf, WriteRow
from saverproof.mistakes.registry import mistake

NULL_TASK = "00000000-0000-0000-0000-000000000000"
COMPLETE = "pending-writes/complete"
Rows = dict[Hashable, WriteRow]


class Clearing(ReferenceSaver):
    """A base saver that removes earlier writes of a checkpoint as it stores one."""

    def _clears(self, stored: WriteRow, row: WriteRow) -> bool:
        """Return whether a stored write goes when this one is stored."""
        return False

    def _store_write(self, stored: Rows, row: WriteRow) -> None:
        for key in [key for key, other in stored.items() if self._clears(other, row)]:
            del stored[key]
        super()._store_write(stored, row)


@mistake(COMPLETE, "the answer for the run is taken as used once a task has stored its own")
class AnswerOfTheRunUsedUp(Clearing):
    def _clears(self, stored: WriteRow, row: WriteRow) -> bool:
        answers = stored.channel == row.channel == "__resume__"
        return answers and stored.task_id == NULL_TASK != row.task_id


@mistake(COMPLETE, "a checkpoint has one interrupt: the last task's")
class OneInterruptForAllTasks(Clearing):
    def _clears(self, stored: WriteRow, row: WriteRow) -> bool:
        interrupts = stored.channel == row.channel == "__interrupt__"
        return interrupts and stored.task_id != row.task_id


@mistake(
    "pending-writes/special-index",
    "a task that is answered waits no more: its interrupt is removed",
)
class AnswersRemoveInterrupts(Clearing):
    def _clears(self, stored: WriteRow, row: WriteRow) -> bool:
        answered = (stored.channel, row.channel) == ("__interrupt__", "__resume__")
        return answered and stored.task_id == row.task_id


@mistake(COMPLETE, "an interrupt is stored under the first task that has one")
class InterruptsOfTheFirstTask(ReferenceSaver):
    def _store_write(self, stored: Rows, row: WriteRow) -> None:
        if row.channel == "__interrupt__":
            waiting = (each for each in stored.values() if each.channel == row.channel)
            row = replace(row, task_id=next(waiting, row).task_id)
        super()._store_write(stored, row)


@mistake("deletion/copy-complete", "writes of no task, as an answer for the run, are not copied")
class AnswersOfTheRunNotCopied(ReferenceSaver):
    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        of_tasks = {
            id: {key: row for key, row in rows.items() if row.task_id != NULL_TASK}
            for id, rows in shelf.writes.items()
        }
        super()._copy_shelf(replace(shelf, writes=of_tasks), copy)
