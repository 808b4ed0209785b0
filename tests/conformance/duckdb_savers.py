"""Savers on DuckDB as targets: importing this costs each trial little."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

from tests.reference.duckdb_value import DuckDatabase, DuckdbReference

from saverproof import Workspace, target
from saverproof.mistakes.reference.store import Shelf, WriteRow


class CommittingBetween(DuckDatabase):
    def commit_and_go_on(self) -> None:
        self.connection.execute("COMMIT")
        self.connection.execute("BEGIN")


class TransactionForEachWrite(DuckdbReference):
    """Commits each write of a batch by itself."""

    database_class = CommittingBetween

    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: Sequence[WriteRow]) -> None:
        for row in rows:
            super()._store_batch(shelf, checkpoint_id, [row])
            self.store_all()
            assert isinstance(self.shared, CommittingBetween)
            self.shared.commit_and_go_on()


@target
@contextmanager
def one_transaction(workspace: Workspace) -> Iterator[DuckdbReference]:
    with closing(DuckdbReference.at(workspace.path)) as saver:
        yield saver


@target
@contextmanager
def one_for_each_write(workspace: Workspace) -> Iterator[DuckdbReference]:
    with closing(TransactionForEachWrite.at(workspace.path)) as saver:
        yield saver
