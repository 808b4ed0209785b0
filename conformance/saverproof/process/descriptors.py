"""Limits and counts the descriptors of a judge process: a saver that closes nothing uses up all
that the process may have.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":
    import resource

_MOST_LEFT = 500
"""The number of descriptors above which a saver is taken to leak them. A judge has about 20, and
pools of connections have dozens; a leak of one a call has thousands after one item.
"""
_MOST_OPEN = 65_536
"""The most descriptors that a process may have. Some containers allow a thousand million, and a
program that a saver starts may go through all that are allowed.
"""
_OPEN = Path("/dev/fd")


def allow_many() -> None:
    """Allow this process many open descriptors, so that a leak is reported before calls fail
    because of it.
    """
    if sys.platform != "win32":
        now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        many = _MOST_OPEN if most == resource.RLIM_INFINITY else min(most, _MOST_OPEN)
        if now != resource.RLIM_INFINITY and now < many:
            with suppress(ValueError, OSError):  # some systems allow less than they say
                resource.setrlimit(resource.RLIMIT_NOFILE, (many, most))


def are_left() -> bool:
    """Return whether so many descriptors are open that the saver seems to leak them."""
    try:
        return len(os.listdir(_OPEN)) > _MOST_LEFT
    except OSError as error:
        return error.errno == errno.EMFILE  # looking takes one, too


def used_up(error: BaseException) -> str:
    """Return an explanation if the error means that no descriptor is left; "" for any other
    error.
    """
    if all(getattr(each, "errno", None) != errno.EMFILE for each in _chain(error)):
        return ""
    return (
        "no descriptor is left: the saver does not close what it opens, or this process may have "
        "too few; --saver-families=resources tells which"
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
