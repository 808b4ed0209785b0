"""A process that uses a server and is itself killed: run by test_places.py.

Arguments: the kind of server, and the file in which to tell where its keeper listens.
"""

import sys
import threading
from pathlib import Path

from saverproof_faults import servers

name, told = sys.argv[1:]
with servers.serving(getattr(servers, name)()) as kept, servers.place(getattr(servers, name)()):
    part = Path(told).with_suffix(".part")
    part.write_text(kept.address)
    part.rename(told)
    threading.Event().wait()
