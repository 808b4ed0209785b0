"""The bundled saver in each form in which it can be opened."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from saverproof_savers import JsonFirstSerializer, SqliteSaver, TableNames, files
from tests.savers.faulty import Plan, faulty_connections


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints.db"


@pytest.fixture
def saver(path: Path) -> Iterator[SqliteSaver]:
    with SqliteSaver.open(path) as opened:
        yield opened


@pytest.fixture
def plan(monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Which statement fails of the savers that are opened from now on."""
    made = Plan()
    opened = partial(sqlite3.connect, factory=faulty_connections(made))
    monkeypatch.setattr(files.sqlite3, "connect", opened)
    return made


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[sqlite3.Connection]:
    """The open connections of the savers that are opened from now on, the oldest first."""
    found: list[sqlite3.Connection] = []

    class Noted(sqlite3.Connection):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            found.append(self)

        def close(self) -> None:
            found.remove(self)
            super().close()

    monkeypatch.setattr(files.sqlite3, "connect", partial(sqlite3.connect, factory=Noted))
    return found


@pytest.fixture(params=["file", "memory", "connection", "named", "json", "encrypted"])
def any_saver(request: pytest.FixtureRequest, path: Path) -> Iterator[SqliteSaver]:
    if request.param == "connection":
        with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
            connection.row_factory = sqlite3.Row
            yield SqliteSaver(connection)
        return
    serdes = {
        "json": JsonFirstSerializer(),
        "encrypted": EncryptedSerializer.from_pycryptodome_aes(key=b"sixteen bytes!!!"),
    }
    tables = TableNames.prefixed("langgraph_") if request.param == "named" else None
    where = ":memory:" if request.param == "memory" else path
    with SqliteSaver.open(where, serde=serdes.get(request.param), tables=tables) as opened:
        yield opened
