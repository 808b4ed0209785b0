"""Let the kit show broken contracts on the terminal, and keep them out of pytest's summaries."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

_REPORTED_BY_DEFAULT = "fE"
"""The default of pytest's option ``-r``."""
_OF_FAILURES = frozenset("faA")
_MOST_LINES = 5
"""How many of the last lines of a saver's output are shown without ``-v``: a saver may print
much.
"""


class OwnSummary:
    """A hook that keeps failed contracts out of pytest's FAILURES and short summary.

    They still count in pytest's last line. If a short summary was asked for (``-rf``, ``-ra``), it
    gets a line for each, which is not cut at the terminal's width as pytest's lines are.
    """

    def __init__(self) -> None:
        self._taken: list[Any] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, Any, Any]:
        """Remove failed contracts before pytest's summaries, and restore them for its last line."""
        failed = terminalreporter.stats.get("failed", [])
        self._taken = list(failed)
        failed[:] = [one for one in failed if not hasattr(one, "saverproof_contract")]
        try:
            return (yield)
        finally:
            failed[:] = self._taken

    def write_short(self, terminalreporter: Any) -> None:
        """Write a line for each failed contract, if a short summary of failures was asked for."""
        asked = terminalreporter.config.getoption("reportchars")
        if asked == _REPORTED_BY_DEFAULT or not _OF_FAILURES.intersection(asked):
            return
        for report in self._taken:
            if hasattr(report, "saverproof_contract"):
                terminalreporter.line(f"FAILED {report.nodeid} - {report.longrepr.summary}")


def printed_lines(item: str, text: str, *, whole: bool) -> list[str]:
    """Return the lines that a saver printed while an item judged it: all, or the last few."""
    lines = text.rstrip("\n").splitlines()
    shown = lines if whole else lines[-_MOST_LINES:]
    rest = len(lines) - len(shown)
    note = f", the last {len(shown)} of {len(lines)} lines (-v shows all)" if rest else ""
    return [f"Captured saver output of {item}{note}:", *(f"  {line}" for line in shown)]
