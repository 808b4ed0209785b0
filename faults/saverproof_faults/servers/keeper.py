"""The process that looks after a server for a run: starts it, makes places in it, removes all.

It outlives whoever started it by as long as that takes: when its standard input ends, for whatever
reason, it drops every place and ends the server. What it is told on standard input, once: the
kind of server as text, the DSN to use or null, where private servers keep their data, and whether
to keep empty places ready. It answers with one line: where it listens, or why it cannot. On its
socket, each connection is one lease: it gets a place of its own, and gives it back when it is
closed, however that comes.
One that begins with a label gets the place that all with this label share, until the end; one that
begins with the name of a place only has things done there.
"""

from __future__ import annotations

import json
import secrets
import socket
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from saverproof_faults.servers.kinds import (
    NoPlaceError,
    OutlivesServers,
    Places,
    RefusesWrites,
    RunningServer,
    where,
)
from saverproof_faults.servers.orders import Deed, Order, Wanted
from saverproof_faults.servers.reference import kind_of
from saverproof_faults.servers.server import ServerError, ServerUnavailable

_LONGEST_PATH = 90
_PATIENCE_S = 60.0
_PAUSE_S = 0.05


def main() -> None:
    """Be the keeper, until standard input ends."""
    order = json.loads(sys.stdin.readline())
    sys.path[:] = order["path"]
    scratch = None if order["scratch"] is None else Path(order["scratch"])
    with ExitStack() as stack:
        try:
            kind = kind_of(order["kind"])
            given: str | None = order["dsn"]
            server = stack.enter_context(kind.private(scratch)) if given is None else None
            dsn = server.url if server is not None else str(given)
            places = stack.enter_context(kind.places(dsn))
        except (ServerUnavailable, ServerError) as reason:
            _say({"refused": str(reason)})
            return
        except Exception as error:  # noqa: BLE001 - an author's kind; whoever asked is told
            _say({"refused": f"{type(error).__name__}: {error}"})
            return
        ahead = places.ahead if order["ahead"] else 0
        stock = _Stock(places, server, f"{kind.title} at {where(dsn)}", ahead)
        folder = Path(stack.enter_context(_short_folder()))
        with _listening(folder / "leases", stock) as address:
            _say({"address": address, "version": places.version, "killable": stock.killable})
            sys.stdin.read()
        _say({"left": stock.close()})


def _say(answer: dict[str, Any]) -> None:
    # Whoever is gone need not be told.
    with suppress(BrokenPipeError):
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _short_folder() -> tempfile.TemporaryDirectory[str]:
    """A private folder whose path leaves room for a socket's name."""
    usual = tempfile.gettempdir()
    return tempfile.TemporaryDirectory(
        prefix="saverproof-keeper-", dir=usual if len(usual) < _LONGEST_PATH - 30 else "/tmp"
    )


class _Stock:
    """Places ready to be used, and those to be removed; one thread does both, beside the run."""

    def __init__(self, places: Places, server: RunningServer | None, name: str, ahead: int) -> None:
        self._places = places
        self._name = name
        self._server = server
        self._ahead = ahead
        self._run = secrets.token_hex(4)
        self._count = 0
        self._ready: deque[tuple[str, str]] = deque()
        self._used: set[str] = set()
        self._labelled: dict[str, tuple[str, str]] = {}
        self._labelling = threading.Lock()
        self._returned: deque[str] = deque()
        self._asked: deque[Callable[[], None]] = deque()
        self._not_started: Exception | None = None
        self._waiting = 0
        self._trouble: Exception | None = None
        self._closing = False
        self._changed = threading.Condition()
        self._worker = threading.Thread(target=self._work, name="places")
        self._worker.start()

    def take(self) -> tuple[str, str]:
        """Name and DSN of an empty place.

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
        """Name and DSN of the place with a label, empty the first time.

        Raises:
            Exception: what kept the server from making one.
        """
        with self._labelling:
            if label not in self._labelled:
                self._labelled[label] = self.take()
            return self._labelled[label]

    def give_back(self, name: str) -> None:
        """Have a place removed."""
        with self._changed:
            self._used.discard(name)
            self._returned.append(name)
            self._changed.notify_all()

    def do(self, order: Order, name: str) -> Any:
        """Have something done in a place; what came of it.

        Raises:
            Exception: what the server answered.
        """
        if order.deed in _DEEDS and not isinstance(self._places, RefusesWrites):
            raise ServerError("this kind of server fails no writes")
        if order.deed in (Deed.RESTART, Deed.READY) and not self.killable:
            raise ServerError("only a private server is killed, with places that outlive that")
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
        """Whether the server may be killed, and can be used again."""
        return self._server is not None and isinstance(self._places, OutlivesServers)

    def _done(self, order: Order, name: str) -> Any:
        if order.deed is Deed.END_SESSIONS:
            return self._places.end_sessions(name)
        if order.deed is Deed.RESTART:
            assert self._server is not None
            self._server.kill()
            # Who asked goes on meanwhile; this is the next thing that is done here.
            self._asked.appendleft(self._start_again)
            return None
        if order.deed is Deed.READY:
            if self._not_started is not None:
                raise self._not_started
            return None
        return _DEEDS[order.deed](self._places, name, order)

    def _start_again(self) -> None:
        assert self._server is not None
        assert isinstance(self._places, OutlivesServers)
        try:
            self._server.start()
            self._places.reconnect()
            self._not_started = None
        except Exception as error:  # noqa: BLE001 - told to whoever waits for it
            self._not_started = error

    def close(self) -> list[str]:
        """Remove every place; what could not be removed, and why."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._worker.join()
        left = []
        for name in [*self._returned, *self._used, *(name for name, _ in self._ready)]:
            try:
                self._places.drop(name)
            except Exception as error:  # noqa: BLE001 - told to whoever reports the run
                left.append(f"{name}: {_first_line(error)}")
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

    def _make(self) -> None:
        self._count += 1
        name = f"sp_{self._run}_{self._count}"
        try:
            dsn = self._places.make(name)
        except Exception as error:  # noqa: BLE001 - raised to whoever waits for a place
            if isinstance(error, NoPlaceError) and self._returned:
                # What has come back makes room.
                self._drop()
                return
            with self._changed:
                self._trouble = ServerError(f"{self._name}: {_first_line(error)}")
                self._changed.notify_all()
            return
        with self._changed:
            self._ready.append((name, dsn))
            self._changed.notify_all()

    def _drop(self) -> None:
        name = self._returned[0]
        try:
            self._places.drop(name)
        except Exception:  # noqa: BLE001 - tried again at the end, and reported then
            with self._changed:
                self._used.add(name)
        with self._changed:
            self._returned.popleft()


# What those do that fail writes.
_DEEDS: Mapping[Deed, Callable[[Any, str, Order], Any]] = {
    Deed.WATCH: lambda places, name, _: places.watch_writes(name),
    Deed.WRITTEN: lambda places, name, _: places.written(name),
    Deed.FAIL: lambda places, name, order: places.fail_write(name, order.number, order.how),
    Deed.HAS_FAILED: lambda places, name, _: places.has_failed(name),
}


@contextmanager
def _listening(path: Path, stock: _Stock) -> Iterator[str]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(64)

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    threading.Thread(target=_lease, args=(connection, stock), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield str(path)
        finally:
            # Closing alone would leave the other thread waiting.
            listener.shutdown(socket.SHUT_RDWR)


def _lease(connection: socket.socket, stock: _Stock) -> None:
    """Give a place to whoever is at the other end, and take it back when they are gone."""
    with connection, connection.makefile("rw", encoding="utf-8") as talk:

        def answer(fields: dict[str, Any]) -> None:
            talk.write(json.dumps(fields) + "\n")
            talk.flush()

        try:
            wanted = Wanted(**json.loads(talk.readline()))
            name, dsn = _place(wanted, stock)
        except Exception as error:  # noqa: BLE001 - told to whoever asked
            with suppress(OSError):
                answer({"refused": _first_line(error)})
            return
        try:
            with suppress(OSError, ValueError):
                answer({"name": name, "dsn": dsn})
                for line in talk:
                    order = Order.from_json(json.loads(line))
                    answer(_outcome(stock, order, name))
        finally:
            if wanted == Wanted():
                stock.give_back(name)


def _place(wanted: Wanted, stock: _Stock) -> tuple[str, str]:
    if wanted.name is not None:
        return wanted.name, ""
    return stock.take() if wanted.label is None else stock.labelled(wanted.label)


def _outcome(stock: _Stock, order: Order, name: str) -> dict[str, Any]:
    try:
        return {"done": stock.do(order, name)}
    except Exception as error:  # noqa: BLE001 - told to whoever asked
        return {"refused": _first_line(error)}


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[0]


if __name__ == "__main__":
    main()
