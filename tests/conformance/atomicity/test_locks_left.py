"""A lock that a thread holds while it works is not one that a failed call has left."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from saverproof.families.atomicity.programs.random_stores import RandomStores
from saverproof.families.atomicity.trials.bench import FaultBench


class OneFile(RandomStores):
    """Stores of which one file is known."""

    path = ""

    @property
    def databases(self) -> list[str]:
        return [self.path]


@pytest.fixture
def stores(tmp_path: Path) -> Any:
    found = OneFile(cast(FaultBench, None))
    found.path = str(tmp_path / "store.db")
    with closing(sqlite3.connect(found.path)) as connection:
        connection.execute("CREATE TABLE checkpoints (id)")
    return found


def lock(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN IMMEDIATE")
    return connection


def test_a_lock_of_a_thread_that_works_is_waited_for(stores: Any) -> None:
    connection = lock(stores.path)

    def work() -> None:
        until = time.thread_time() + 0.2
        while time.thread_time() < until:
            connection.execute("SELECT count(*) FROM checkpoints").fetchone()
        connection.execute("COMMIT")

    thread = threading.Thread(target=work)
    thread.start()
    assert not stores.write_locked
    thread.join()
    connection.close()


def test_a_lock_that_nobody_works_under_is_left(stores: Any) -> None:
    with closing(lock(stores.path)):
        assert stores.write_locked
    assert not stores.write_locked
