"""Waiting for the end of processes that are not our children."""

import os
import select


def has_ended(pid: int, *, patience_s: float) -> bool:
    """Whether a process ends in time, be it buried by then or not."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        ready, _, _ = select.select([descriptor], [], [], patience_s)
    finally:
        os.close(descriptor)
    return bool(ready)
