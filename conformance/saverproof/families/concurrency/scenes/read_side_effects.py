"""Runs in a process that reads what does not exist, and then looks for traces of these reads."""

from __future__ import annotations

import gc
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from saverproof.errors import describe
from saverproof.families.concurrency.callers.child import ScenePart
from saverproof.families.concurrency.callers.records import Operation, OperationKind
from saverproof.families.concurrency.callers.watching import PATIENCE_S, watch
from saverproof.programs.steps.codec import encode
from saverproof.programs.steps.identifiers import mint
from saverproof.savers.execution.driver import ApiDriver, driver_of
from saverproof.savers.execution.sqlite_files import sqlite_files
from saverproof.savers.execution.view import listed_facts
from saverproof_faults.kill import Acks
from saverproof_faults.sqlite import raw

MARK = "nobody-put-this"
"""A word that is in every unknown name, and in nothing else."""

_TIMES = 4
_MOST_OBJECTS = 200_000
_PREPARED = (
    Operation(OperationKind.PUT, 0, 1, tag=1),
    Operation(OperationKind.WRITES, 0, 1, 1_000, 1, 2),
)


def unknown(number: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return reads of what does not exist: each an operation with its config."""
    thread, namespace = f"{MARK}-{number}", f"{MARK}-{number}"
    known = {"thread_id": "a", "checkpoint_ns": ""}
    yield "get_tuple", {"thread_id": thread, "checkpoint_ns": ""}
    yield "get_tuple", {"thread_id": f"{thread}-x", "checkpoint_ns": "", "checkpoint_id": mint(9)}
    yield "get_tuple", known | {"checkpoint_ns": namespace}
    yield "get_tuple", known | {"checkpoint_id": mint(200 + number)}
    yield "list", {"thread_id": f"{thread}-y"}
    yield "list", known | {"checkpoint_ns": f"{namespace}-y"}


def ask(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Read what does not exist, and look at the store before and after.

    Return "read": how many reads were made; "looked": where traces were looked for; "traces": what
    was found, each with the reads that left it; "trouble"; "standstill".
    """
    scene = ScenePart({**arguments, "schedule": {"seed": "", "switch_s": 0.005}})
    seen: dict[str, Any] = {"read": 0, "looked": [], "traces": [], "trouble": None}

    def guarded() -> None:
        try:
            with scene.saver() as saver:
                scene.prepare(saver, _PREPARED)
                _ask(scene, saver, seen, in_memory=not arguments["durable"])
        except Exception as error:  # noqa: BLE001 - a saver may raise anything
            seen["trouble"] = describe(error)

    still = watch(guarded, scene.progress, scene.loop, PATIENCE_S)
    return seen | {"standstill": encode(still)}


def _ask(scene: ScenePart, saver: Any, seen: dict[str, Any], *, in_memory: bool) -> None:
    driver = driver_of(saver, scene.api, scene.loop, scene.ids)
    listed = listed_facts(driver, ("a",))
    # A first read may still set something up; what matters is what the next ones do.
    _read(driver, next(iter(unknown(0))))
    before = dumped(scene.workspace.path)
    for number in range(1, _TIMES + 1):
        for one in unknown(number):
            _read(driver, one)
            scene.progress.tick()
            seen["read"] += 1
    after = dumped(scene.workspace.path)
    traces = seen["traces"]
    if before or after:
        seen["looked"].append("the tables of its SQLite files")
        traces += _changed(before, after)
    databases = {*sqlite_files(scene.workspace.path)}
    files = [p for p in _files(scene.workspace.path) if not _is_of_sqlite(p, databases)]
    if files:
        seen["looked"].append("its files")
        traces += [f"{p.name} names what was asked for" for p in files if _names(p)]
    if in_memory:
        seen["looked"].append("the objects that it holds")
        traces += _held(saver)
    if not seen["looked"] and scene.ids is None:
        # The store may be on a server. What another saver shows of it can still be seen.
        with scene.saver() as other:
            traces += _shown(driver_of(other, scene.api, scene.loop))
    if listed_facts(driver, ("a",)) != listed:
        traces.append("a listing of another thread has changed")


def _shown(driver: ApiDriver) -> Iterator[str]:
    """Yield what a saver lists under the unknown names.

    An empty listing proves nothing.
    """
    for found in driver.list_tuples(None, {}):
        address = found.config["configurable"]
        if any(MARK in str(part) for part in address.values()):
            yield f"another saver lists {address}"
            return


def _read(driver: ApiDriver, read: tuple[str, dict[str, Any]]) -> None:
    operation, configurable = read
    config = {"configurable": dict(configurable)}
    if operation == "list":
        driver.list_tuples(config, {})
    else:
        driver.get_tuple(config)


# --- files -------------------------------------------------------------------------------------


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _is_of_sqlite(path: Path, databases: Collection[Path]) -> bool:
    return path in databases or path.name.endswith(("-wal", "-shm", "-journal"))


def _names(path: Path) -> bool:
    return MARK.encode() in path.read_bytes()


def dumped(folder: Path) -> dict[str, list[str]]:
    """Return the rows of every table of every SQLite file, as texts."""
    found: dict[str, list[str]] = {}
    for path in sqlite_files(folder):
        with closing(raw.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            for table in _tables(connection):
                quoted = table.replace('"', '""')
                rows = connection.execute(f'SELECT * FROM "{quoted}"').fetchall()
                found[f"{path.name}, table {table}"] = sorted(map(repr, rows))
    return found


def _tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return [name for (name,) in rows]


def _changed(before: Mapping[str, list[str]], after: Mapping[str, list[str]]) -> Iterator[str]:
    for place in sorted({*before, *after}):
        old, new = before.get(place), after.get(place)
        if old is None:
            yield f"{place} was made"
        elif new is None:
            yield f"{place} is gone"
        elif old != new:
            more = [row for row in new if row not in old]
            yield f"{place}: {len(old)} rows before, {len(new)} after: {more[:1]}"[:300]


# --- memory ------------------------------------------------------------------------------------


def _held(saver: Any) -> Iterator[str]:
    """Yield the places at which an unknown name stands among the objects that a saver keeps in
    memory.
    """
    for owner in _reached(saver):
        if isinstance(owner, dict):
            named = [key for key in list(owner) if _is_named(key)]
            if named:
                yield f"a {type(owner).__name__} with {len(named)} new keys such as {named[0]!r}"
                return
        elif isinstance(owner, list | set | tuple) and any(map(_is_named, owner)):
            yield f"a {type(owner).__name__} that holds what was asked for"
            return


def _is_named(value: object) -> bool:
    if isinstance(value, tuple):
        return any(_is_named(part) for part in value)
    return isinstance(value, str) and value.startswith(MARK)


def _reached(saver: Any) -> Iterable[Any]:
    pending: list[Any] = [vars(saver)]
    seen: set[int] = set()
    while pending and len(seen) < _MOST_OBJECTS:
        owner = pending.pop()
        if id(owner) in seen or isinstance(owner, type | ModuleType | FunctionType | str | bytes):
            continue
        seen.add(id(owner))
        yield owner
        pending += gc.get_referents(owner)
