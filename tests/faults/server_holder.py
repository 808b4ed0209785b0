"""A test process that holds a server and is itself killed: run by test_servers.py.

Arguments: the server's class, the scratch folder, and the file in which to tell its number.
"""

import sys
import threading
from pathlib import Path

from saverproof_faults import servers

name, scratch, told = sys.argv[1:]
with getattr(servers, name)(scratch=Path(scratch)) as server:
    part = Path(told).with_suffix(".part")
    part.write_text(str(server.pid))
    part.rename(told)
    threading.Event().wait()
