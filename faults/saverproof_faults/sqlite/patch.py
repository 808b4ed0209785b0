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
        for module in _modules()
        # Most have none. In them, no line is executed for each of tens of thousands of names.
        if any(map(is_, list(vars(module).values()), repeat(raw.connect)))
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


def _modules() -> list[ModuleType]:
    own = (raw.__name__, __name__)
    # Some libraries put stand-ins without a real namespace among the modules.
    others = [
        module
        for name, module in list(sys.modules.items())
        if isinstance(module, ModuleType) and name not in own
    ]
    known = {id(module) for module in others}
    return others + [module for module in (sqlite3, dbapi2, _sqlite3) if id(module) not in known]


def _intercepted(factory: Any) -> Any:
    if isinstance(factory, type) and issubclass(factory, sqlite3.Connection):
        return intercepted_connection(factory)
    return factory
