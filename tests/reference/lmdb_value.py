"""A saver that keeps its store as one value of LMDB, each operation one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import lmdb

from tests.reference.one_value import OneValue, SharedDatabase

STATE = b"state"
MAP_SIZE = 1 << 30


class LmdbTransaction:
    """One of LMDB, with the one value that there is."""

    def __init__(self, transaction: Any) -> None:
        self._transaction = transaction

    def read(self) -> bytes | None:
        found: bytes | None = self._transaction.get(STATE)
        return found

    def write(self, data: bytes) -> None:
        self._transaction.put(STATE, data)


class Environment(SharedDatabase):
    """An environment of LMDB."""

    sync = True
    environment: Any

    def connect(self) -> None:
        self.environment = lmdb.open(
            str(self.path), map_size=MAP_SIZE, mode=0o600, subdir=False, sync=self.sync
        )

    def disconnect(self) -> None:
        self.environment.close()

    @contextmanager
    def transaction(self) -> Iterator[LmdbTransaction]:
        self.reopen()
        with self.environment.begin(write=True) as transaction:
            yield LmdbTransaction(transaction)

    def is_dead(self) -> bool:
        """Whether its meta page could not be written."""
        try:
            self.environment.begin().abort()
        except lmdb.PanicError:
            return True
        return False


class LmdbReference(OneValue):
    database_class, file = Environment, "checkpoints.lmdb"
