"""The process in which a saver's class is inspected: ``python -m saverproof.run.scaffold``."""

import sys

from saverproof.process.requests import Handlers
from saverproof.process.server import serve
from saverproof.run.scaffold.inspecting import inspect_class
from saverproof.run.scaffold.requests import INSPECT


def main(*served: int) -> None:
    """Serve requests on the descriptors in the arguments; the last argument is the parent's id."""
    handlers = Handlers()
    handlers.add(INSPECT, inspect_class)
    serve(handlers, *served)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
