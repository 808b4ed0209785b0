"""The process that looks after a server for a run: it starts the server, makes places, removes all.

A keeper reads one line from its standard input: the kind of server as text, the DSN to use or null,
where private servers keep their data, whether to keep empty places ready, and whether a private
server is reached through a proxy. It answers with one line: where it listens, or why it cannot.
When its standard input ends, for whatever reason, it drops every place, ends the server, and ends
itself.

Each connection to its socket is one lease. It gets a place of its own, which is taken back when the
connection is closed, for whatever reason. A connection that begins with a label gets the place that
all with this label share, until the end of the run. A connection that begins with the name of a
place only gives orders about that place.
"""

from __future__ import annotations

import json
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from saverproof_faults.servers.keeper_protocol import Order, WantedPlace
from saverproof_faults.servers.kinds import Moves, through, where
from saverproof_faults.servers.pool import Pool, first_line
from saverproof_faults.servers.proxy import TcpProxy
from saverproof_faults.servers.reaper import end_with_standard_input
from saverproof_faults.servers.reference import kind_of
from saverproof_faults.servers.server import ServerError, ServerUnavailable

_LONGEST_PATH = 90
"""Characters of a socket's path: the kernel takes at most 103 (macOS) or 107 (Linux)."""


def main() -> None:
    """Run the keeper until standard input ends."""
    end_with_standard_input()
    order = json.loads(sys.stdin.readline())
    sys.path[:] = order["path"]
    scratch = None if order["scratch"] is None else Path(order["scratch"])
    with ExitStack() as stack:
        try:
            kind = kind_of(order["kind"])
            given: str | None = order["dsn"]
            server = stack.enter_context(kind.private(scratch)) if given is None else None
            dsn = server.url if server is not None else str(given)
            proxy = None
            if order["proxied"] and isinstance(server, Moves):
                proxy = stack.enter_context(TcpProxy(server.port))
                dsn = through(dsn, proxy.port)
            at = kind.places(dsn) if server is None else kind.places_in(server, dsn)
            places = stack.enter_context(at)
        except (ServerUnavailable, ServerError) as reason:
            _say({"refused": str(reason)})
            return
        except Exception as error:  # noqa: BLE001 - an author's kind; whoever asked is told
            _say({"refused": f"{type(error).__name__}: {error}"})
            return
        ahead = places.ahead if order["ahead"] else 0
        pool = Pool(places, server, f"{kind.title} at {where(dsn)}", ahead, proxy)
        folder = Path(stack.enter_context(_short_folder()))
        with _listening(folder / "leases", pool) as address:
            _say({"address": address, "version": places.version, "killable": pool.killable})
            sys.stdin.read()
        _say({"left": pool.close()})


def _say(answer: dict[str, Any]) -> None:
    # The process that started the keeper may be gone.
    with suppress(BrokenPipeError):
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _short_folder() -> tempfile.TemporaryDirectory[str]:
    """Make a private folder whose path is short enough for a socket in it."""
    usual = tempfile.gettempdir()
    return tempfile.TemporaryDirectory(
        prefix="saverproof-keeper-", dir=usual if len(usual) < _LONGEST_PATH - 30 else "/tmp"
    )


@contextmanager
def _listening(path: Path, pool: Pool) -> Iterator[str]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(64)

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    threading.Thread(target=_lease, args=(connection, pool), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield str(path)
        finally:
            # Closing the socket alone would leave the accepting thread waiting.
            listener.shutdown(socket.SHUT_RDWR)


def _lease(connection: socket.socket, pool: Pool) -> None:
    """Serve one connection: give it a place, and take the place back at its end."""
    with connection, connection.makefile("rw", encoding="utf-8") as talk:

        def answer(fields: dict[str, Any]) -> None:
            talk.write(json.dumps(fields) + "\n")
            talk.flush()

        try:
            wanted = WantedPlace(**json.loads(talk.readline()))
            name, dsn = _place(wanted, pool)
        except Exception as error:  # noqa: BLE001 - told to whoever asked
            with suppress(OSError):
                answer({"refused": first_line(error)})
            return
        try:
            with suppress(OSError, ValueError):
                answer({"name": name, "dsn": dsn})
                for line in talk:
                    order = Order.from_json(json.loads(line))
                    answer(_outcome(pool, order, name))
        finally:
            if wanted == WantedPlace():
                pool.give_back(name)


def _place(wanted: WantedPlace, pool: Pool) -> tuple[str, str]:
    if wanted.name is not None:
        return wanted.name, ""
    return pool.take() if wanted.label is None else pool.labelled(wanted.label)


def _outcome(pool: Pool, order: Order, name: str) -> dict[str, Any]:
    try:
        return {"done": pool.do(order, name)}
    except Exception as error:  # noqa: BLE001 - told to whoever asked
        return {"refused": first_line(error)}


if __name__ == "__main__":
    main()
