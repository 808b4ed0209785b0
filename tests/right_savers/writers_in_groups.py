"""A saver whose writer commits all that is queued in one transaction, each a savepoint of it."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

from tests.reference.database import Database
from tests.right_savers.registry import right
from tests.right_savers.writer_behind_queue import Queued, WriterBehindQueue


class Grouped(Database):
    """A database that is written to in groups."""

    def group(self) -> AbstractContextManager[None]:
        """One transaction for all that is written in the block."""
        return super().writing()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A part of the group's transaction, taken back alone if it fails."""
        self.run("SAVEPOINT part")
        try:
            yield
        except BaseException:
            # A failure after which SQLite has rolled back everything leaves no savepoint.
            if self.connection.in_transaction:
                self.run("ROLLBACK TO part")
                self.run("RELEASE part")
            raise
        self.run("RELEASE part")


def _answer(database: Grouped, action: Callable[[], Any]) -> Any:
    """What a part answers, or the exception by which it failed alone."""
    try:
        return action()
    except BaseException as error:
        if not database.connection.in_transaction:
            raise
        return error


def _commit(group: list[Queued]) -> None:
    """Answer all callers of a group once it is committed."""
    database = group[0].saver.database
    assert isinstance(database, Grouped)
    try:
        with database.group():
            answers = [_answer(database, queued.action) for queued in group]
    except BaseException as error:  # noqa: BLE001 (the callers raise it)
        answers = [error] * len(group)
    for queued, answer in zip(group, answers, strict=True):
        if isinstance(answer, BaseException):
            queued.future.set_exception(answer)
        else:
            queued.future.set_result(answer)


def _write(waiting: queue.SimpleQueue[Queued | None]) -> None:
    while (first := waiting.get()) is not None:
        group = [first]
        with suppress(queue.Empty):
            while (further := waiting.get_nowait()) is not None:
                group.append(further)
            # The end was queued behind this group.
            waiting.put(None)
        for queued in group:
            queued.future.set_running_or_notify_cancel()
        _commit(group)
        group.clear()
        del first


@right(
    "one thread writes all that is queued in one transaction: each caller waits for its commit",
    about={"atomicity"},
)
class WritersInGroups(WriterBehindQueue):
    database_class = Grouped
    write = staticmethod(_write)
