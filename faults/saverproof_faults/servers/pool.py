"""The pool of places that a keeper has ready. One thread makes, changes and removes them."""

from __future__ import annotations

import secrets
import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from saverproof_faults.servers.keeper_protocol import Deed, Order
from saverproof_faults.servers.kinds import (
    Moves,
    NoPlaceError,
    OutlivesServers,
    Places,
    RefusesWrites,
    Renews,
    RunningServer,
    StandsStill,
    Way,
)
from saverproof_faults.servers.proxy import TcpProxy
from saverproof_faults.servers.server import ServerError

_PATIENCE_S = 60.0
"""Seconds to wait for a place, or for the result of an order: a server may start meanwhile."""
_MOST_RENEWED = 8
"""How many used places are kept beyond those made ahead. More would hardly be used, and take
room.
"""


class Pool:
    """Places that are ready to be used, and places that wait to be removed.

    One thread works on both, and on the server, while the run goes on.
    """

    def __init__(
        self,
        places: Places,
        server: RunningServer | None,
        name: str,
        ahead: int,
        proxy: TcpProxy | None = None,
    ) -> None:
        self._places = places
        self._name = name
        self._server = server
        self._proxy = proxy
        self._ahead = ahead
        self._run = secrets.token_hex(4)
        self._count = 0
        self._ready: deque[tuple[str, str]] = deque()
        self._used: set[str] = set()
        self._labelled: dict[str, tuple[str, str]] = {}
        self._folders: set[str] = set()
        """Labels that were paths of folders when they were first used."""
        self._labelling = threading.Lock()
        self._returned: deque[str] = deque()
        self._asked: deque[Callable[[], None]] = deque()
        self._not_running: Exception | None = None
        self._thawing = threading.Event()
        self._waiting = 0
        self._trouble: Exception | None = None
        self._closing = False
        self._changed = threading.Condition()
        self._worker = threading.Thread(target=self._work, name="places")
        self._worker.start()

    def take(self) -> tuple[str, str]:
        """Return the name and the DSN of an empty place.

        Raises:
            Exception: what kept the server from making one.
        """
        with self._changed:
            self._waiting += 1
            self._trouble = None
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: self._ready or self._trouble or self._closing, _PATIENCE_S
            )
            self._waiting -= 1
            if not self._ready:
                raise self._trouble or NoPlaceError("the server made no place in time")
            name, dsn = self._ready.popleft()
            self._used.add(name)
            self._changed.notify_all()
            return name, dsn

    def labelled(self, label: str) -> tuple[str, str]:
        """Return the name and the DSN of the place with a label, which is empty at first.

        If the label is the path of a folder, the place is removed after the folder is. Scripts
        remove their folders at their end, and a server may have room for few places.

        Raises:
            Exception: what kept the server from making one.
        """
        with self._labelling:
            if label not in self._labelled:
                self._remove_of_folders_gone()
                self._labelled[label] = self.take()
                if Path(label).is_dir():
                    self._folders.add(label)
            return self._labelled[label]

    def _remove_of_folders_gone(self) -> None:
        for label in [each for each in self._folders if not Path(each).is_dir()]:
            self._folders.discard(label)
            name, _ = self._labelled.pop(label)
            self.give_back(name)

    def give_back(self, name: str) -> None:
        """Take a place back, to be removed."""
        with self._changed:
            self._used.discard(name)
            self._returned.append(name)
            self._changed.notify_all()

    def do(self, order: Order, name: str) -> Any:
        """Carry out an order in a place, and return its result.

        Raises:
            Exception: what the server answered.
        """
        if order.deed in _DEEDS and not isinstance(self._places, RefusesWrites):
            raise ServerError("this kind of server fails no writes")
        if order.deed in (Deed.RESTART, Deed.READY, Deed.FAIL_OVER) and not self.killable:
            raise ServerError("only a private server whose places survive its death can be killed")
        if order.deed is Deed.FAIL_OVER and self._proxy is None:
            raise ServerError("only a server behind a proxy can give its address to another")
        if order.deed is Deed.FREEZE and not isinstance(self._server, StandsStill):
            raise ServerError("only a private server can be stopped (SIGSTOP)")
        if order.deed is Deed.THAW:
            self._thawing.set()
        answer: Future[Any] = Future()

        def act() -> None:
            try:
                answer.set_result(self._done(order, name))
            except Exception as error:  # noqa: BLE001 - raised where it was asked for
                answer.set_exception(error)

        with self._changed:
            self._asked.append(act)
            self._changed.notify_all()
        return answer.result(_PATIENCE_S)

    @property
    def killable(self) -> bool:
        """True if the server may be killed, and its places can be used afterwards."""
        return self._server is not None and isinstance(self._places, OutlivesServers)

    def _done(self, order: Order, name: str) -> Any:
        if order.deed is Deed.END_SESSIONS:
            return self._places.end_sessions(name)
        if order.deed in (Deed.RESTART, Deed.FAIL_OVER):
            assert self._server is not None
            self._server.kill()
            if order.deed is Deed.FAIL_OVER:
                assert isinstance(self._server, Moves)
                self._server.move()
            # The client goes on meanwhile. This is the next thing that the pool's thread does.
            self._asked.appendleft(self._start_again)
            return None
        if order.deed is Deed.FREEZE:
            assert isinstance(self._server, StandsStill)
            self._thawing.clear()
            self._server.freeze()
            # The pool's thread can do nothing else while the server stands still.
            self._asked.appendleft(self._stay_frozen)
            return None
        if order.deed in (Deed.READY, Deed.THAW):
            if self._not_running is not None:
                raise self._not_running
            return None
        return _DEEDS[order.deed](self._places, name, order)

    def _start_again(self) -> None:
        assert self._server is not None
        assert isinstance(self._places, OutlivesServers)
        try:
            self._server.start()
            if self._proxy is not None:
                assert isinstance(self._server, Moves)
                self._proxy.turn_to(self._server.port)
            self._places.reconnect()
            self._not_running = None
        except Exception as error:  # noqa: BLE001 - told to whoever waits for it
            self._not_running = error

    def _stay_frozen(self) -> None:
        assert isinstance(self._server, StandsStill)
        self._thawing.wait()
        try:
            self._server.thaw()
            self._not_running = None
        except Exception as error:  # noqa: BLE001 - told to whoever waits for it
            self._not_running = error

    def close(self) -> list[str]:
        """Remove every place, and return a line for each that could not be removed."""
        self._thawing.set()
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._worker.join()
        left = []
        for name in [*self._returned, *self._used, *(name for name, _ in self._ready)]:
            try:
                self._places.drop(name)
            except Exception as error:  # noqa: BLE001 - told to whoever reports the run
                left.append(f"{name}: {first_line(error)}")
        return left

    def _work(self) -> None:
        while (job := self._next()) is not None:
            job()

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            while not self._closing:
                if self._asked:
                    return self._asked.popleft()
                missing = len(self._ready) < self._ahead
                if self._waiting and not self._ready and self._trouble is None:
                    return self._make
                if self._returned:
                    return self._drop
                if missing and self._trouble is None:
                    return self._make
                self._changed.wait()
            return None

    def _new_name(self) -> str:
        self._count += 1
        return f"sp_{self._run}_{self._count}"

    def _make(self) -> None:
        name = self._new_name()
        try:
            dsn = self._places.make(name)
        except Exception as error:  # noqa: BLE001 - raised to whoever waits for a place
            if isinstance(error, NoPlaceError) and self._returned:
                # Removing what has come back makes room.
                self._drop()
                return
            with self._changed:
                self._trouble = ServerError(f"{self._name}: {first_line(error)}")
                self._changed.notify_all()
            return
        with self._changed:
            self._ready.append((name, dsn))
            self._changed.notify_all()

    def _drop(self) -> None:
        name = self._returned[0]
        try:
            if not self._renews():
                self._places.drop(name)
        except Exception:  # noqa: BLE001 - tried again at the end, and reported then
            with self._changed:
                self._used.add(name)
        with self._changed:
            self._returned.popleft()

    def _renews(self) -> bool:
        """Renew the place that came back first, and return whether it is ready or gone."""
        places = self._places
        if self._server is None or not isinstance(places, Renews):
            return False
        if len(self._ready) >= self._ahead + _MOST_RENEWED:
            return False
        old, new = self._returned[0], self._new_name()
        try:
            dsn = places.renew(old, new)
        except Exception:  # noqa: BLE001 - it is removed instead, under whichever name it has
            self._places.drop(new)
            return False
        if dsn is not None:
            with self._changed:
                self._ready.append((new, dsn))
                self._changed.notify_all()
        return True


# The deeds of RefusesWrites.
_DEEDS: Mapping[Deed, Callable[[Any, str, Order], Any]] = {
    Deed.WATCH: lambda places, name, _: (
        places.watch_writes(name) or {"ways": places.ways, "for_all": places.for_all}
    ),
    Deed.WRITTEN: lambda places, name, _: places.written(name),
    Deed.FAIL: lambda places, name, order: places.fail_write(
        name, order.number, Way(order.how), order.what
    ),
    Deed.HAS_FAILED: lambda places, name, _: places.has_failed(name),
}


def first_line(error: Exception) -> str:
    """Return the first line of an error's text, or else the name of its class."""
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[0]
