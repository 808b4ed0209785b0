"""What a failing statement leaves shows each wrong saver of the atomicity family."""

from __future__ import annotations

import asyncio
import sqlite3
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import pytest

from tests.reference.sqlite import SqliteReference
from tests.reference.state_file import StateFileReference
from tests.right_savers.file_per_thread import FilePerThread
from tests.wrong_savers import WrongSaver, failed_reads, interrupted, neighbours, unfinished_reads
from tests.wrong_savers.failures import Stepwise
from tests.wrong_savers.scenes.failed_reads import answered_without_its_storage
from tests.wrong_savers.scenes.failing import (
    OPERATIONS,
    failed_everywhere,
    prepared,
    rows,
    stuck,
    watched,
)
from tests.wrong_savers.scenes.failing_files import left_by_failures
from tests.wrong_savers.scenes.neighbours import SECOND_ROW, WHOLE, left_by_tasks, left_by_threads
from tests.wrong_savers.scenes.probe import Probe
from tests.wrong_savers.scenes.unfinished_reads import (
    answers_around_cancellations,
    answers_around_failures,
)
from tests.wrong_savers.support import (
    of,
    opening,
)


@lru_cache(maxsize=1)
def after_failures() -> Any:
    """What the SQLite reference shows after each failure."""
    with TemporaryDirectory() as folder:
        return failed_everywhere(opening(SqliteReference), Path(folder), "sync")


def test_the_reference_leaves_nothing_of_a_failed_operation(tmp_path: Path) -> None:
    before = rows(prepared(Probe(opening(SqliteReference), tmp_path, "sync")).path)
    failures = [entry for entry in after_failures() if len(entry) == 5 and entry[3]]
    assert len({name for name, *_ in failures}) == len(OPERATIONS)
    assert all(seen == before for *_, seen in failures)


@of("atomicity")
def test_a_failing_statement_shows_the_mistake(wrong: WrongSaver, tmp_path: Path) -> None:
    if wrong.breaks == "atomicity/usable-after-lost-connection":
        assert lost(SqliteReference, tmp_path / "right") == 2
        assert lost(wrong.saver, tmp_path / "wrong") == "raised ProgrammingError"
    elif wrong.saver.__module__ == unfinished_reads.__name__:
        sync = "sync" in wrong.apis
        answers = answers_around_failures if sync else answers_around_cancellations
        right = SqliteReference if sync else unfinished_reads.InSteps
        assert answers(wrong.saver, tmp_path / "wrong") != answers(right, tmp_path / "right")
    elif wrong.breaks == "atomicity/cancelled":
        assert cancelled(wrong.saver, tmp_path / "wrong") != cancelled(
            CleanlyStepwise, tmp_path / "right"
        )
    elif wrong.saver.__module__ == failed_reads.__name__:
        right = FilePerThread if issubclass(wrong.saver, FilePerThread) else SqliteReference
        assert not answered_without_its_storage(right, tmp_path / "right")
        assert answered_without_its_storage(wrong.saver, tmp_path / "wrong")
    elif wrong.saver.__module__ == neighbours.__name__:
        left = left_by_threads if wrong.apis == ("sync",) else left_by_tasks
        right = SqliteReference if wrong.apis == ("sync",) else TakingTurns
        assert left(right, tmp_path / "right") == WHOLE
        assert left(wrong.saver, tmp_path / "wrong") != WHOLE
    elif wrong.saver.__module__ == interrupted.__name__:
        assert left_by_interruption(wrong.saver, tmp_path / "wrong") != left_by_interruption(
            SqliteReference, tmp_path / "right"
        )
    elif issubclass(wrong.saver, StateFileReference):
        whole = {(0, 0), (3, 3)}
        assert left_by_failures(StateFileReference, tmp_path / "right") == whole
        assert not left_by_failures(wrong.saver, tmp_path / "wrong") <= whole
    elif wrong.name == "pool-leaks-on-failure":
        assert failed_often(SqliteReference, tmp_path / "right") != "raised OperationalError"
        assert failed_often(wrong.saver, tmp_path / "wrong") == "raised OperationalError"
    elif wrong.name == "lock-taken-twice-on-failure":
        assert failed_with_gate(wrong.saver, tmp_path) == "raised WouldWait"
    else:
        found = failed_everywhere(opening(wrong.saver), tmp_path, "sync")
        assert found != after_failures()


def left_by_interruption(saver: Any, folder: Path) -> Any:
    """Leave a batch by KeyboardInterrupt at its second row; look before and after a put."""
    probe = prepared(Probe(opening(saver), folder, "sync"))
    ran: list[str] = []

    def interrupt(statement: str) -> None:
        ran.append(statement)
        if len(ran) == SECOND_ROW:
            raise KeyboardInterrupt

    with watched(probe.saver, interrupt), pytest.raises(KeyboardInterrupt):
        probe.write(2, [("x", 1), ("y", 2)], "t9")
    seen = [rows(probe.path)]
    if not stuck(probe):
        probe.put(9, thread="other")
        seen.append(rows(probe.path))
    probe.attempt(probe.saver.close)
    return seen


def lost(saver: Any, folder: Path) -> Any:
    """Close the connection behind the saver's back, and ask for the latest."""
    probe = prepared(Probe(opening(saver), folder, "sync"))
    probe.saver.database.connection.close()
    return probe.id_of()


class WouldWait(Exception):  # noqa: N818 (named by what it stands for)
    """Whoever asks for the gate holds it."""


class Gate:
    """A lock that raises where another would wait for ever."""

    held = False

    def __enter__(self) -> None:
        self.held = True

    def __exit__(self, *exc_info: object) -> None:
        self.held = False

    def locked(self) -> bool:
        return self.held

    def acquire(self, timeout: float) -> bool:
        raise WouldWait


def failed_with_gate(saver: Any, folder: Path) -> Any:
    """Fail a statement of a put, and give what the put answers."""
    probe = prepared(Probe(opening(saver), folder, "sync"))
    probe.saver.database.gate = Gate()

    def fail(statement: str) -> None:
        if statement.startswith("INSERT"):
            raise sqlite3.OperationalError("disk I/O error")

    with watched(probe.saver, fail):
        return OPERATIONS["put"](probe)


class CleanlyStepwise(SqliteReference):
    aput_writes = Stepwise.aput_writes
    _gate = Stepwise._gate

    def _transaction(self) -> Any:
        return Cleanly(self.database)


class TakingTurns(CleanlyStepwise):
    """Keeps a second caller out until the first one's batch is over."""

    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> Any:
        async with self._gate():
            await super().aput_writes(config, writes, task_id, task_path)


class Cleanly:
    """The database's own transaction, as an async context manager."""

    def __init__(self, database: Any) -> None:
        self._transaction = database.writing()

    async def __aenter__(self) -> None:
        self._transaction.__enter__()

    async def __aexit__(self, *error: Any) -> None:
        self._transaction.__exit__(*error)


def failed_often(saver: Any, folder: Path) -> Any:
    """Fail a statement of ten puts, and give what the next one answers."""
    probe = prepared(Probe(opening(saver), folder, "sync"))
    with mock.patch.object(saver, "_insert_checkpoint", side_effect=sqlite3.DataError):
        for _ in range(10):
            OPERATIONS["put"](probe)
    return OPERATIONS["put"](probe)


def cancelled(saver: Any, folder: Path) -> Any:
    """Cancel a batch at its second row, and look."""
    probe = prepared(Probe(opening(saver), folder, "sync"))
    coroutine = probe.saver.aput_writes(probe.config("a", "", 2), [("x", 1), ("x", 2)], "t9", "")
    coroutine.send(None)
    with pytest.raises(asyncio.CancelledError):
        coroutine.throw(asyncio.CancelledError())
    seen = rows(probe.path), probe.saver._gate().locked()
    probe.attempt(probe.saver.close)
    return seen
