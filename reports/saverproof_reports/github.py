"""The parts of a run that GitHub Actions shows: annotations, and the summary of the job."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from saverproof_reports.document import markdown
from saverproof_reports.families import with_verdict
from saverproof_reports.text import one_line
from saverproof_reports.wording import untried_phrase


def annotations(report: Mapping[str, Any]) -> list[str]:
    """Return workflow commands, one line each. Errors come first: GitHub shows only the first ten.

    Errors are: a violated ``must``, a ``must`` with unsettled differences, and a stale known
    violation. Warnings are: an undecided ``must``, and a ``must`` that is excused. A violated
    ``should`` is a notice.
    """
    rank = {"error": 0, "warning": 1, "notice": 2}
    found = [note for judged in report["savers"] for note in _notes(judged)]
    return [_command(*note) for note in sorted(found, key=lambda note: rank[note[0]])]


def append_step_summary(report: Mapping[str, Any], path: Path) -> None:
    """Append ``report`` as Markdown to the file that ``$GITHUB_STEP_SUMMARY`` names.

    Raises:
        OSError: the file cannot be written.
    """
    with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(markdown(report))


def _notes(judged: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    name = judged["saver"]["name"]
    for contract in with_verdict(judged, "violated"):
        seen = contract["violations"][0]
        level = _level(contract)
        said = f"{contract['statement'].rstrip('.')}: {seen['summary']}"
        yield level, f"{name}: {contract['id']}", said
    if untried := untried_phrase(judged):
        yield "warning", f"{name}: faults", untried
    for contract in with_verdict(judged, "unknown"):
        if contract["level"] == "must":
            level = "error" if contract.get("unsettled", {}).get("fails") else "warning"
            yield level, f"{name}: {contract['id']}", contract["reason"] or "undecided"
    for entry in judged.get("stale", ()):
        level = entry.get("severity", "error")
        yield level, f"{name}: stale known violation {entry['id']}", entry["message"]


def _level(contract: Mapping[str, Any]) -> str:
    if contract["level"] != "must":
        return "notice"
    excused = all(violation.get("baseline") for violation in contract["violations"])
    return "warning" if excused else "error"


def _command(level: str, title: str, message: str) -> str:
    short = _escaped(one_line(title, 200)).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={short}::{_escaped(one_line(message, 1000))}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
