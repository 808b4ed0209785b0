"""An invariant of one's own: what another table says is true after every step."""

from contextlib import contextmanager

from langgraph.checkpoint.sqlite import SqliteSaver

from saverproof import SaverMachine, Workspace, invariant, target


class IndexedSaver(SqliteSaver):
    """Keeps the names of its threads, for a user interface."""

    def setup(self):
        super().setup()
        self.conn.execute("CREATE TABLE IF NOT EXISTS threads (name TEXT PRIMARY KEY)")

    def put(self, config, checkpoint, metadata, new_versions):
        answer = super().put(config, checkpoint, metadata, new_versions)
        name = config["configurable"]["thread_id"]
        self.conn.execute("INSERT OR IGNORE INTO threads VALUES (?)", (name,))
        self.conn.commit()
        return answer

    def thread_names(self):
        return {name for (name,) in self.conn.execute("SELECT name FROM threads")}


@target(name="indexed")
@contextmanager
def indexed(workspace: Workspace):
    with IndexedSaver.from_conn_string(str(workspace.path / "checkpoints.db")) as saver:
        saver.setup()
        yield saver


class Indexed(SaverMachine):
    target = indexed
    # Beside its own promise: SqliteSaver itself breaks others of the kit's.
    contracts = frozenset({"ordering/pages-tile"})

    @invariant
    def names_every_thread(self):
        """The index names the threads that hold checkpoints, and no other."""
        found, expected = self.saver.thread_names(), set(self.model.threads)
        assert found == expected, f"the index names {sorted(found)}, expected {sorted(expected)}"


TestIndexed = Indexed.TestCase
