"""``python -m saverproof.savers.targets``: the process in which a target is imported and probed."""

# ruff: noqa: E402

import gc
import sys

# Imported objects stay: collecting garbage meanwhile would double the time of imports.
gc.disable()

from saverproof.process.requests import Handlers
from saverproof.process.server import serve
from saverproof.savers.targets.probe_child import look, need, survey
from saverproof.savers.targets.requests import LOOK, NEED, PROBE


def main(*served: int) -> None:
    """Serve requests on these file descriptors; the last number is the parent's process id."""
    handlers = Handlers()
    handlers.add(NEED, need)
    handlers.add(PROBE, survey)
    handlers.add(LOOK, look)
    serve(handlers, *served)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
