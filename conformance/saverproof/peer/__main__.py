"""The process in which LangGraph's own suite runs: ``python -m saverproof.peer``."""

import sys

from saverproof.peer.requests import VALIDATE
from saverproof.peer.validating import validated
from saverproof.process.requests import Handlers
from saverproof.process.server import serve


def main(*served: int) -> None:
    """Serve requests on the descriptors in the arguments; the last argument is the parent's id."""
    handlers = Handlers()
    handlers.add(VALIDATE, validated)
    serve(handlers, *served)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
