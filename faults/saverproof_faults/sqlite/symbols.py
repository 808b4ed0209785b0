"""Where the symbols of the SQLite that the standard ``sqlite3`` module uses are found."""

import sqlite3
import sys
from collections.abc import Callable
from typing import TypeVar

from saverproof_faults.errors import Unavailable

Bound = TypeVar("Bound")


def bind(to: Callable[[str | None], Bound]) -> Bound:
    """What ``to`` makes of the library at a path; None stands for the running program itself.

    ``to`` raises OSError or AttributeError where the path has not all the functions that it needs.
    Raises Unavailable if no path has them.
    """
    # A lookup in the extension module also searches the libraries that it was linked with; a
    # statically built Python has no such file, and shows the symbols itself or not at all.
    extension = getattr(sys.modules.get("_sqlite3"), "__file__", None)
    problems = []
    for path in (extension, None) if extension else (None,):
        try:
            return to(path)
        except (OSError, AttributeError) as problem:
            problems.append(str(problem))
    raise Unavailable(f"the symbols of Python's SQLite are not exported ({problems[0]})")


def check_version(found: bytes) -> None:
    """Raise Unavailable if the symbols are those of another release than ``sqlite3`` uses."""
    if found.decode() != sqlite3.sqlite_version:
        raise Unavailable(
            f"the SQLite symbols in sight are of {found.decode()}, Python's sqlite3 uses "
            f"{sqlite3.sqlite_version}"
        )
