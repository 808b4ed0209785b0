"""A keeper seen from those who need a server: started once a run, asked for places by many."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from saverproof_faults.servers import keeper
from saverproof_faults.servers.kinds import ServerKind, Way
from saverproof_faults.servers.orders import Deed, Order, Wanted
from saverproof_faults.servers.reference import text_of
from saverproof_faults.servers.server import ServerError, ServerUnavailable

KEEPERS = "SAVERPROOF_KEEPERS"
"""The environment variable that tells child processes where the keepers of a run listen."""
_ENDS_WITHIN_S = 60.0
_SOURCE = "import sys; sys.path[:] = {path!r}; from {module} import main; main()"


@dataclass(frozen=True, slots=True)
class Need:
    """A kind of server that somebody needs, as plain data: it can be handed on by a process that
    must not import what defines it.
    """

    key: str
    """The kind, as text (see ``text_of``)."""
    path: tuple[str, ...]
    """Where it can be imported from."""
    title: str
    schemes: tuple[str, ...]
    variable: str

    @classmethod
    def of(cls, kind: ServerKind) -> Self:
        """The need for a server of this kind.

        Raises:
            ServerUnavailable: another process cannot be told of it.
        """
        path = tuple(os.path.abspath(entry) for entry in sys.path if entry)
        return cls(text_of(kind), path, kind.title, tuple(kind.schemes), kind.variable)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """What ``asdict`` gave."""
        rows = {"path": tuple(data["path"]), "schemes": tuple(data["schemes"])}
        return cls(**{**data, **rows})


@dataclass(frozen=True, slots=True)
class Kept:
    """A server that a keeper looks after."""

    address: str
    version: str
    killable: bool
    """Whether it may be killed: it is private, and its places outlive that."""


class Keeper:
    """A keeper for a need. Entering starts it; leaving, or our death, has it remove all.

    ``ahead`` says that it makes places before they are asked for, ``proxied`` that a private server
    is reached through a proxy. Raises ServerUnavailable if
    there is no such server, with one line.
    """

    def __init__(
        self,
        need: Need,
        dsn: str | None = None,
        scratch: Path | None = None,
        *,
        ahead: bool = False,
        proxied: bool = False,
    ) -> None:
        self._order = {
            "kind": need.key,
            "path": [*need.path, *(os.path.abspath(entry or os.getcwd()) for entry in sys.path)],
            "dsn": dsn,
            "scratch": None if scratch is None else str(scratch),
            "ahead": ahead,
            "proxied": proxied,
        }
        self.left: tuple[str, ...] = ()
        """After the end: what could not be removed, a line each."""

    def __enter__(self) -> Self:
        path = [os.path.abspath(entry or os.getcwd()) for entry in sys.path]
        source = _SOURCE.format(path=path, module=keeper.__name__)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", source],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Ctrl-C is for those who use it: it ends when they do.
            start_new_session=True,
        )
        try:
            self.kept = self._begun()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._end()

    def _begun(self) -> Kept:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # Not on the command line, which everybody can read.
        self._process.stdin.write(json.dumps(self._order) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline() or "{}")
        if "refused" in answer:
            raise ServerUnavailable(answer["refused"])
        if not answer:
            _, said = self._process.communicate()
            raise ServerUnavailable(f"its keeper died: {(said.strip().splitlines() or ['?'])[-1]}")
        return Kept(**answer)

    def _end(self) -> None:
        try:
            said, _ = self._process.communicate(timeout=_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            # Its guard removes the server.
            self._process.kill()
            self._process.communicate()
            self.left = ("its keeper did not end in time",)
            return
        for line in said.splitlines():
            self.left = tuple(json.loads(line).get("left", ()))


def announced() -> dict[str, Kept]:
    """The keepers that this process was told of, by the key of the need."""
    found = json.loads(os.environ.get(KEEPERS, "{}"))
    return {key: Kept(**kept) for key, kept in found.items()}


def announce(keepers: Mapping[str, Kept]) -> None:
    """Tell this process, and those that it starts from now on, of these keepers."""
    os.environ[KEEPERS] = json.dumps({key: asdict(kept) for key, kept in keepers.items()})


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

    def __init__(self, address: str, wanted: Wanted = Wanted()) -> None:  # noqa: B008 - frozen
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


@contextmanager
def serving(kind: ServerKind, *, proxied: bool = False) -> Iterator[Kept]:
    """The server of this run, else one for this block and the processes that are started in it.

    That one is at the DSN in the environment variable of the kind, or a private one; ``proxied``
    asks for one of the block's own, which is behind a proxy if it is private.

    Raises:
        ServerUnavailable: there is none, and none can be started.
    """
    need = Need.of(kind)
    before = announced()
    if need.key in before and not proxied:
        yield before[need.key]
        return
    with _announced(need, os.environ.get(need.variable), None, proxied=proxied) as kept:
        yield kept


@contextmanager
def serving_apart(
    kind: ServerKind, scratch: Path | None = None, *, proxied: bool = False
) -> Iterator[Kept]:
    """Another private server, inside of ``serving``, for a block and the processes that are started
    in it: one that may be killed, and behind a proxy replaced by another.

    Raises:
        ServerUnavailable: the one that is there is somebody's, or cannot be killed.
    """
    need = Need.of(kind)
    if not announced()[need.key].killable:
        raise ServerUnavailable("only a private server is killed, with places that outlive that")
    with _announced(need, None, scratch, proxied=proxied) as kept:
        yield kept


@contextmanager
def _announced(
    need: Need, dsn: str | None, scratch: Path | None, *, proxied: bool = False
) -> Iterator[Kept]:
    before = announced()
    with Keeper(need, dsn, scratch, proxied=proxied) as keeper:
        announce({**before, need.key: keeper.kept})
        try:
            yield keeper.kept
        finally:
            announce(before)


@contextmanager
def place(kind: ServerKind) -> Iterator[Lease]:
    """An empty place in a server (see ``serving``), removed afterwards.

    Raises:
        ServerUnavailable: there is no server, and none can be started.
        ServerError: the server makes no place.
    """
    with serving(kind) as kept, closing(Lease(kept.address)) as lease:
        yield lease


def dsn_for(kind: ServerKind, label: str | os.PathLike[str]) -> str:
    """The DSN of a place that is the same for the same label, inside of ``serving``.

    Raises:
        ServerError: no such server is there, or it makes no place.
    """
    kept = announced().get(Need.of(kind).key)
    if kept is None:
        raise ServerError(f"no {kind.title} is there: expected to be called inside serving()")
    with closing(Lease(kept.address, Wanted(label=os.fspath(label)))) as lease:
        return lease.dsn
