"""``python -m saverproof.peer``: the process in which LangGraph's own suite runs."""

import sys

from saverproof.peer.requests import VALIDATE
from saverproof.peer.validating import validated
from saverproof.process.requests import Handlers
from saverproof.process.server import serve


def main(*served: int) -> None:
    """Serve on these descriptors; the last number is the parent's."""
    handlers = Handlers()
    handlers.add(VALIDATE, validated)
    serve(handlers, *served)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
