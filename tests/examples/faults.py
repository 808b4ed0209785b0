"""Faults as rules: what raised has left nothing, or all of it."""

from contextlib import contextmanager

from langgraph.checkpoint.base import WRITES_IDX_MAP
from langgraph.checkpoint.sqlite import SqliteSaver

from saverproof import AtomicityMachine, Workspace, target

STORE = """INSERT OR REPLACE INTO writes
(thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""


class EagerSaver(SqliteSaver):
    """Stores the pending writes of a task one by one."""

    def put_writes(self, config, writes, task_id, task_path=""):
        at = config["configurable"]
        for position, (channel, value) in enumerate(writes):
            index = WRITES_IDX_MAP.get(channel, position)
            row = (at["thread_id"], at["checkpoint_ns"], at["checkpoint_id"], task_id, index)
            with self.cursor() as cursor:  # each with a transaction of its own
                cursor.execute(STORE, (*row, channel, *self.serde.dumps_typed(value)))


@target(name="eager")
@contextmanager
def eager(workspace: Workspace):
    with EagerSaver.from_conn_string(str(workspace.path / "checkpoints.db")) as saver:
        saver.setup()
        yield saver


class Eager(AtomicityMachine):
    target = eager
    contracts = frozenset({"atomicity/all-or-nothing"})


TestEager = Eager.TestCase
