"""The servers of a run: found or started when a target first needs one, ended with the run."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict
from threading import Lock
from typing import Any, Self

from saverproof.errors import SaverproofError, TargetError, one_line
from saverproof.process.scratch import in_memory
from saverproof_faults.servers.keeper_client import Keeper, KeptServer, Need, announce, announced
from saverproof_faults.servers.server import ServerUnavailable

OPTION = "--saver-dsn"


class Servers:
    """A context manager with one server for each kind that is needed, shared by all processes of a
    run.

    ``dsns`` are those that the user gave. A server is reached at the first of them with a scheme of
    its kind, else at the DSN in the kind's environment variable; else a private server is started.
    Child processes that are started from then on know the server.
    """

    def __init__(self, dsns: Iterable[str] = ()) -> None:
        self._dsns = tuple(dsns)
        self._unused = set(self._dsns)
        self._stack = ExitStack()
        self._keepers: list[tuple[Need, Keeper]] = []
        self._lock = Lock()
        self._before: dict[str, KeptServer] = {}

    def __enter__(self) -> Self:
        self._before = announced()
        return self

    def __exit__(self, *exception: object) -> None:
        self.end()

    def provide(self, need: Need, saver: str) -> KeptServer:
        """Return the server for a need. Start it, or connect to it, at the first call.

        Raises:
            TargetError: there is none; the one-line message says what to install.
        """
        with self._lock:
            there = announced()
            if need.key in there:
                return there[need.key]
            dsn, source = self._dsn_for(need)
            try:
                keeper = self._stack.enter_context(Keeper(need, dsn, in_memory(), ahead=True))
            except ServerUnavailable as reason:
                raise TargetError(
                    f"--saver {saver}: {_advice(need, str(reason), source)}"
                ) from None
            self._keepers.append((need, keeper))
            announce({**there, need.key: keeper.kept})
            return keeper.kept

    def check_all_used(self) -> None:
        """Raise an error if a DSN that the user gave belongs to no server of the run.

        Raises:
            SaverproofError: there is such a DSN.
        """
        for dsn in self._dsns:
            if dsn in self._unused:
                scheme, found, _ = dsn.partition("://")
                if not found:
                    # What was given is not shown: a password may be in it.
                    raise SaverproofError(
                        f"{OPTION}: found no scheme, expected a URL such as "
                        "postgresql://user@127.0.0.1:5432/name"
                    )
                raise SaverproofError(
                    f"{OPTION} {one_line(scheme, 40)}://...: no target of this run takes such a "
                    "server (target(server=...))"
                )

    def end(self) -> list[str]:
        """Remove all that was made in the servers, and end the private ones.

        Return a line for each thing that could not be removed.
        """
        announce(self._before)
        self._stack.close()
        left = [f"{need.title}: {line}" for need, keeper in self._keepers for line in keeper.left]
        self._keepers.clear()
        return left

    def _dsn_for(self, need: Need) -> tuple[str | None, str]:
        for dsn in self._dsns:
            if dsn.partition("://")[0] in need.schemes:
                self._unused.discard(dsn)
                return dsn, OPTION
        return os.environ.get(need.variable) or None, need.variable


def keepers_as_json() -> dict[str, Any]:
    """Return the servers that this process knows, for a child that is already running."""
    return {key: asdict(kept) for key, kept in announced().items()}


def learn(keepers: dict[str, Any]) -> None:
    """Add the servers in the result of ``keepers_as_json`` to those that this process knows."""
    announce({**announced(), **{key: KeptServer(**kept) for key, kept in keepers.items()}})


def _advice(need: Need, reason: str, source: str) -> str:
    if source == OPTION or os.environ.get(need.variable):
        return f"{reason} (from {source})"
    return f"{reason}; install {need.title}, or give {OPTION} or {need.variable}"
