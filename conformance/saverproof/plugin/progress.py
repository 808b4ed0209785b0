"""Telling how far an item is while it runs, at the end of pytest's own line on a terminal."""

import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

_SHORTEST = 20
_COUNTED = ("operations", "faults", "kills")
_SAVE, _CLEAR, _RESTORE = "\x1b7", "\x1b[K", "\x1b8"


class Live:
    """Shows an item's figures behind the cursor, and takes them away again.

    Only a terminal that pytest writes to itself is written to: no pipe, no xdist worker.
    """

    def __init__(self, config: pytest.Config, name: str) -> None:
        reporter: Any = config.pluginmanager.getplugin("terminalreporter")
        shown = reporter is not None and reporter.isatty and config.get_verbosity() >= 0
        self._writer = config.get_terminal_writer() if shown else None
        # While an item runs, pytest catches what is printed.
        self._capturing: Any = config.pluginmanager.getplugin("capturemanager")
        self._name = name

    @property
    def listener(self) -> Callable[[dict[str, Any]], None]:
        """Takes the figures as they come."""
        return self._show

    def _show(self, figures: dict[str, Any]) -> None:
        if self._writer is None:
            return
        room = self._writer.fullwidth - self._writer.width_of_current_line - 2
        text = text_of(self._name, figures)
        if room >= _SHORTEST:
            self._write(f"{_SAVE}{_CLEAR} {text[:room]}{_RESTORE}")

    def clear(self) -> None:
        """Take the figures away, so that pytest's line goes on as if nothing had been there."""
        if self._writer is not None:
            self._write(_CLEAR)

    def _write(self, text: str) -> None:
        # Past the writer, which counts columns: the cursor ends where it was.
        with self._capturing.global_and_fixture_disabled() if self._capturing else nullcontext():
            sys.stdout.write(text)
            sys.stdout.flush()


def text_of(name: str, figures: dict[str, Any]) -> str:
    """An item's name and what it has done so far."""
    counts = [f"{figures[kind]:,} {kind}" for kind in _COUNTED if figures.get(kind)]
    return f"{name}: {', '.join(counts) or 'started'}"
