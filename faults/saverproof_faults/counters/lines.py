"""Count the lines of Python that a program executes, in any thread."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

from saverproof_faults.settled import at_rest

Trace = Callable[[FrameType, str, Any], Any]

WAITING = frozenset(
    {
        *("asyncio", "concurrent", "queue", "selectors", "socket", "threading"),
        # It fetches once more if the server has not answered yet.
        "psycopg._pipeline_base",
        # They read an answer in as many pieces as it arrives in.
        *("redis._parsers.socket", "valkey._parsers.socket"),
    }
)
"""Modules, with all below them, in which threads and tasks wait. Their loops depend on timing."""
OWN = frozenset({"saverproof_faults"})


class LineCounter:
    """A context manager that counts lines. Enter it before the program starts threads.

    Each pass through a loop counts, comprehensions included. What happens inside a function written
    in C does not count. The packages in WAITING, this package, and the modules named in ``without``
    are left out, each with all modules below it.
    """

    def __init__(self, without: frozenset[str] = frozenset()) -> None:
        self.lines = 0
        self._without = without
        self._on = False
        self._counted: dict[str, bool] = {}

    def __enter__(self) -> Self:
        # There is no way to reach a thread that runs already.
        self._before = threading.gettrace()
        threading.settrace(self._called)
        return self

    def __exit__(self, *exc_info: object) -> None:
        threading.settrace(self._before)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count ``lines`` from 0, on this thread and on those started since entering.

        The work that other threads still do at the end of the block is waited for, and counted.
        """
        self.lines = 0
        before = sys.gettrace()
        self._on = True
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)
            at_rest()
            self._on = False

    def _called(self, frame: FrameType, event: str, argument: Any) -> Trace | None:
        if not self._on or not self._counts(frame.f_globals.get("__name__", "")):
            return None
        # How often a generator or a coroutine resumes depends on timing, so that does not count.
        # The lines that it runs then do.
        if frame.f_lineno == frame.f_code.co_firstlineno:
            self.lines += 1
        return self._went_on

    def _went_on(self, frame: FrameType, event: str, argument: Any) -> Trace:
        if event == "line":
            self.lines += 1
        return self._went_on

    def _counts(self, module: str) -> bool:
        known = self._counted.get(module)
        if known is None:
            known = not any(
                module == name or module.startswith(f"{name}.")
                for name in WAITING | OWN | self._without
            )
            self._counted[module] = known
        return known
