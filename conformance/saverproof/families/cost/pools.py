"""Finds the pool of connections that a saver keeps, if it has one."""

from __future__ import annotations

import asyncio
import gc
import threading
from types import FunctionType, ModuleType
from typing import Any

_ROOM = ("max_size", "maxsize", "max_connections", "get_max_size", "size")
"""The names under which pools keep the number of their connections: of psycopg, aiomysql and
asyncmy, redis, asyncpg, SQLAlchemy.
"""
_DEEP, _MANY = 6, 20_000
"""How deep the search for a pool goes, and how many objects it looks at: a pool may be behind a
client or an engine.
"""
_ELSEWHERE = (type, ModuleType, FunctionType, asyncio.AbstractEventLoop, threading.Thread)
"""Types that the search does not enter, because they lead to everything in the process."""


def room_of(saver: Any) -> int:
    """Return the room of the largest pool of connections that the saver refers to; 0 if there is
    none.
    """
    seen = {id(saver)}
    now, largest = [saver], 0
    for _ in range(_DEEP):
        found = []
        for one in gc.get_referents(*now):
            if id(one) not in seen and not isinstance(one, _ELSEWHERE) and len(seen) < _MANY:
                seen.add(id(one))
                found.append(one)
        largest = max([largest, *map(_room, found)])
        now = found
    return largest


def _room(thing: Any) -> int:
    """Return how many connections an object has room for; 0 if it is no pool."""
    if not type(thing).__name__.endswith("Pool"):
        return 0
    for name in _ROOM:
        value = getattr(thing, name, None)
        room = value() if callable(value) else value
        if isinstance(room, int):
            return room
    return 0
