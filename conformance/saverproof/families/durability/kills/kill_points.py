"""Counts the places that a process passes, and kills the process at one of them from inside."""

from __future__ import annotations

import io
import socket
import sys
import threading
from asyncio import selector_events
from types import FrameType
from typing import Any, Self

from saverproof.families.durability.kills.kill_places import OPENING, KillPlace, PlaceKind
from saverproof.families.durability.kills.place_watch import Die, PlaceWatch
from saverproof.families.durability.kills.system_call_places import SystemCallPlaces
from saverproof_faults import Event, Moment, Place
from saverproof_faults.io import IoAction, IoCall, IoEach, IoWatch
from saverproof_faults.io import available as io_unavailable
from saverproof_faults.kill import Acks
from saverproof_faults.plan import excerpt
from saverproof_faults.sqlite.handles import WatchedConnection
from saverproof_faults.sqlite.library import unavailable as engine_unavailable
from saverproof_faults.sqlite.listener import Listener
from saverproof_faults.sqlite.trap import Trap
from saverproof_faults.sqlite.watch import Watch
from saverproof_faults.syscalls import available as system_calls_unavailable


def unavailable(kind: PlaceKind) -> str | None:
    """Return why places of a kind cannot be seen in this Python, or None if they can."""
    match kind:
        case PlaceKind.STATEMENT:
            return engine_unavailable()
        case PlaceKind.IO:
            return io_unavailable()
        case PlaceKind.SYSTEM_CALL | PlaceKind.MESSAGE:
            return system_calls_unavailable()
    return None


def places(kind: PlaceKind, folder: str, place: KillPlace | None, acks: Acks) -> PlaceWatch:
    """Return a watch for places of a kind. It dies at ``place``; without one it counts all
    places.
    """
    match kind:
        case PlaceKind.STATEMENT:
            return _Statements(place, acks.reached)
        case PlaceKind.IO:
            return _Files(folder, place, acks.reached)
        case PlaceKind.SYSTEM_CALL | PlaceKind.MESSAGE:
            return SystemCallPlaces(folder, place, acks)
        case PlaceKind.CALL:
            return _Calls(place, acks.reached)
        case _:
            # The remaining kinds: marks of the program itself, and kills from outside.
            return PlaceWatch(None)


class _Statements(PlaceWatch):
    def __init__(self, place: KillPlace | None, die: Die) -> None:
        super().__init__(place, die)
        self.watch = Watch()
        self.listener: Listener | None = None

    def __enter__(self) -> Self:
        self.exit.enter_context(self.watch)
        self.begin(OPENING)
        return self

    def begin(self, operation: int) -> None:
        super().begin(operation)
        place = self.place
        if place is None:
            self._listen(_PlaceListener(self))
        elif place.operation == operation:
            where = Place(Event(place.event), place.number, Moment(place.moment))
            # It stays armed: work that a thread does later comes later.
            self._listen(Trap(where, self.die))

    def _listen(self, listener: Listener) -> None:
        if self.listener is not None:
            self.watch.unlisten(self.listener)
        self.listener = listener
        self.watch.listen(listener)


class _PlaceListener(Listener):
    """Turns SQLite's events into places."""

    ends = True

    def __init__(self, statements: _Statements) -> None:
        self.of = statements
        self.running: dict[int, tuple[int, str]] = {}

    def began(self, connection: WatchedConnection, number: int, statement: int) -> None:
        sql = connection.library.quick.sqlite3_sql(statement).decode(errors="replace")
        self.running[statement] = (number, excerpt(sql))
        self._add(Event.ENGINE_STATEMENT, number, Moment.BEFORE, self.running[statement][1])

    def ended(self, connection: WatchedConnection, statement: int) -> None:
        if statement in self.running:
            number, sql = self.running.pop(statement)
            self._add(Event.ENGINE_STATEMENT, number, Moment.AFTER, sql)

    def committing(self, connection: WatchedConnection, number: int) -> bool:
        self._add(Event.TRANSACTION, number, Moment.BEFORE, "")
        return False

    def _add(self, event: Event, number: int, moment: Moment, about: str) -> None:
        of = self.of
        of.index += 1
        of.found.append(
            KillPlace(
                PlaceKind.STATEMENT,
                of.operation,
                of.index,
                event=event.value,
                number=number,
                moment=moment.value,
                about=about[:80],
            )
        )


class _Files(PlaceWatch):
    def __init__(self, folder: str, place: KillPlace | None, die: Die) -> None:
        super().__init__(place, die)
        self.watch = IoWatch(folder)

    def __enter__(self) -> Self:
        self.exit.enter_context(self.watch)
        self.begin(OPENING)
        return self

    def begin(self, operation: int) -> None:
        super().begin(operation)
        if self.place is None:
            self.watch.arm(IoEach(self._note))
        elif self.place.operation == operation:
            self.watch.arm(IoAction(self.place.index, self._die_there))

    def _die_there(self, call: IoCall) -> None:
        self.die()

    def _note(self, call: IoCall) -> None:
        self.index += 1
        self.found.append(KillPlace(PlaceKind.IO, self.operation, self.index, about=str(call)))


_CHANGING = frozenset(
    (
        *("open", "write", "writelines", "pwrite", "close", "flush", "truncate", "ftruncate"),
        *("fsync", "fdatasync", "replace", "rename", "remove", "unlink", "link", "symlink"),
        *("mkdir", "rmdir", "sendfile", "connect", "send", "sendall", "sendto"),
    )
)


class _Calls(PlaceWatch):
    """Watches, in every thread, calls of C functions that change files or talk to sockets."""

    def __enter__(self) -> Self:
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        self.exit.callback(threading.setprofile, None)
        self.exit.callback(sys.setprofile, None)
        return self

    def _note(self, frame: FrameType, event: str, function: Any) -> None:
        if event not in ("c_call", "c_return") or not changes(function) or _wakes_a_loop(frame):
            return
        self.index += 1
        place = self.place
        if place is not None:
            if (place.operation, place.index) == (self.operation, self.index):
                self.die()
            return
        moment = "before" if event == "c_call" else "after"
        about = f"the call of {function.__name__}()"
        self.found.append(
            KillPlace(PlaceKind.CALL, self.operation, self.index, moment=moment, about=about)
        )


def changes(function: Any) -> bool:
    """Return whether a function changes files or talks to a socket."""
    if getattr(function, "__name__", "") not in _CHANGING:
        return False
    owner = getattr(function, "__self__", None)
    if isinstance(owner, io.BytesIO | io.StringIO):
        return False
    if isinstance(owner, io.IOBase | socket.socket):
        return True
    return getattr(function, "__module__", None) in ("posix", "nt", "io", "_io")


def _wakes_a_loop(frame: FrameType) -> bool:
    """Return whether an event loop makes its own wake-up call, which changes nothing outside the
    loop.
    """
    code = frame.f_code
    return code.co_name == "_write_to_self" and code.co_filename == selector_events.__file__
