"""The judge process: ``python -m saverproof.families``, started by ``process.client``."""

# ruff: noqa: E402

import gc
import sys

# What is imported stays: collecting all the while would make importing take twice as long.
gc.disable()

from saverproof.families.concurrency import children as concurrency
from saverproof.families.durability import children as durability
from saverproof.families.handlers import HANDLERS
from saverproof.families.trial_processes import keep_harness
from saverproof.process.server import serve


def main(*served: int) -> None:
    """Serve requests on the descriptors in the arguments; the last argument is the parent's id."""
    keep_harness((*concurrency.CHILDREN, *durability.CHILDREN))
    serve(HANDLERS, *served)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
