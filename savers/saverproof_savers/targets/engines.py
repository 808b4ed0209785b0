"""Ready targets for savers whose database runs in the process: LMDB and DuckDB.

Functions import the savers, whose distributions are optional.
"""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from saverproof import Workspace, target

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

_MAP_SIZE = 1 << 28


@target(
    name="lmdb",
    opening="""\
import contextlib
import lmdb
from langgraph_checkpoint_lmdb.lmdb import LMDBSaver

@contextlib.contextmanager
def opened_lmdb(path):
    with lmdb.open(path, map_size=1 << 28, max_dbs=16) as environment:
        yield LMDBSaver(environment)

opened_lmdb(path)""",
)
@contextlib.contextmanager
def lmdb(workspace: Workspace) -> "Iterator[BaseCheckpointSaver[Any]]":
    """Open the saver of langgraph-checkpoint-lmdb for the sync API."""
    import lmdb
    from langgraph_checkpoint_lmdb.lmdb import LMDBSaver

    with lmdb.open(str(workspace.path), map_size=_MAP_SIZE, max_dbs=16) as environment:
        yield LMDBSaver(environment)


@target(
    name="duckdb",
    opening="""\
import contextlib
from langgraph.checkpoint.duckdb import DuckDBSaver

@contextlib.contextmanager
def opened_duckdb(path):
    with DuckDBSaver.from_conn_string(path + "/checkpoints.duckdb") as saver:
        saver.setup()
        yield saver

opened_duckdb(path)""",
)
@contextlib.contextmanager
def duckdb(workspace: Workspace) -> "Iterator[BaseCheckpointSaver[Any]]":
    """Open the saver of langgraph-checkpoint-duckdb for the sync API.

    It needs langgraph-checkpoint below 3.
    """
    from langgraph.checkpoint.duckdb import DuckDBSaver

    with DuckDBSaver.from_conn_string(str(workspace.path / "checkpoints.duckdb")) as saver:
        saver.setup()
        yield saver
