"""Test reports for what only the whole run can say: that a contract fails over all APIs of a saver.

What one item could not decide, another may have decided. So these come last, and once each: wrong
answers that nothing settled, violations that only another family saw and, in a strict run, musts
that no item could judge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from saverproof.plugin.contract_reports import Failure
from saverproof.plugin.failures import finding_lines, unsettled_lines
from saverproof.plugin.run import Run
from saverproof_reports.families import with_verdict
from saverproof_reports.text import one_line
from saverproof_reports.unsettled import failing, heading

Judged = Mapping[str, Any]


def late_failures(
    judged: Judged, ran: Collection[str], run: Run, *, strict: bool
) -> Iterator[tuple[str, Failure]]:
    """The contracts of one saver of a report that fail though no item failed for them, each with
    why. ``ran`` are the families that were judged.
    """
    for contract in failing(judged):
        summary, lines = heading([contract]), unsettled_lines(contract["unsettled"])
        yield contract["id"], Failure(f"unsettled: {summary}", "\n".join([summary, *lines]))
    yield from _seen_by_others(judged, run)
    if strict:
        for contract in undecided(judged, ran, run):
            why = f"{contract['verdict']}: {contract['reason']}"
            yield contract["id"], Failure(one_line(why), why)


def _seen_by_others(judged: Judged, run: Run) -> Iterator[tuple[str, Failure]]:
    """What the programs of another family broke, and those of its own did not."""
    for contract in with_verdict(judged, "violated"):
        found = [
            {"contract": contract["id"], **one}
            for one in contract["violations"]
            if one.get("seen_by") and not one.get("known") and not one.get("baseline")
        ]
        if contract["level"] == "must" and found:
            name = judged["saver"]["name"]
            lines = [line for one in found for line in finding_lines(one, name, run)]
            yield contract["id"], Failure(found[0]["summary"], "\n".join(lines))


def undecided(judged: Judged, ran: Collection[str], run: Run) -> list[Judged]:
    """The musts, of the families that ``ran``, that were not judged: they are no pass. What is
    unsettled was, and what the author lists is accepted.
    """
    listed = {one.id for one in run.known[judged["saver"]["name"]] if one.api is None}
    left = with_verdict(judged, "unknown", "not-exercised")
    asked = [one for one in left if one["level"] == "must" and one.get("selected", True)]
    left = [one for one in asked if one["family"] in ran and "unsettled" not in one]
    return [one for one in left if one["id"] not in listed]
