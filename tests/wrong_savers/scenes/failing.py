"""Fails, or stops, a SQLite saver at each of its statements, and looks at what is left."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from tests.wrong_savers.scenes.probe import Probe
from tests.wrong_savers.support import opening


class Watched:
    """A connection that calls `before` ahead of each statement."""

    def __init__(self, connection: Any, before: Callable[[str], None]) -> None:
        self._connection = connection
        self._before = before

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: str, *values: Any) -> Any:
        self._before(statement)
        return self._connection.execute(statement, *values)


@contextmanager
def watched(saver: Any, before: Callable[[str], None]) -> Iterator[None]:
    """Watch the saver's statements for a while."""
    database = saver.database
    connection = database.connection
    database.connection = Watched(connection, before)
    try:
        yield
    finally:
        if isinstance(database.connection, Watched):
            database.connection = connection


@contextmanager
def watched_from_its_opening(saver: Any, before: Callable[[str], None]) -> Iterator[None]:
    """Watch the statements of savers that are opened meanwhile."""
    database = saver.database_class
    really_open = database.open
    with mock.patch.object(database, "open", lambda self: Watched(really_open(self), before)):
        yield


def rows(path: Path) -> Any:
    """What a second connection sees, and whether it may write."""
    with closing(
        sqlite3.connect(path / "checkpoints.db", timeout=0, isolation_level=None)
    ) as other:
        found = [
            sorted(other.execute(query).fetchall())
            for query in (
                "SELECT thread, ns, id, parent, metadata FROM checkpoints",
                "SELECT thread, ns, id, task, position, value FROM writes",
            )
        ]
        try:
            other.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            return found, str(error)
        other.execute("ROLLBACK")
        return found, "free"


OPERATIONS: dict[str, Callable[[Probe], Any]] = {
    "put": lambda p: p.put(3, parent=2, values={"x": 3}),
    "reput": lambda p: p.put(2, parent=1, values={"x": 9}),
    "batch": lambda p: p.write(2, [("x", n) for n in range(11)], "t8"),
    "mixed": lambda p: p.write(2, [("x", 1), ("__error__", "e"), ("y", 2)], "t9"),
    "delete": lambda p: p.delete("a"),
    "copy": lambda p: p.attempt(lambda: p.call("copy_thread", "a", "c")),
    "prune": lambda p: p.attempt(lambda: p.call("prune", ["a"], strategy="delete")),
}


def prepared(probe: Probe) -> Probe:
    """Two checkpoints with writes."""
    probe.put(1, values={"x": 1})
    probe.put(2, parent=1, values={"x": 2})
    probe.write(1, [("x", 1), ("y", 2)])
    probe.write(2, [("x", 1), ("y", 2)])
    return probe


def two(saver: Any, folder: Path) -> tuple[Probe, Probe]:
    """Two savers on one store that has two checkpoints."""
    first = prepared(Probe(opening(saver), folder, "sync"))
    return first, Probe(opening(saver), folder, "sync")


def failed_everywhere(open_at: Callable[[Path], Any], folder: Path, api: str) -> Any:
    """Raise at each statement of each operation; return what is seen then, and afterwards."""
    seen: list[Any] = []
    for name, operation in OPERATIONS.items():
        for place in range(60):
            probe = prepared(Probe(open_at, folder / f"{name}{place}", api))
            statements: list[str] = []

            def fail(statement: str, ran: list[str] = statements, place: int = place) -> None:
                ran.append(statement)
                if len(ran) == place + 1:
                    raise sqlite3.OperationalError("database or disk is full")

            with watched(probe.saver, fail):
                answer = operation(probe)
            seen.append((name, place, answer is None, isinstance(answer, str), rows(probe.path)))
            if not stuck(probe):
                probe.put(9, thread="other")
                probe.write(9, [("x", 1)], thread="other")
                seen.append((rows(probe.path), probe.id_of(), probe.id_of("other")))
            probe.attempt(probe.saver.close)
            if len(statements) <= place:
                break
    return seen


def stuck(probe: Probe) -> bool:
    """Whether the saver would wait for a lock that nobody will release."""
    gate = getattr(probe.saver.database, "gate", None)
    return gate is not None and bool(gate.locked())


def stopped_everywhere(open_at: Callable[[Path], Any], folder: Path, api: str) -> Any:
    """Return what a store opened on the files of each moment holds, and what it should hold.

    The files at a statement are those that a kill at this statement leaves.
    """
    probe = Probe(open_at, folder / "running", api)
    acknowledged: list[str] = []
    moments: list[tuple[int, Path]] = []

    one_at_a_time = threading.Lock()

    def keep(statement: str) -> None:
        with one_at_a_time:
            moment = folder / f"moment{len(moments)}"
            done = len(acknowledged)
            shutil.copytree(probe.path, moment)
            moments.append((done, moment))

    with watched(probe.saver, keep):
        for number in range(1, 5):
            probe.put(number, parent=number - 1 or None, values={"x": number})
            acknowledged.append("put")
            keep("")
            probe.write(number, [("x", n) for n in range(3)])
            acknowledged.append("write")
            keep("")
        probe.delete("a")
        acknowledged.append("delete")
    probe.attempt(probe.saver.close)
    return [(done, survivors(open_at, moment)) for done, moment in moments]


def moments_within(probe: Probe, operation: Callable[[], Any], folder: Path) -> list[Path]:
    """Return copies of a store's files at each statement of an operation, and after it."""
    moments: list[Path] = []

    def keep(statement: str) -> None:
        moments.append(folder / f"moment{len(moments)}")
        shutil.copytree(probe.path, moments[-1])

    with watched(probe.saver, keep):
        operation()
    keep("")
    probe.saver.close()
    return moments


def survivors(open_at: Callable[[Path], Any], moment: Path) -> Any:
    """Return how much of the running program a store holds."""
    try:
        saver = open_at(moment)
    except Exception as error:  # noqa: BLE001 (any exception is an answer)
        return f"raised {type(error).__name__}"
    found = [
        (item.checkpoint["id"][-1], len(item.pending_writes), item.checkpoint["versions_seen"])
        for item in saver.list(None)
    ]
    latest = saver.get_tuple({"configurable": {"thread_id": "a"}})
    saver.close()
    if latest is not None and latest.checkpoint["id"][-1] not in [id for id, *_ in found[:1]]:
        return "the latest checkpoint is not the newest of the list"
    return found


def lost_or_torn(moments: Any) -> bool:
    """Whether any moment lacks what was acknowledged, or holds a part of what was not."""
    for done, found in moments:
        puts, writes = (done + 1) // 2, done // 2
        whole = [(str(n), 3 if n <= writes else 0) for n in range(puts, 0, -1)]
        more = [(str(puts + 1), 0), *whole] if done % 2 == 0 else [(str(puts), 3), *whole[1:]]
        allowed = [whole, more] if done < 8 else [whole, []]
        if isinstance(found, str) or [item[:2] for item in found] not in allowed:
            return True
    return False
