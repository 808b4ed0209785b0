"""Find the symbols of the SQLite library that the standard ``sqlite3`` module uses."""

import sqlite3
import sys
from collections.abc import Callable
from typing import TypeVar

from saverproof_faults.errors import Unavailable

Bound = TypeVar("Bound")


def bind(to: Callable[[str | None], Bound]) -> Bound:
    """Return the result of ``to`` for the first library path at which it succeeds.

    None as a path stands for the running program itself. ``to`` raises OSError or AttributeError if
    the path lacks one of the functions that it needs.

    Raises:
        Unavailable: no path has all of them.
    """
    # A lookup in the extension module also searches the libraries that it was linked with. A
    # statically built Python has no such file; it shows the symbols itself, or not at all.
    extension = getattr(sys.modules.get("_sqlite3"), "__file__", None)
    problems = []
    for path in (extension, None) if extension else (None,):
        try:
            return to(path)
        except (OSError, AttributeError) as problem:
            problems.append(str(problem))
    raise Unavailable(f"the symbols of Python's SQLite are not exported ({problems[0]})")


def check_version(found: bytes) -> None:
    """Raise Unavailable if the symbols belong to a release of SQLite other than the one ``sqlite3``
    uses.
    """
    if found.decode() != sqlite3.sqlite_version:
        raise Unavailable(
            f"the SQLite symbols in sight are of {found.decode()}, Python's sqlite3 uses "
            f"{sqlite3.sqlite_version}"
        )
