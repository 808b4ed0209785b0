"""The failures of an item, and the text that they show."""

from collections.abc import Mapping, Sequence
from typing import Any

from saverproof.contracts.advice import advice
from saverproof.families.machines.telling import detail_lines, field
from saverproof.run.plugin.run import Run
from saverproof.savers.facts import Facts
from saverproof_reports.assembly import violation_name
from saverproof_reports.unsettled import DO, MEANS

_STEPS_SHOWN = 30
"""How many steps of a program are shown, as many as fit a screen. They are the last ones, which
lead to what was observed.
"""


class Violated(Exception):  # noqa: N818 - named by what happened to the contracts
    """At least one contract was violated. The text has everything that a reader needs."""


class NotJudged(Exception):  # noqa: N818 - named by what did not happen
    """The item could not be judged. Its contracts are unknown, which is not a pass."""


class Stale(Exception):  # noqa: N818 - named by what became of the entries
    """A known violation no longer occurs. The text has a line for each such entry."""


# pytest shows the full name of an exception in its short summary, cut at the terminal's width.
Violated.__module__ = NotJudged.__module__ = Stale.__module__ = "saverproof"


def failure_text(findings: Sequence[Mapping[str, Any]], facts: Facts, run: Run) -> str:
    """Return the full text on the violated contracts. The first line names them."""
    names = ", ".join(dict.fromkeys(finding["contract"] for finding in findings))
    parts = [f"{facts['name']} violates {names}"]
    for finding in findings:
        parts.append("")
        parts.extend(finding_lines(finding, facts["name"], run))
    return "\n".join(parts)


def finding_lines(finding: Mapping[str, Any], saver: str, run: Run) -> list[str]:
    """Return the lines on one violated contract.

    They have its summary, statement, source, what was expected and observed, the steps and the
    script.
    """
    how = f"{finding['api']}, {finding['phase']}"
    lines = [f"{finding['contract']} ({how}): {finding['summary']}", *detail_lines(finding)]
    for name, text in advice(finding["contract"], finding.get("mistake_of", "")):
        lines += field(name, text)
    if finding["reproducer"]:
        lines += field("reproduce", f"python {reproducer_path(finding, saver, run)}")
    return lines


def unsettled_lines(entry: Mapping[str, Any]) -> list[str]:
    """Return the lines on a contract with unsettled differences.

    They say why it is unsettled, which program shows it, and what to do.
    """
    steps = entry["steps"][-_STEPS_SHOWN:]
    first = len(entry["steps"]) - len(steps) + 1
    return [
        *field("why", entry["why"]),
        *(["  steps"] if steps else []),
        *(f"    {number}. {step}" for number, step in enumerate(steps, first)),
        *field("means", MEANS),
        *field("do", DO),
    ]


def reproducer_path(finding: Mapping[str, Any], saver: str, run: Run) -> str:
    """Return the path of a finding's script in the report, relative to the invocation folder."""
    name = violation_name(saver, finding["contract"], finding["api"], finding["phase"])
    # The report numbers those that would have the same name, from the second on.
    number = finding.get("number", 1)
    suffix = "" if number == 1 else f"-{number}"
    path = run.report / "reproducers" / f"{name}{suffix}.py"
    return str(path.relative_to(run.folder) if path.is_relative_to(run.folder) else path)
