"""The failure of a machine, told as an item of the suite tells it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from saverproof.items import Finding
from saverproof.machines.telling import detail_lines, field
from saverproof.steps.definitions import Program
from saverproof_reports.assembly import violation_name

FOLDER = Path(".saverproof") / "machines"
"""Where scripts are left, below the working folder."""


class ContractBroken(AssertionError):  # noqa: N818 (named by what happened)
    """A saver broke a contract.

    Attributes:
        contract: the id of the contract.
        program: the shortest steps that show it.
        finding: the same in words, as a report has it.
    """

    def __init__(self, text: str, program: Program, finding: Finding) -> None:
        super().__init__(text)
        self.contract = finding.contract
        self.program = program
        self.finding = finding


ContractBroken.__module__ = "saverproof"


def told(finding: Finding, saver: str, statement: str = "") -> str:
    """Everything about a violated contract, whose script is left for the user.

    ``statement`` is what a rule or an invariant of an author demands.
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
    """Leave a finding's script for the user; None if there is none, or no place for it."""
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
