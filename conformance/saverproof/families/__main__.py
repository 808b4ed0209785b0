"""``python -m saverproof.families``: the judge process, started by ``process.client``."""

import sys

from saverproof.families.handlers import HANDLERS
from saverproof.process.server import serve

if __name__ == "__main__":
    serve(HANDLERS, *(int(argument) for argument in sys.argv[1:]))
