"""Scripts and functions that do not end. Redis runs one command at a time, so that one which goes
round and round holds up every client, whatever database it is in: all are refused after some
seconds.
"""

from saverproof_faults.servers.redis_connection import RedisConnection, RefusedError

_REFUSED = "BUSY "
_HAS_WRITTEN = "UNKILLABLE "
_TRIES = 1000
"""How often a script is told to end: it does so at one of its next instructions, and the server may
answer before that. Each try takes three answers, together less than a millisecond.
"""


def is_busy(refused: RefusedError) -> bool:
    """Return whether the server refuses everything while it runs a script."""
    return str(refused).startswith(_REFUSED)


def ended(connection: RedisConnection) -> bool:
    """End the script or function that runs, and return whether none is left. The server ends none
    that has written.
    """
    for _ in range(_TRIES):
        for kind in ("SCRIPT", "FUNCTION"):
            try:
                connection.ask(kind, "KILL")
            except RefusedError as refused:
                if str(refused).startswith(_HAS_WRITTEN):
                    return False
        if not _is_running(connection):
            return True
    return False


def _is_running(connection: RedisConnection) -> bool:
    try:
        connection.ask("PING")
    except RefusedError as refused:
        return is_busy(refused)
    return False
