"""Show how far a run has got: a live line on a terminal, or a line now and then in a log.

Items run in this process or in xdist workers. Both write their figures to a folder of the run, and
the process that owns the terminal shows them.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from saverproof.process.scratch import scratch_folder
from saverproof.run.plugin.run import Run
from saverproof.suite.course import Course
from saverproof.suite.planning import item_id, planned
from saverproof.suite.timing import cost_of, in_words

FIGURES = pytest.StashKey[Path]()
"""The folder to which items write their figures."""
FIGURES_INPUT = "saverproof-figures"
"""The name under which an xdist worker is given the folder of figures."""
LIVE_EVERY_S = 0.5
"""Seconds between two updates of the live line: often enough to see that the run goes on."""
LOG_EVERY_S = 30.0
"""Seconds between two lines in a log, where each line stays."""
_COUNTED = ("operations", "faults", "kills")
_CLEAR_LINE, _UP = "\x1b[2K", "\x1b[A"


class Figures:
    """A writer of one item's figures to the run's folder."""

    def __init__(self, config: pytest.Config, name: str) -> None:
        folder = config.stash.get(FIGURES, None)
        self._path = None if folder is None else folder / f"{os.getpid()}.json"
        self._name = name
        self._last = 0.0

    def take(self, figures: dict[str, Any]) -> None:
        """Write the figures, unless the last ones were written a moment ago."""
        now = time.monotonic()
        if self._path is None or now - self._last < LIVE_EVERY_S / 2:
            return
        self._last = now
        fresh = self._path.with_suffix(".new")
        counts = {kind: figures[kind] for kind in _COUNTED if figures.get(kind)}
        # A folder that is gone is that of a run which ends.
        with suppress(OSError):
            fresh.write_text(json.dumps({"item": self._name, "figures": counts}))
            fresh.replace(self._path)


def expected_seconds(run: Run, items: Sequence[str]) -> dict[str, float]:
    """Return the estimated seconds of each of these items, by name."""
    estimates = {
        item_id(facts, family, api): run.limit_s(facts["name"], family, api)
        or cost_of(family, run.profile).seconds(facts)
        for facts in run.savers
        for family, api in planned(facts, run.apis)
    }
    return {name: estimates[name] for name in items if name in estimates}


def text_of(course: Course, figures: Mapping[str, Mapping[str, int]], now: float) -> str:
    """Describe how far a run has got: items, time left, and what the running items do."""
    total = len(course.expected)
    done = sum(name in course.expected for name in course.took)
    doing = [f"{name}{_counts(figures.get(name, {}))}" for name in course.began]
    left = in_words(course.left_s(now))
    return "; ".join([f"{done} of {total} items, about {left} left", *doing])


def _counts(figures: Mapping[str, int]) -> str:
    counts = [f"{figures[kind]:,} {kind}" for kind in _COUNTED if figures.get(kind)]
    return f" {', '.join(counts)}" if counts else ""


class Outlet:
    """The place where progress is shown: a terminal, or a log that somebody reads as it grows.

    It bypasses pytest's own writer, which may not be used while an item runs.
    """

    def __init__(self, descriptor: int, column: Callable[[], int]) -> None:
        self._descriptor = descriptor
        self._column = column
        self._is_drawn = False
        self.is_terminal = os.isatty(descriptor) and os.environ.get("TERM") != "dumb"

    def show(self, text: str) -> None:
        """Show the text in the line below pytest's own, or as the next line of a log."""
        if self.is_terminal:
            width = os.get_terminal_size(self._descriptor).columns
            self._write(f"\n\r{_CLEAR_LINE}{text[: max(width - 1, 0)]}{self._back()}")
            self._is_drawn = True
        else:
            start = "\n" if self._column() else ""
            self._write(f"{start}saverproof: {text}\n")

    def clear(self) -> None:
        """Remove the text, so that pytest goes on as if it had never been there."""
        if self._is_drawn:
            self._write(f"\n\r{_CLEAR_LINE}{self._back()}")
            self._is_drawn = False

    def _back(self) -> str:
        column = self._column()
        return f"{_UP}\r" + (f"\x1b[{column}C" if column else "")

    def _write(self, text: str) -> None:
        # Whoever reads it may be gone; that is for pytest's own lines to find out.
        with suppress(OSError):
            os.write(self._descriptor, text.encode("utf-8", "backslashreplace"))

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self._descriptor)


class Progress:
    """The pytest hooks that show a run's progress, in the process that owns the terminal."""

    def __init__(self, config: pytest.Config, run: Run, workers: int) -> None:
        self._config = config
        self._run = run
        self._course = Course({}, workers)
        self._resources = ExitStack()
        self._folder: Path | None = None
        self._outlet: Outlet | None = None
        # A contract is reported while its item is.
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Prepare the folder and the outlet before any worker is started."""
        option = self._config.option
        if option.collectonly or self._config.get_verbosity() < 0 or self._run.in_process:
            return
        reporter = self._config.pluginmanager.getplugin("terminalreporter")
        try:
            descriptor = os.dup(sys.stdout.fileno())
        except (OSError, ValueError, AttributeError):
            # Somebody put something in the place of standard output that is no file.
            return
        writer = self._config.get_terminal_writer() if reporter else None
        self._outlet = Outlet(descriptor, lambda: writer.width_of_current_line if writer else 0)
        self._resources.callback(self._outlet.close)
        self._folder = self._resources.enter_context(scratch_folder(self._run.token))
        self._config.stash[FIGURES] = self._folder

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell an xdist worker where to write its figures."""
        if self._folder is not None:
            node.workerinput[FIGURES_INPUT] = str(self._folder)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note which items will run, without xdist."""
        self._expect([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Note which items will run, with xdist: all workers have the same."""
        self._expect(ids)

    def _expect(self, ids: Sequence[str]) -> None:
        names = [one.rpartition("::")[2] for one in ids]
        self._course.expected = expected_seconds(self._run.timed(names), names)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> Generator[None, None, None]:
        """Note that an item begins, in this process or a worker."""
        with self._cleared():
            self._course.begin(nodeid.rpartition("::")[2], time.monotonic())
            yield
        self._start()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self) -> Generator[None, None, None]:
        """Remove the live line while pytest writes."""
        with self._cleared():
            yield

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logfinish(self, nodeid: str) -> Generator[None, None, None]:
        """Note that an item has ended."""
        with self._cleared():
            self._course.end(nodeid.rpartition("::")[2], time.monotonic())
            yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Stop showing progress: the last line is pytest's."""
        self._stop()

    def pytest_unconfigure(self) -> None:
        """Remove the folder of figures."""
        self._stop()
        self._resources.close()

    def _cleared(self) -> _Cleared:
        return _Cleared(self._lock, self._outlet)

    def _start(self) -> None:
        if self._outlet is not None and self._thread is None and not self._over.is_set():
            self._thread = threading.Thread(target=self._go_on, name="saverproof-progress")
            self._thread.daemon = True
            self._thread.start()

    def _stop(self) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        with self._cleared():
            pass

    def _go_on(self) -> None:
        outlet = self._outlet
        assert outlet is not None
        every_s = LIVE_EVERY_S if outlet.is_terminal else LOG_EVERY_S
        while not self._over.wait(every_s):
            figures = self._figures()
            with self._lock:
                if self._course.began and not self._over.is_set():
                    outlet.show(text_of(self._course, figures, time.monotonic()))

    def _figures(self) -> dict[str, dict[str, int]]:
        found = {}
        for path in self._folder.glob("*.json") if self._folder else ():
            with suppress(OSError, ValueError):
                told = json.loads(path.read_text())
                found[told["item"]] = told["figures"]
        return found


class _Cleared:
    """A block in which only pytest writes to the terminal, and finds its line as it left it."""

    def __init__(self, lock: threading.RLock, outlet: Outlet | None) -> None:
        self._lock = lock
        self._outlet = outlet

    def __enter__(self) -> None:
        self._lock.acquire()
        if self._outlet is not None:
            self._outlet.clear()

    def __exit__(self, *raised: object) -> None:
        self._lock.release()
