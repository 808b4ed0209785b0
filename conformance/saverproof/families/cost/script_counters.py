"""The source of ``counted(ask)`` for each witness: a script's function that returns a count."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import MappingProxyType

from saverproof.families.cost.witnesses import KEPT
from saverproof_faults import KNOWN_DRIVERS, loaded_drivers
from saverproof_faults.counters.sockets import RECEIVED, SENT, TCP_INFO_BYTES

_LINES = """
total, counting = 0, False
def trace(frame, event, argument):
    global total
    total += counting and event in ("call", "line")
    return trace
sys.settrace(trace)
threading.settrace(trace)
def counted(ask):
    global total, counting
    total, counting = 0, True
    ask()
    counting = False
    return total
"""
_MEMORY = """
def counted(ask):
    tracemalloc.start()
    ask()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most
"""
_MOVED = """
def moved():
    amounts = {{"files": int(Path("/proc/self/io").read_text().split()[{place}])}}
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            link = os.readlink(f"/proc/self/fd/{{name}}")
            if link.startswith("socket:"):
                with socket.socket(fileno=os.dup(int(name))) as end:
                    told = end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, {bytes})
                amounts[link], = struct.unpack_from("Q", told, {offset})
    return amounts
def counted(ask):
    before = moved()
    ask()
    return sum(amount - before.get(name, 0) for name, amount in moved().items())
"""
"""/proc/self/io does not count what passes over connections. The kernel is asked about each
connection, so that drivers written in C are counted, too.
"""
_SYSTEM_CALLS = """
def made():
    with open("/proc/self/io", "rb", buffering=0) as told:
        return int(told.read(4_096).split()[{place}])
def counted(ask):
    before = made()
    ask()
    return made() - before - {own}
"""
"""The read of the counter is itself a system call, and is counted at the next read."""
_IN_SQLITE = """
total, connect = 0, sqlite3.connect
def happened(*_):
    global total
    total += 1
def connected(*arguments, **options):
    connection = connect(*arguments, **options)
    connection.{register}
    return connection
sqlite3.connect = sqlite3.dbapi2.connect = connected  # drivers call the one or the other
def counted(ask):
    before = total
    ask()
    return total - before
"""
_CALLS = """
injector = Injector()
injector.__enter__()
def counted(ask):
    return len(injector.count(ask).calls)
"""
_KEPT = """
def kept(path):
    return sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())
"""


KEPT_IN_MEMORY = """
tracemalloc.start()
def held():
    gc.collect()
    return tracemalloc.get_traced_memory()[0]
"""
"""Counts what a saver keeps that has no store outside of its process."""


def loading_drivers() -> list[str]:
    """Return lines that import the drivers which this process has loaded: only calls of loaded
    drivers are counted, and a target may import its driver later.
    """
    loaded = {
        module
        for name in loaded_drivers()
        if name in KNOWN_DRIVERS
        for module in KNOWN_DRIVERS[name].modules
        if module in sys.modules and module != "sqlite3"
    }
    return [f"import {module}" for module in sorted(loaded)]


COUNTERS: Mapping[str, str] = MappingProxyType(
    {
        "lines": _LINES,
        "memory": _MEMORY,
        # /proc/self/io begins with "rchar: 1 wchar: 2 syscr: 3 syscw: 4".
        "read": _MOVED.format(place=1, bytes=TCP_INFO_BYTES, offset=RECEIVED),
        "written": _MOVED.format(place=3, bytes=TCP_INFO_BYTES, offset=SENT),
        "reads": _SYSTEM_CALLS.format(place=5, own=1),
        "writes": _SYSTEM_CALLS.format(place=7, own=0),
        "steps": _IN_SQLITE.format(register="set_progress_handler(happened, 1)"),
        "statements": _IN_SQLITE.format(register="set_trace_callback(happened)"),
        "calls": _CALLS,
        KEPT: _KEPT,
    }
)
