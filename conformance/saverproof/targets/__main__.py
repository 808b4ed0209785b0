"""``python -m saverproof.targets``: the process in which a target is imported and tried out."""

# ruff: noqa: E402

import gc
import sys

# What is imported stays: collecting all the while would make importing take twice as long.
gc.disable()

from saverproof.process.requests import Handlers
from saverproof.process.server import serve
from saverproof.targets.probe_child import look, need, survey
from saverproof.targets.requests import LOOK, NEED, PROBE

if __name__ == "__main__":
    handlers = Handlers()
    handlers.add(NEED, need)
    handlers.add(PROBE, survey)
    handlers.add(LOOK, look)
    serve(handlers, *(int(argument) for argument in sys.argv[1:]))
