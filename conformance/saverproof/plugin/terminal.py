"""Contracts are told once on the terminal: by the kit, not by pytest's own summaries, too."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

_REPORTED_BY_DEFAULT = "fE"
"""What pytest's short summary shows if nobody gives ``-r``."""
_OF_FAILURES = frozenset("faA")
_MOST_LINES = 5


class OwnSummary:
    """Keeps the failures of contracts out of pytest's FAILURES and short summary.

    They are counted in its last line. Whoever asks for a short summary (``-rf``, ``-ra``) gets a
    line for each, which is not cut at the width of the terminal, as pytest would.
    """

    def __init__(self) -> None:
        self._taken: list[Any] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, Any, Any]:
        """Take them out before pytest's summaries, and put them back for its last line."""
        failed = terminalreporter.stats.get("failed", [])
        self._taken = list(failed)
        failed[:] = [one for one in failed if not hasattr(one, "saverproof_contract")]
        try:
            return (yield)
        finally:
            failed[:] = self._taken

    def write_short(self, terminalreporter: Any) -> None:
        """Write a line for each, if a short summary of what failed was asked for."""
        asked = terminalreporter.config.getoption("reportchars")
        if asked == _REPORTED_BY_DEFAULT or not _OF_FAILURES.intersection(asked):
            return
        for report in self._taken:
            if hasattr(report, "saverproof_contract"):
                terminalreporter.line(f"FAILED {report.nodeid} - {report.longrepr.summary}")


def printed_lines(item: str, text: str, *, whole: bool) -> list[str]:
    """What a saver printed while an item judged it; the end of it, or the whole."""
    lines = text.rstrip("\n").splitlines()
    shown = lines if whole else lines[-_MOST_LINES:]
    rest = len(lines) - len(shown)
    note = f", the last {len(shown)} of {len(lines)} lines (-v shows all)" if rest else ""
    return [f"Captured saver output of {item}{note}:", *(f"  {line}" for line in shown)]
