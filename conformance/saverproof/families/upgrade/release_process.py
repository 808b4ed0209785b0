"""A client for the process of one release (``release_program``)."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from saverproof.errors import one_line
from saverproof.families.upgrade import release_program
from saverproof.families.upgrade.openings import StoreOpening
from saverproof.process.environment import Setting
from saverproof.savers.workspace import Workspace

_PATIENCE_S = 60.0
"""Seconds to wait for one answer. Drivers wait five seconds for a lock, some ten or thirty."""


def where(opening: StoreOpening, at: Workspace) -> dict[str, Any]:
    """Return how and where a store is opened, as data for the process."""
    return {"opening": opening.to_json(), "path": str(at.path), "dsn": at.dsn}


class ReleaseRaised(Exception):  # noqa: N818 - an answer of the saver, not a mistake
    """The release raised; the text is its exception."""


class ReleaseGone(Exception):  # noqa: N818 - what becomes of a process
    """The process ended, or gave no answer in time."""


class ReleaseProcess:
    """Sends requests to the process of a release. ``release`` names the release in words;
    ``folder`` goes first on the process's path ("": none); ``environment`` are further variables.
    """

    def __init__(
        self, release: str, folder: str, api: str, environment: Mapping[str, str] | None = None
    ) -> None:
        self.release = release
        self.calls = 0
        path = [*([folder] if folder else []), *Setting.current().path]
        descriptor, said = tempfile.mkstemp(prefix="saverproof-")
        os.unlink(said)
        self._said = os.fdopen(descriptor, "w+b")
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(Path(release_program.__file__)), api],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(path),
                "PYTHONHASHSEED": "0",
                **(environment or {}),
            },
        )
        self._unread = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._said):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def open(
        self, name: str, opening: StoreOpening, at: Workspace, serializer: Any | None = None
    ) -> None:
        """Open a store under a name. If a serializer is given as data, use it instead of the
        saver's own.
        """
        self.ask("open", name=name, serializer=serializer, **where(opening, at))

    def close(self, name: str) -> None:
        """Close a store."""
        self.ask("close", name=name)

    def look(self, name: str, questions: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
        """Return what a store shows, question by question."""
        shown: list[dict[str, str]] = self.ask("look", name=name, questions=list(questions))
        return shown

    def ask(self, what: str, **arguments: Any) -> Any:
        """Return the answer to a request.

        Raises:
            ReleaseRaised: the saver raised.
            ReleaseGone: there is no answer.
        """
        self.send(what, **arguments)
        return self.answer()

    def send(self, what: str, **arguments: Any) -> None:
        """Send a request. Its answer is read later."""
        self.calls += 1
        assert self._process.stdin is not None
        line = json.dumps({"do": what, **arguments}) + "\n"
        try:
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
        except OSError:
            raise self._gone() from None

    def answer(self) -> Any:
        """Return the answer to the request that was sent.

        Raises:
            ReleaseRaised: the saver raised.
            ReleaseGone: there is no answer.
        """
        told = json.loads(self._line())
        if "raised" in told:
            raise ReleaseRaised(one_line(told["raised"]))
        return told["answer"]

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._unread:
                if not selector.select(_PATIENCE_S):
                    raise ReleaseGone(f"{self.release}: no answer in {_PATIENCE_S:g} seconds")
                more = os.read(self._process.stdout.fileno(), 1 << 20)
                if not more:
                    raise self._gone()
                self._unread += more
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def _gone(self) -> ReleaseGone:
        status = self._process.wait()
        self._said.seek(0)
        said = self._said.read().decode("utf-8", "replace").strip().splitlines()
        return ReleaseGone(one_line(f"{self.release}: ended with {status}: {' '.join(said[-1:])}"))
