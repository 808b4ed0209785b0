"""The client of a keeper. A keeper is started once a run; many processes ask it for places."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from saverproof_faults.servers import keeper
from saverproof_faults.servers.keeper_protocol import WantedPlace
from saverproof_faults.servers.kinds import ServerKind
from saverproof_faults.servers.leases import Lease
from saverproof_faults.servers.reference import text_of
from saverproof_faults.servers.server import ServerError, ServerUnavailable

KEEPERS = "SAVERPROOF_KEEPERS"
"""The environment variable that tells child processes where the keepers of a run listen."""
_ENDS_WITHIN_S = 60.0
"""Seconds for a keeper to remove everything before it is killed."""
_SOURCE = "import sys; sys.path[:] = {path!r}; from {module} import main; main()"


@dataclass(frozen=True, slots=True)
class Need:
    """A kind of server that is needed, as plain data.

    A process can pass it on without importing the module that defines the kind.
    """

    key: str
    """The kind, as text (see ``text_of``)."""
    path: tuple[str, ...]
    """The sys.path from which the kind can be imported."""
    title: str
    schemes: tuple[str, ...]
    variable: str

    @classmethod
    def of(cls, kind: ServerKind) -> Self:
        """Return the need for a server of this kind.

        Raises:
            ServerUnavailable: the kind cannot be described to another process.
        """
        path = tuple(os.path.abspath(entry) for entry in sys.path if entry)
        return cls(text_of(kind), path, kind.title, tuple(kind.schemes), kind.variable)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Make a need from the result of ``asdict``."""
        rows = {"path": tuple(data["path"]), "schemes": tuple(data["schemes"])}
        return cls(**{**data, **rows})


@dataclass(frozen=True, slots=True)
class KeptServer:
    """A server that a keeper looks after."""

    address: str
    version: str
    killable: bool
    """True if the server may be killed: it is private, and its places survive that."""


class Keeper:
    """A keeper for a need. Entering starts it; leaving makes it remove everything.

    It also removes everything when this process dies. ``ahead`` says that it makes places before
    they are asked for; ``proxied`` says that a private server is reached through a proxy.

    Raises:
        ServerUnavailable: there is no such server; the message is one line.
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
        """After the end, one line for each thing that could not be removed."""

    def __enter__(self) -> Self:
        path = [os.path.abspath(entry or os.getcwd()) for entry in sys.path]
        source = _SOURCE.format(path=path, module=keeper.__name__)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", source],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Ctrl-C is meant for the client; the keeper ends after it.
            start_new_session=True,
        )
        try:
            self.kept = self._begun()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._end()

    def _begun(self) -> KeptServer:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # The order may hold a password: everybody can read a command line, but not this pipe.
        self._process.stdin.write(json.dumps(self._order) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline() or "{}")
        if "refused" in answer:
            raise ServerUnavailable(answer["refused"])
        if not answer:
            _, said = self._process.communicate()
            raise ServerUnavailable(f"its keeper died: {(said.strip().splitlines() or ['?'])[-1]}")
        return KeptServer(**answer)

    def _end(self) -> None:
        try:
            said, _ = self._process.communicate(timeout=_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            # The keeper's reaper removes the server.
            self._process.kill()
            self._process.communicate()
            self.left = ("its keeper did not end in time",)
            return
        for line in said.splitlines():
            self.left = tuple(json.loads(line).get("left", ()))


def announced() -> dict[str, KeptServer]:
    """Return the keepers that this process was told of, by the key of the need."""
    found = json.loads(os.environ.get(KEEPERS, "{}"))
    return {key: KeptServer(**kept) for key, kept in found.items()}


def announce(keepers: Mapping[str, KeptServer]) -> None:
    """Tell this process, and those that it starts from now on, where these keepers listen."""
    os.environ[KEEPERS] = json.dumps({key: asdict(kept) for key, kept in keepers.items()})


@contextmanager
def serving(kind: ServerKind, *, proxied: bool = False) -> Iterator[KeptServer]:
    """Yield the run's server, or a server for this block and the processes started in it.

    The block's server is the one at the DSN in the kind's environment variable, or a private one.
    ``proxied`` asks for a server of the block's own, which is reached through a proxy if it is
    private.

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
) -> Iterator[KeptServer]:
    """Yield another private server for a block and the processes started in it.

    Call it within ``serving``.

    It may be killed. If it is proxied, another server can take its address.

    Raises:
        ServerUnavailable: the server of ``serving`` is not private, or cannot be killed.
    """
    need = Need.of(kind)
    if not announced()[need.key].killable:
        raise ServerUnavailable(
            "only a private server whose places survive its death can be killed"
        )
    with _announced(need, None, scratch, proxied=proxied) as kept:
        yield kept


@contextmanager
def _announced(
    need: Need, dsn: str | None, scratch: Path | None, *, proxied: bool = False
) -> Iterator[KeptServer]:
    before = announced()
    with Keeper(need, dsn, scratch, proxied=proxied) as keeper:
        announce({**before, need.key: keeper.kept})
        try:
            yield keeper.kept
        finally:
            announce(before)


@contextmanager
def place(kind: ServerKind) -> Iterator[Lease]:
    """Yield an empty place in a server (see ``serving``). It is removed afterwards.

    Raises:
        ServerUnavailable: there is no server, and none can be started.
        ServerError: the server makes no place.
    """
    with serving(kind) as kept, closing(Lease(kept.address)) as lease:
        yield lease


def dsn_for(kind: ServerKind, label: str | os.PathLike[str]) -> str:
    """Return the DSN of the place in the server that a label stands for. The place is made, empty,
    when the label is first used.

    Call it within ``serving``.

    Raises:
        ServerError: there is no such server, or it makes no place.
    """
    kept = announced().get(Need.of(kind).key)
    if kept is None:
        raise ServerError(f"no {kind.title} is there: expected to be called inside serving()")
    with closing(Lease(kept.address, WantedPlace(label=os.fspath(label)))) as lease:
        return lease.dsn


def end_sessions(kind: ServerKind, name: str) -> None:
    """End what goes on in a place of the run's server, where a client was given up.

    Call it within ``serving``.
    """
    kept = announced()[Need.of(kind).key]
    # Nothing goes on in a place that is gone.
    with suppress(ServerError), closing(Lease(kept.address, WantedPlace(name=name))) as lease:
        lease.end_sessions()
