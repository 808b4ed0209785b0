"""A keeper seen from those who need a server: started once a run, asked for places by many."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
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

    def __exit__(self, *exc_info: object) -> None:
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
    with closing(Lease(kept.address, WantedPlace(label=os.fspath(label)))) as lease:
        return lease.dsn
