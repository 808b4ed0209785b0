"""A place in a server, as its users see it. They ask the place's keeper over a socket."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from saverproof_faults.servers.keeper_protocol import Deed, Order, WantedPlace
from saverproof_faults.servers.kinds import Way
from saverproof_faults.servers.server import ServerError


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways in which a server can be made to fail at its writes (see ``RefusesWrites``)."""

    ways: tuple[Way, ...] = ()
    for_all: bool = False


class Lease:
    """A place in a server. It is removed when the lease is closed, or when this process dies.

    ``wanted`` may name a place that others share, or that another process has leased: closing this
    lease does not remove such a place.
    """

    def __init__(self, address: str, wanted: WantedPlace = WantedPlace()) -> None:  # noqa: B008 - frozen
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(address)
            self._talk = self._socket.makefile("rw", encoding="utf-8")
            answer = self._ask(asdict(wanted))
        except (OSError, ValueError) as error:
            self._socket.close()
            raise ServerError(f"the server's keeper is gone: {error}") from None
        except BaseException:
            self._socket.close()
            raise
        self.name: str = answer["name"]
        self.dsn: str = answer["dsn"]

    def end_sessions(self) -> None:
        """End all sessions in the place, as an administrator does.

        Raises:
            ServerError: the server could not be told.
        """
        self._ask(asdict(Order(Deed.END_SESSIONS)))

    def restart(self) -> None:
        """Kill the server and start it again. All its users are affected.

        Raises:
            ServerError: the server is not private, or does not start.
        """
        self._ask(asdict(Order(Deed.RESTART)))
        self.wait_until_ready()

    def fail_over(self) -> None:
        """Kill the server, and let another one with its data answer at its address.

        Raises:
            ServerError: the server is not private, does not start, or is not behind a proxy.
        """
        self._ask(asdict(Order(Deed.FAIL_OVER)))
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Wait until a server that was killed has started again.

        Raises:
            ServerError: it does not start.
        """
        self._ask(asdict(Order(Deed.READY)))

    def freeze(self) -> None:
        """Stop the server (SIGSTOP).

        Raises:
            ServerError: the server is not private, or cannot be stopped.
        """
        self._ask(asdict(Order(Deed.FREEZE)))

    def thaw(self) -> None:
        """Let a stopped server go on, and wait until it has caught up.

        A running server is left alone.

        Raises:
            ServerError: it never comes to rest.
        """
        self._ask(asdict(Order(Deed.THAW)))

    def watch_writes(self) -> Ways:
        """Begin to count the rows that are written, and return how the server can fail at them.

        Raises:
            ServerError: this server cannot do that, or a table is locked.
        """
        found = self._ask(asdict(Order(Deed.WATCH)))["done"]
        return Ways(tuple(map(Way, found["ways"])), found["for_all"])

    def written(self) -> list[str]:
        """Return what was written since ``watch_writes``.

        Raises:
            ServerError: the server could not be asked.
        """
        found: list[str] = self._ask(asdict(Order(Deed.WRITTEN)))["done"]
        return found

    def fail_write(self, number: int, how: str, what: str = "") -> None:
        """Let the server fail at a write (see ``RefusesWrites.fail_write``).

        Raises:
            ServerError: the server could not be told.
        """
        self._ask(asdict(Order(Deed.FAIL, number, how, what)))

    def has_failed(self) -> bool:
        """Return whether the server has refused the write that ``fail_write`` asked for.

        Raises:
            ServerError: the server could not be asked.
        """
        return bool(self._ask(asdict(Order(Deed.HAS_FAILED)))["done"])

    def close(self) -> None:
        """Give the place back, and wait until the keeper has it. Closing twice does nothing."""
        if self._talk.closed:
            return
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
            self._talk.read()
        self._talk.close()
        self._socket.close()

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        self._talk.write(json.dumps(request) + "\n")
        self._talk.flush()
        answer: dict[str, Any] = json.loads(self._talk.readline())
        if "refused" in answer:
            raise ServerError(f"the server refuses: {answer['refused']}")
        return answer
