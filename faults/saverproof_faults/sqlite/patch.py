"""Replace every name by which ``sqlite3.connect`` is called by a function that intercepts."""

import _sqlite3
import sqlite3
import sys
from collections.abc import Callable
from itertools import repeat
from operator import is_
from sqlite3 import dbapi2
from types import ModuleType
from typing import Any

from saverproof_faults.sqlite import raw
from saverproof_faults.sqlite.proxy import intercepted_connection

FACTORY_POSITION = 5
"""The position of ``factory`` among the arguments of ``sqlite3.connect``."""


def connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
    """Call ``sqlite3.connect`` with an intercepted factory.

    A factory that is not a class is left alone.
    """
    if len(arguments) > FACTORY_POSITION:
        positional = list(arguments)
        positional[FACTORY_POSITION] = _intercepted(positional[FACTORY_POSITION])
        connection: sqlite3.Connection = raw.connect(*positional, **options)
        return connection
    options["factory"] = _intercepted(options.get("factory", sqlite3.Connection))
    intercepted: sqlite3.Connection = raw.connect(*arguments, **options)
    return intercepted


def install() -> Callable[[], None]:
    """Patch, and return a function that undoes it.

    Besides the three modules that define the function, every module that has imported it by name
    (``from sqlite3 import connect``) gets the replacement. Out of reach are copies kept elsewhere,
    such as a default argument, and direct calls of a connection class: the watch counts those
    connections as unproxied.
    """
    places = [
        (module, name)
        for module in _with_the_function()
        for name, value in list(vars(module).items())
        if value is raw.connect
    ]
    for module, name in places:
        setattr(module, name, connect)

    def undo() -> None:
        for module, name in places:
            if getattr(module, name, None) is connect:
                setattr(module, name, raw.connect)

    return undo


def _with_the_function() -> list[ModuleType]:
    """Return the modules that may hold the function under some name."""
    found: list[ModuleType] = [sqlite3, dbapi2, _sqlite3]
    for key, module in list(sys.modules.items()):
        # Some libraries put stand-ins without a real namespace among the modules.
        if key in _APART or not isinstance(module, ModuleType):
            continue
        known, names = _WITHOUT.get(key), len(vars(module))
        if known is not None and known[0] is module and known[1] == names:
            continue
        values = list(vars(module).values())
        # Most have none. In them, no line is executed for each of tens of thousands of names.
        if any(map(is_, values, repeat(raw.connect))):
            found.append(module)
        elif not any(map(is_, values, repeat(connect))):
            _WITHOUT[key] = module, names
    return found


_APART = frozenset({raw.__name__, __name__, *(m.__name__ for m in (sqlite3, dbapi2, _sqlite3))})
_WITHOUT: dict[str, tuple[ModuleType, int]] = {}
"""Modules that do not hold the function, each with the number of names that it had then. A process
that was just forked would need ten times as long as the fork to look through all modules again:
each page of memory with one of their values would be copied.
"""


def _intercepted(factory: Any) -> Any:
    if isinstance(factory, type) and issubclass(factory, sqlite3.Connection):
        return intercepted_connection(factory)
    return factory
