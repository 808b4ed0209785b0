"""langgraph-checkpoint-surrealdb: SurrealDB, embedded."""

import contextlib
from collections.abc import Iterator
from typing import Any

from targets import on_path


@on_path("surreal")
@contextlib.contextmanager
def surreal(path: str) -> "Iterator[Any]":
    from langgraph_checkpoint_surrealdb import SurrealSaver
    from surrealdb import Surreal

    url = "file://" + path + "/db"
    database = Surreal(url)  # embedded, it has no user at first; the saver signs in
    database.query("DEFINE USER IF NOT EXISTS root ON ROOT PASSWORD 'root' ROLES OWNER")
    database.close()
    saver = SurrealSaver(url, "test", "test", "root", "root")
    saver.setup()
    yield saver
