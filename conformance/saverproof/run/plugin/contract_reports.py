"""Make a test report for each contract that an item judged, beside the item's own.

A family is judged as a whole, but each of its contracts passes, fails or is skipped by itself: on
the terminal, in JUnit XML, in an IDE and in the histories of CI servers. A contract that an item
could not decide is skipped. Whether it fails the run depends on all APIs (``late_reports``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from saverproof.run.plugin.failures import finding_lines
from saverproof.run.plugin.run import Run
from saverproof_reports.events import contracts_of_item
from saverproof_reports.text import one_line

Said = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Crash:
    """The part of a failure that pytest's short summary shows."""

    message: str


@dataclass(frozen=True, slots=True)
class FailureText:
    """The reason why a contract failed: one line on the terminal, where the details come last.

    As text, which JUnit XML and other plugins use, it has all details.
    """

    summary: str
    details: str

    @property
    def reprcrash(self) -> Crash:
        """The part that the short summary shows."""
        return Crash(self.summary)

    def toterminal(self, writer: Any) -> None:
        """Write the line to the terminal."""
        writer.line(self.summary)

    def __str__(self) -> str:
        return self.details


def contract_reports(
    whole: pytest.TestReport, item: Said, saver: Said, run: Run
) -> Iterator[pytest.TestReport]:
    """Yield the reports of an item's contracts, in the order of the registry.

    ``whole`` is the item's own report. ``item`` is the item's event and ``saver`` its saver's event
    (see ``saverproof_reports.events``).
    """
    stale = {entry["id"]: entry for entry in item.get("stale", ())}
    for contract in contracts_of_item(saver, item):
        outcome, longrepr, expected = _result(contract, stale, item, run)
        # The worker that judged it, and why a failure is none: as xdist's and pytest's own have it.
        extra = {"node": whole.node} if hasattr(whole, "node") else {}
        extra |= {} if expected is None else {"wasxfail": expected}
        through = f"{item['saver']}-{item['api']}"
        yield report_on(contract["id"], through, whole, outcome, longrepr, **extra)


def report_on(
    contract: str,
    through: str,
    whole: pytest.TestReport,
    outcome: Any,
    longrepr: Any,
    **extra: Any,
) -> pytest.TestReport:
    """Return the report of one contract.

    ``whole`` is the report of an item that judged it. ``through`` names the saver, and the API if
    it is about one.
    """
    name = f"{contract}[{through}]"
    return pytest.TestReport(
        nodeid=f"{whole.nodeid.rpartition('::')[0]}::{name}",
        location=(*whole.location[:2], name),
        keywords={**whole.keywords, contract: 1},
        outcome=outcome,
        longrepr=longrepr,
        when="call",
        sections=whole.sections if outcome == "failed" else (),
        saverproof_contract=contract,
        **extra,
    )


def _result(
    contract: Said, stale: Mapping[str, Said], item: Said, run: Run
) -> tuple[Any, Any, str | None]:
    """Return pytest's outcome and text. If a failure is expected, return the reason as well, else
    None.
    """
    entry = stale.get(contract["id"])
    if entry is not None and entry["severity"] == "error":
        return "failed", FailureText(entry["message"], entry["message"]), None
    verdict, must = contract["verdict"], contract["level"] == "must"
    if verdict == "held":
        return "passed", None, None
    if verdict in ("violated", "known"):
        excuse = _excuse(contract, must=must)
        if excuse is None:
            return "failed", _failure(contract, item, run), None
        return "skipped", None, excuse
    reason = one_line(str(contract["reason"]))
    return "skipped", ("saverproof", 0, f"Skipped: {verdict}: {reason}"), None


def _excuse(contract: Said, *, must: bool) -> str | None:
    """Return why a violation does not fail the run, or None if it does."""
    found = contract["violations"]
    if contract["verdict"] == "known":
        return f"known: {one_line(str(contract['reason']))}"
    if not must:
        return f"advice: {found[0]['summary']}"
    left = [one for one in found if not one.get("known") and not one.get("baseline")]
    return None if left else "as in the baseline"


def _failure(contract: Said, item: Said, run: Run) -> FailureText:
    found = [one for one in _failing(item["findings"]) if one["contract"] == contract["id"]]
    lines = [line for one in found for line in finding_lines(one, item["saver"], run)]
    return FailureText(found[0]["summary"], "\n".join(lines))


def _failing(findings: Sequence[Said]) -> list[Said]:
    return [one for one in findings if one["known"] is None and one["baseline"] is None]
