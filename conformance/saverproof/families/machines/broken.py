"""The failure of a machine, told in the words that an item of the suite uses."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from saverproof.families.items import Finding
from saverproof.families.machines.telling import detail_lines, field
from saverproof.programs.steps.definitions import Program
from saverproof_reports.assembly import violation_name

FOLDER = Path(".saverproof") / "machines"
"""The folder of the scripts of failures, relative to the working folder."""


class ContractBroken(AssertionError):  # noqa: N818 (named by what happened)
    """The failure of a machine: a saver broke a contract.

    Attributes:
        contract: the id of the contract.
        program: the shortest steps that show it.
        finding: the violation in words, as a report has it.
    """

    def __init__(self, text: str, program: Program, finding: Finding) -> None:
        super().__init__(text)
        self.contract = finding.contract
        self.program = program
        self.finding = finding


ContractBroken.__module__ = "saverproof"


def told(finding: Finding, saver: str, statement: str = "") -> str:
    """Return all lines on a violated contract, and write its script to a file for the user.

    ``statement`` is what an author's rule or invariant demands.
    """
    lines = [
        f"{saver} violates {finding.contract}",
        "",
        f"{finding.contract} ({finding.api}, {finding.phase}): {finding.summary}",
        *detail_lines(asdict(finding), statement),
    ]
    if (path := _script_of(finding, saver)) is not None:
        lines += field("reproduce", f"python {path}")
    return "\n".join(lines)


def _script_of(finding: Finding, saver: str) -> Path | None:
    """Write a finding's script to a file; return None if there is no script or no place for it."""
    if not finding.reproducer:
        return None
    path = FOLDER / f"{violation_name(saver, finding.contract, finding.api, finding.phase)}.py"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        (FOLDER.parent / ".gitignore").write_text("*\n", encoding="utf-8")
        path.write_text(finding.reproducer, encoding="utf-8")
    except OSError:
        return None
    return path
