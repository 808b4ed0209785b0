"""A test process that holds a harness and is itself killed: run by test_kill_orphans.py.

Arguments: the scratch folder, the file in which the trial's process tells its number, and how to
end ('wait' for being killed, 'forget' to end in the ordinary way without closing).
"""

import signal
import sys
import threading
from pathlib import Path

from saverproof_faults.kill import Harness

# A shell's background job ignores SIGINT, and so would this process, for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)
scratch, pids, ending = sys.argv[1:]
harness = Harness(imports=["kill_bodies"], scratch=Path(scratch)).__enter__()
with harness.folder() as folder:
    (folder / "left.db").write_bytes(b"something")
    if ending == "forget":
        assert harness.trial("kill_bodies:return_much").value
        raise SystemExit
    run = threading.Thread(
        target=harness.trial, args=("kill_bodies:tell_pids", {"path": pids}), daemon=True
    )
    run.start()
    threading.Event().wait()
