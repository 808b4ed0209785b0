"""Ready targets for the kit: the bundled savers, and the official ones.

This is the one package of savers that imports the kit. The ``opening`` of each target is source
text for a reproducer that needs nothing of the kit. It consists of import lines and, as its last
line, an expression for ``with ... as saver:`` (``async with`` for the async saver). In it ``path``
is the workspace's folder as text, and ``dsn`` its place in a server.

Each function imports its saver when it opens it: to find one target is not to import all savers,
most of whose distributions are optional.
"""

import contextlib
import sqlite3
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

from saverproof import Capability, Workspace, target

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

_FILE = "checkpoints.db"
_KEY = b"a key of sixteen"


def _integrity(workspace: Workspace) -> list[str]:
    """Return the damage that SQLite itself finds in the database."""
    connection = sqlite3.connect(workspace.path / _FILE)
    try:
        found = [str(line) for (line,) in connection.execute("PRAGMA integrity_check")]
    finally:
        connection.close()
    return [] if found == ["ok"] else found


@target(
    name="sqlite",
    check=_integrity,
    opening="""\
from saverproof_savers import SqliteSaver
SqliteSaver.open(path + "/checkpoints.db")""",
)
@contextlib.contextmanager
def sqlite(workspace: Workspace) -> "Iterator[BaseCheckpointSaver[Any]]":
    """Open the bundled saver on a file of its own."""
    from saverproof_savers import SqliteSaver

    with SqliteSaver.open(workspace.path / _FILE) as saver:
        yield saver


@target(
    name="sqlite-connection",
    check=_integrity,
    opening="""\
import sqlite3
from contextlib import nullcontext
from saverproof_savers import SqliteSaver
nullcontext(SqliteSaver(sqlite3.connect(path + "/checkpoints.db", check_same_thread=False)))""",
)
@contextlib.contextmanager
def sqlite_connection(workspace: Workspace) -> "Iterator[BaseCheckpointSaver[Any]]":
    """Open the bundled saver on another owner's connection, with SQLite's own settings."""
    from saverproof_savers import SqliteSaver

    path = workspace.path / _FILE
    # The owner of the connection answers for the file: SQLite itself would let everybody read it.
    path.touch(0o600)
    connection = sqlite3.connect(path, check_same_thread=False)
    with contextlib.closing(connection):
        saver = SqliteSaver(connection)
        try:
            yield saver
        finally:
            saver.close()


@target(
    name="sqlite-named-tables",
    check=_integrity,
    opening="""\
from saverproof_savers import SqliteSaver, TableNames
SqliteSaver.open(path + "/checkpoints.db", tables=TableNames.prefixed("langgraph_"))""",
)
@contextlib.contextmanager
def sqlite_named_tables(workspace: Workspace) -> "Iterator[BaseCheckpointSaver[Any]]":
    """Open the bundled saver with tables named langgraph_checkpoints and so on."""
    from saverproof_savers import SqliteSaver, TableNames

    tables = TableNames.prefixed("langgraph_")
    with SqliteSaver.open(workspace.path / _FILE, tables=tables) as saver:
        yield saver


@target(
    name="sqlite-json",
    check=_integrity,
    opening="""\
from saverproof_savers import JsonFirstSerializer, SqliteSaver
SqliteSaver.open(path + "/checkpoints.db", serde=JsonFirstSerializer())""",
)
@contextlib.contextmanager
def sqlite_json(workspace: Workspace) -> "Iterator[BaseCheckpointSaver[Any]]":
    """Open the bundled saver with the serializer that prefers JSON."""
    from saverproof_savers import JsonFirstSerializer, SqliteSaver

    with SqliteSaver.open(workspace.path / _FILE, serde=JsonFirstSerializer()) as saver:
        yield saver


@target(
    name="sqlite-encrypted",
    check=_integrity,
    opening="""\
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from saverproof_savers import SqliteSaver
SqliteSaver.open(path + "/checkpoints.db", serde=EncryptedSerializer.from_pycryptodome_aes(key=b"a key of sixteen"))""",  # noqa: E501
)
@contextlib.contextmanager
def sqlite_encrypted(workspace: Workspace) -> "Iterator[BaseCheckpointSaver[Any]]":
    """Open the bundled saver with LangGraph's encryption, which needs pycryptodome."""
    from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

    from saverproof_savers import SqliteSaver

    serde = EncryptedSerializer.from_pycryptodome_aes(key=_KEY)
    with SqliteSaver.open(workspace.path / _FILE, serde=serde) as saver:
        yield saver


@target(
    name="memory",
    durable=False,
    opening="""\
from contextlib import nullcontext
from langgraph.checkpoint.memory import InMemorySaver
nullcontext(InMemorySaver())""",
)
@contextlib.contextmanager
def memory(workspace: Workspace) -> "Iterator[BaseCheckpointSaver[Any]]":
    """Open LangGraph's own saver in memory."""
    from langgraph.checkpoint.memory import InMemorySaver

    yield InMemorySaver()


@target(
    name="langgraph-sqlite",
    check=_integrity,
    opening="""\
from langgraph.checkpoint.sqlite import SqliteSaver
SqliteSaver.from_conn_string(path + "/checkpoints.db")""",
)
@contextlib.contextmanager
def langgraph_sqlite(workspace: Workspace) -> "Iterator[BaseCheckpointSaver[Any]]":
    """Open the official SQLite saver for the sync API."""
    from langgraph.checkpoint.sqlite import SqliteSaver

    with SqliteSaver.from_conn_string(str(workspace.path / _FILE)) as saver:
        yield saver


@target(
    name="langgraph-sqlite-async",
    check=_integrity,
    opening="""\
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
AsyncSqliteSaver.from_conn_string(path + "/checkpoints.db")""",
)
@contextlib.asynccontextmanager
async def langgraph_sqlite_async(
    workspace: Workspace,
) -> "AsyncIterator[BaseCheckpointSaver[Any]]":
    """Open the official SQLite saver for the async API."""
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    async with AsyncSqliteSaver.from_conn_string(str(workspace.path / _FILE)) as saver:
        yield saver


@target(
    name="sqlite-snapshot",
    capabilities={
        Capability.LARGE: "each write stores the whole state again",
        Capability.SEPARATE_RECORDS: "the whole state is one row",
    },
    check=_integrity,
    opening="""\
from saverproof_savers import SnapshotSqliteSaver
SnapshotSqliteSaver(path + "/checkpoints.db")""",
)
@contextlib.contextmanager
def sqlite_snapshot(workspace: Workspace) -> "Iterator[BaseCheckpointSaver[Any]]":
    """Open the bundled saver whose whole state is one row."""
    from saverproof_savers import SnapshotSqliteSaver

    with SnapshotSqliteSaver(workspace.path / _FILE) as saver:
        yield saver
