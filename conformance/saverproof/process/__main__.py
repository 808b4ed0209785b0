"""``python -m saverproof.process``: the judge process, started by ``saverproof.process.client``."""

import sys

from saverproof.process.server import serve

if __name__ == "__main__":
    serve(*(int(argument) for argument in sys.argv[1:]))
