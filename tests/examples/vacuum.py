"""A rule of one's own: an operation that LangGraph does not know."""

from contextlib import contextmanager

from langgraph.checkpoint.sqlite import SqliteSaver

from saverproof import SaverMachine, Workspace, integers, rule, target


class VacuumingSaver(SqliteSaver):
    def vacuum(self, keep):
        """Reclaim space from the pending writes of old tasks."""
        with self.cursor() as cursor:
            cursor.execute("DELETE FROM writes WHERE idx >= ?", (keep,))


@target(name="vacuuming")
@contextmanager
def vacuuming(workspace: Workspace):
    with VacuumingSaver.from_conn_string(str(workspace.path / "checkpoints.db")) as saver:
        saver.setup()
        yield saver


class Vacuuming(SaverMachine):
    target = vacuuming
    # Beside its own promise: SqliteSaver itself breaks others of the kit's.
    contracts = frozenset({"ordering/pages-tile"})

    @rule(keep=integers(1, 8))
    def vacuum(self, keep):
        """Reclaiming space changes nothing that is read."""
        self.saver.vacuum(keep)


TestVacuuming = Vacuuming.TestCase
