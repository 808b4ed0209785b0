"""The process in which LangGraph's own suite runs: ``python -m saverproof.run.peer``."""

import sys

from saverproof.process.requests import Handlers
from saverproof.process.server import serve
from saverproof.run.peer.requests import VALIDATE
from saverproof.run.peer.validating import validated


def main(*served: int) -> None:
    """Serve requests on the descriptors in the arguments; the last argument is the parent's id."""
    handlers = Handlers()
    handlers.add(VALIDATE, validated)
    serve(handlers, *served)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
