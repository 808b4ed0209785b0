"""Run pinned examples again before any search.

They are the examples of known violations, and those that a target's author has pinned.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from saverproof.contracts.registry import contract
from saverproof.families.answer import ReplayAnswer, Status
from saverproof.families.items import Finding, ItemPlan, Outcome
from saverproof.run.known.entries import Entry
from saverproof.run.plugin.judging import Judge
from saverproof_reports import read_artefact
from saverproof_reports.steadiness import BY_TIMING


def pinned(entries: Iterable[Entry], saver: str, family: str, api: str) -> Iterator[Entry]:
    """Yield the entries whose example is run in the item of this saver, family and API."""
    for entry in entries:
        if entry.shows(saver) and entry.example_api == api and contract(entry.id).family == family:
            yield entry


@dataclass(slots=True)
class Examples:
    """The results of running the examples of one item again."""

    stale: list[dict[str, str]] = field(default_factory=list)
    """The stale entries, in the form of the report (see ``saverproof_reports.events``)."""
    shown: list[Finding] = field(default_factory=list)
    """The violations that still occur."""
    unclear: dict[str, str] = field(default_factory=dict)
    """Contract -> why its pinned example could not be run. Such a contract is not known to hold."""

    def added_to(self, outcome: Outcome) -> Outcome:
        """Return the outcome together with the violations that the examples show.

        They are needed there, because a search may miss a known violation.
        """
        found = {finding.contract for finding in outcome.findings}
        more = [finding for finding in self.shown if finding.contract not in found]
        checked = dict(outcome.checked)
        for finding in self.shown:
            checked[finding.contract] = checked.get(finding.contract, 0) + 1
        return replace(
            outcome,
            checked=checked,
            findings=(*outcome.findings, *more),
            unknown={**self.unclear, **outcome.unknown},
        )


def run_examples(judge: Judge, plan: ItemPlan, entries: Iterable[Entry]) -> Examples:
    """Run what is pinned for the item of ``plan``, in the plan's folder.

    That is the example of each of ``entries``, and the artefacts that the target pins.
    """
    examples = Examples()
    for entry in entries:
        artefact = read_artefact(Path(str(entry.example)))
        answer = _replayed(judge, plan, artefact)
        if answer.status is Status.FAILING:
            examples.shown.append(_finding(artefact, answer))
        else:
            examples.stale.append(_stale(entry, artefact, answer))
    for path, artefact in _of_the_target(plan):
        answer = _replayed(judge, plan, artefact)
        if answer.status is Status.FAILING:
            examples.shown.append(_finding(artefact, answer))
        elif answer.status is Status.UNCLEAR:
            why = f"{path}, which is pinned, cannot be run: {answer.said}"
            examples.unclear.setdefault(artefact["contract"], why)
    return examples


def _of_the_target(plan: ItemPlan) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the artefacts that the target's author has pinned for an item, each with its path.

    Functional programs are left out: the families that search with programs run them first.
    """
    for path in plan.facts.get("examples", ()):
        artefact = read_artefact(Path(path))
        family = contract(artefact["contract"]).family
        if artefact["phase"] != "functional" and (family, artefact["api"]) == (
            plan.family,
            plan.api,
        ):
            yield path, artefact


def _replayed(judge: Judge, plan: ItemPlan, artefact: Mapping[str, Any]) -> ReplayAnswer:
    with tempfile.TemporaryDirectory(prefix="example-", dir=plan.folder) as folder:
        return judge.replay(artefact, plan, Path(folder))


def _finding(artefact: dict[str, Any], answer: ReplayAnswer) -> Finding:
    return Finding(
        contract=artefact["contract"],
        api=artefact["api"],
        phase=artefact["phase"],
        summary=artefact.get("summary") or answer.said,
        expected=answer.expected,
        observed=answer.observed,
        steps=tuple(artefact.get("steps", ())),
        program=artefact["program"],
        reproducer="",
    )


def _stale(entry: Entry, artefact: Mapping[str, Any], answer: ReplayAnswer) -> dict[str, str]:
    """Return the report's line on an entry whose example does not show its flaw.

    It is an error only if that is certain.
    """
    if answer.status is Status.FIXED:
        severity, said = "error", f"its example is fixed ({answer.said}); remove the entry"
    elif answer.status is Status.NOT_SEEN:
        severity, said = "warning", f"its example was {answer.said}"
    else:
        # An example that depends on timing may not even reach the place where it was seen.
        severity = "warning" if artefact["phase"] in BY_TIMING else "error"
        said = f"its example cannot be run: {answer.said}; pin another"
    where = f"{entry.file}: {entry.id} ({entry.example_api})"
    return {"id": entry.id, "severity": severity, "message": f"{where}: {said}"}
