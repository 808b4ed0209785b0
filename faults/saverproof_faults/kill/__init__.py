"""Kill real processes with SIGKILL, a hundred times a second.

A *zygote* imports what trials need and forks one process per trial. It is started by exec, never
forked from the test process, and opens nothing. The forked process runs a *body*: a function at the
top of a module, which marks its operations in shared memory. The process kills itself at the k-th
place that it reaches (the body has ``Acks.reached`` called at each statement, or at each I/O by
``IoEach``), or the zygote kills it at a random instant. A second function then looks at what is
left, in a second fork or in a fresh interpreter.

    # bodies.py
    def write(acks, arguments):
        connection = sqlite3.connect(arguments["path"])
        ...
        connection.set_trace_callback(acks.reached)
        for number in range(10):
            acks.started(number)
            with connection:
                connection.execute("insert into t values (?)", (number,))
            acks.acknowledged(number)

    def read(arguments):
        connection = sqlite3.connect(arguments["path"])
        return [number for (number,) in connection.execute("select * from t")]

    # the test
    with Harness(imports=["bodies"]) as harness, harness.folder() as folder:
        arguments = {"path": str(folder / "a.db")}
        result = harness.trial(bodies.write, arguments, kill=KillAt.place(7)).require_kill()
        view = harness.look(bodies.read, arguments)
        assert set(result.acknowledged) <= set(view.value)

``together`` runs several writers on one store. A body that hangs is killed after a deadline, and
the result shows its stacks. When the process that holds the harness dies, the zygote and all that
it has made die too, and their folders are removed. If importing leaves threads running or files
open, or if the system has no fork, each process is a fresh interpreter, and ``Harness.reason`` says
why. POSIX only.
"""

from saverproof_faults.kill.acks import Acks
from saverproof_faults.kill.harness import Harness
from saverproof_faults.kill.plan import Body, Json, KillAt, Writer
from saverproof_faults.kill.results import DiedBy, HarnessError, KillMissed, TrialResult, View

__all__ = [
    "Acks",
    "Body",
    "DiedBy",
    "Harness",
    "HarnessError",
    "Json",
    "KillAt",
    "KillMissed",
    "TrialResult",
    "View",
    "Writer",
]
