"""Source text that all faults inside SQLite share: they apply to every open connection."""

from textwrap import dedent, indent


def engine(prepare: str, *, state: str = "", methods: str = "", heal: str = "") -> str:
    """Return the source of a fault that SQLite raises.

    ``prepare`` is what is done to each open connection.
    """
    return _ENGINE.format(
        state=state and f"; {state}",
        methods=indent(dedent(methods).strip(), " " * 4).lstrip() or "pass",
        prepare=indent(dedent(prepare).strip(), " " * 8).lstrip(),
        heal=f"\n        for connection in Fault.connections: {heal}" if heal else "",
    )


_ENGINE = """
import sqlite3

class Fault:
    armed, calls, connections = False, 0, []{state}
    {methods}
    def prepare(connection):
        {prepare}
    def arm():
        Fault.armed = True
        for connection in Fault.connections: Fault.prepare(connection)
    def heal():
        Fault.armed = False{heal}

class Connection(sqlite3.Connection):
    def close(self): Fault.connections.remove(self); super().close()

def connect(*arguments, **options):
    own = dict(check_same_thread=False, factory=Connection)
    Fault.connections.append(plain_connect(*arguments, **{{**options, **own}}))
    if Fault.armed: Fault.prepare(Fault.connections[-1])
    return Fault.connections[-1]
plain_connect = sqlite3.connect
sqlite3.connect = sqlite3.dbapi2.connect = connect
"""
