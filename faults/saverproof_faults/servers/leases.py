"""A place in a server, seen from those who work in it; its keeper is asked over a socket."""

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
    """How a server can be made to fail at its writes (see ``RefusesWrites``)."""

    ways: tuple[Way, ...] = ()
    for_all: bool = False


class Lease:
    """A place in a server, removed when the lease is closed, or this process dies.

    ``wanted`` may be a place that others share, while its keeper lives, or one that somebody else
    has leased: it is not removed then.
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
        """Have the server end all sessions in the place, as an administrator does.

        Raises:
            ServerError: it could not be told to.
        """
        self._ask(asdict(Order(Deed.END_SESSIONS)))

    def restart(self) -> None:
        """Kill the server, with all that it does for anybody, and start it again.

        Raises:
            ServerError: it is not ours, or does not start.
        """
        self._ask(asdict(Order(Deed.RESTART)))
        self.wait_until_ready()

    def fail_over(self) -> None:
        """Kill the server, and have another one with its data answer at its address.

        Raises:
            ServerError: it is not ours, does not start, or is not behind a proxy.
        """
        self._ask(asdict(Order(Deed.FAIL_OVER)))
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Wait until a server that was killed has started again. Raises ServerError."""
        self._ask(asdict(Order(Deed.READY)))

    def freeze(self) -> None:
        """Have the server stand still. Raises ServerError: it is not ours, or cannot."""
        self._ask(asdict(Order(Deed.FREEZE)))

    def thaw(self) -> None:
        """Let it go on, and wait until it has caught up; one that does not stand still is left
        alone.

        Raises:
            ServerError: it never comes to rest.
        """
        self._ask(asdict(Order(Deed.THAW)))

    def watch_writes(self) -> Ways:
        """Count the rows that are written from now on (see ``RefusesWrites``); how they can fail.

        Raises:
            ServerError: this server cannot, or somebody keeps a table locked.
        """
        found = self._ask(asdict(Order(Deed.WATCH)))["done"]
        return Ways(tuple(map(Way, found["ways"])), found["for_all"])

    def written(self) -> list[str]:
        """What was written since. Raises ServerError."""
        found: list[str] = self._ask(asdict(Order(Deed.WRITTEN)))["done"]
        return found

    def fail_write(self, number: int, how: str, what: str = "") -> None:
        """Have the server fail at a row from now on. Raises ServerError."""
        self._ask(asdict(Order(Deed.FAIL, number, how, what)))

    def has_failed(self) -> bool:
        """Whether it has. Raises ServerError."""
        return bool(self._ask(asdict(Order(Deed.HAS_FAILED)))["done"])

    def close(self) -> None:
        """Give it back, and wait until it has been taken back. Closing twice is fine."""
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
