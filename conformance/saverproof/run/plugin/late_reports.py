"""Test reports for what only the whole run can decide: a contract fails over all APIs of a saver.

One item may decide what another could not. Therefore these reports come last, once for each
contract. They are about differences that nothing settled, violations that only another family saw
and, in a strict run, musts that no item could judge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from saverproof.run.plugin.contract_reports import FailureText
from saverproof.run.plugin.failures import finding_lines, unsettled_lines
from saverproof.run.plugin.run import Run
from saverproof_reports.families import with_verdict
from saverproof_reports.text import one_line
from saverproof_reports.unsettled import failing, heading

Judged = Mapping[str, Any]


def late_failures(
    judged: Judged, ran: Collection[str], run: Run, *, strict: bool
) -> Iterator[tuple[str, FailureText]]:
    """Yield the contracts of one saver that fail although no item failed for them, and why.

    ``judged`` is the saver in the report, and ``ran`` are the families that were judged.
    """
    for contract in failing(judged):
        summary, lines = heading([contract]), unsettled_lines(contract["unsettled"])
        yield contract["id"], FailureText(f"unsettled: {summary}", "\n".join([summary, *lines]))
    yield from _seen_by_others(judged, run)
    if strict:
        for contract in undecided(judged, ran, run):
            why = f"{contract['verdict']}: {contract['reason']}"
            yield contract["id"], FailureText(one_line(why), why)


def _seen_by_others(judged: Judged, run: Run) -> Iterator[tuple[str, FailureText]]:
    """Yield the contracts that only the programs of other families broke."""
    for contract in with_verdict(judged, "violated"):
        found = [
            {"contract": contract["id"], **one}
            for one in contract["violations"]
            if one.get("seen_by") and not one.get("known") and not one.get("baseline")
        ]
        if contract["level"] == "must" and found:
            name = judged["saver"]["name"]
            lines = [line for one in found for line in finding_lines(one, name, run)]
            yield contract["id"], FailureText(found[0]["summary"], "\n".join(lines))


def undecided(judged: Judged, ran: Collection[str], run: Run) -> list[Judged]:
    """Return the undecided musts of the families in ``ran``. They are no pass.

    Contracts with unsettled differences are left out, because they were judged, and so are those
    that the author lists as known.
    """
    listed = {one.id for one in run.known[judged["saver"]["name"]] if one.api is None}
    left = with_verdict(judged, "unknown", "not-exercised")
    asked = [one for one in left if one["level"] == "must" and one.get("selected", True)]
    left = [one for one in asked if one["family"] in ran and "unsettled" not in one]
    return [one for one in left if one["id"] not in listed]
