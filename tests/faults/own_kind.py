"""A kind of server of somebody's own, with a single place: a file that says what is going on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from saverproof_faults.servers import NoPlaceError, Places, ServerKind


@dataclass(frozen=True)
class OnePlace(ServerKind):
    title = "one place"
    schemes = ("one",)
    variable = "SAVERPROOF_TEST_ONE_DSN"

    @contextmanager
    def places(self, dsn: str) -> Iterator[Places]:
        yield Place(Path(dsn.removeprefix("one://")))


class Place:
    version = "1"
    ahead = 1

    def __init__(self, file: Path) -> None:
        self._file = file

    def make(self, name: str) -> str:
        if self._file.exists():
            raise NoPlaceError("it is in use")
        self._file.write_text(name)
        return f"one://{self._file}"

    def drop(self, name: str) -> None:
        assert self._file.read_text() == name
        self._file.unlink()

    def end_sessions(self, name: str) -> None:
        raise NotImplementedError
