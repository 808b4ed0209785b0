"""The bundled saver in each form in which it can be opened."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from saverproof_savers import JsonFirstSerializer, SqliteSaver, TableNames


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints.db"


@pytest.fixture
def saver(path: Path) -> Iterator[SqliteSaver]:
    with SqliteSaver.open(path) as opened:
        yield opened


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
