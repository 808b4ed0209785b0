"""Measure what an operation costs, in counts that are the same on any machine and under any
load.
"""

import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Self

from saverproof_faults.collecting import HELD_OFF, hold_off
from saverproof_faults.counters import process_io
from saverproof_faults.counters.lines import LineCounter
from saverproof_faults.counters.process_io import ProcessIo
from saverproof_faults.counters.sockets import SocketIo
from saverproof_faults.counters.sqlite_work import SqliteWork
from saverproof_faults.drivers import Driver
from saverproof_faults.injector import Injector
from saverproof_faults.settled import at_rest

_OF_FILES = frozenset({"reads", "writes"})


@dataclass(slots=True)
class Counted:
    """The counts of one block by name, filled when the block ends.

    ``remote`` says whether a driver was called that talks to a server, ``connections`` how many the
    process had over TCP at the beginning.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    remote: bool = False
    connections: int = 0


class Meter:
    """A context manager that counts. Only one can be entered in a process at a time.

    Enter it before the program connects.

        with Meter() as meter:
            store = open_store(path)
            with meter.counting() as counted:
                store.add(rows)
        print(counted.counts)

    ``lines``  of Python (see LineCounter)
    ``memory``  the most bytes that Python held for it at one time
    ``read``, ``written``  bytes of files and connections
    ``reads``, ``writes``  system calls for that (see ProcessIo); not while there are connections
    ``calls``  of known drivers: statements, batches, commits
    ``statements``, ``steps``, ``scanned``, ``sorts``  of SQLite (see SqliteWork)
    """

    def __init__(
        self, drivers: Iterable[Driver] = (), *, without: frozenset[str] = frozenset()
    ) -> None:
        self._injector = Injector(drivers)
        self._lines = LineCounter(without)
        self._io = ProcessIo()
        self._sockets = SocketIo()
        self.unavailable: dict[str, str] = {}
        """Name of a count -> why it cannot be taken here."""
        if (why := process_io.unavailable()) is not None:
            self.unavailable |= dict.fromkeys(("read", "written", "reads", "writes"), why)
        if (why := self._injector.engine_unavailable) is not None:
            self.unavailable |= dict.fromkeys(("statements", "steps", "scanned", "sorts"), why)

    def __enter__(self) -> Self:
        with ExitStack() as entering:
            entering.enter_context(self._injector)
            entering.enter_context(self._lines)
            if "read" not in self.unavailable:
                entering.enter_context(self._io)
            self._exit = entering.pop_all()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._exit.close()

    @contextmanager
    def counting(self) -> Iterator[Counted]:
        """Count what happens within a block."""
        counted = Counted()
        work = SqliteWork()
        # What threads still do for what came before is not counted.
        at_rest()
        if "read" not in self.unavailable:
            self._sockets.begin()
        with self._injector.counting() as passed, ExitStack() as stack:
            if "steps" not in self.unavailable:
                stack.enter_context(self._injector.watch.listening(work))
            stack.enter_context(_collecting_nothing())
            memory = stack.enter_context(_allocating())
            stack.enter_context(self._lines.counting())
            if "read" not in self.unavailable:
                self._io.begin()
            yield counted
            counts: dict[str, int] = {}
            if "read" not in self.unavailable:
                # Written out, because lines of `dataclasses` would be counted.
                moved = self._io.passed()
                counts |= {"read": moved.read, "written": moved.written}
                counts |= {"reads": moved.reads, "writes": moved.writes}
            counts["memory"] = memory()
        if "read" not in self.unavailable:
            sent = self._sockets.passed()
            counts["read"] += sent.read
            counts["written"] += sent.written
            counted.connections = self._sockets.connections
        counts |= {"lines": self._lines.lines, "calls": len(passed.places.calls)}
        if "steps" not in self.unavailable:
            counts |= {
                "statements": work.statements,
                "steps": work.steps,
                "scanned": work.scanned,
                "sorts": work.sorts,
            }
        counted.remote = any(call.remote for call in passed.places.calls)
        if counted.remote or counted.connections:
            # Some clients, such as OpenSSL, read connections as they read files. A connection gives
            # what has arrived by then: how many reads that takes depends on timing.
            counts = {name: count for name, count in counts.items() if name not in _OF_FILES}
        counted.counts = counts


@contextmanager
def _collecting_nothing() -> Iterator[None]:
    """Keep the garbage collector off, because what finalizers do is not the operation's work."""
    hold_off()
    with HELD_OFF:
        yield


@contextmanager
def _allocating() -> Iterator[Callable[[], int]]:
    """Yield a function that returns the most bytes that Python held at one time since the start."""
    begun = not tracemalloc.is_tracing()
    if begun:
        tracemalloc.start()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        yield lambda: tracemalloc.get_traced_memory()[1] - before
    finally:
        if begun:
            tracemalloc.stop()
