"""A finding as an issue for its saver's own project, in the headings of LangGraph's bug form."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from saverproof_reports.markup import block, prose
from saverproof_reports.mending import FIX, MATTERS
from saverproof_reports.steadiness import artefact_is_steady

_NO_SCRIPT = "# No script shows this by itself; it was replayed from a recording:\n# {steps}\n"
_BY_TIMING = (
    "It hangs on timing: one run shows it and the next may not. Please run the example several "
    "times before you take it for mended."
)


@dataclass(frozen=True, slots=True)
class Told:
    """The facts about a finding that are not in its artefact.

    Attributes:
        statement: the promise that is broken.
        source: where it is made.
        matters: what users of an agent suffer.
        fix: how a saver is mended.
        script: the source of a script that shows it alone; "" if there is none.
        expected: what a right saver shows; "" if it is no longer known.
        observed: what this saver shows.
        also: the other contracts that break by the same cause.
    """

    statement: str
    source: str
    matters: str = ""
    fix: str = ""
    script: str = ""
    expected: str = ""
    observed: str = ""
    also: tuple[str, ...] = ()


def issue(artefact: Mapping[str, Any], told: Told) -> str:
    """Return the issue as Markdown, ending in a newline; its title is the first line."""
    steps = artefact.get("steps", ())
    script = told.script or _NO_SCRIPT.format(steps="\n# ".join(steps) or "no step is known")
    differ = f"expected: {told.expected}\nobserved: {told.observed}" if told.expected else ""
    parts = [
        f"# {artefact['saver']}: {artefact.get('summary') or told.statement}",
        "## Example Code",
        block(script, "python"),
        "It exits with 1 while the flaw is there, and with 0 once it is gone."
        if told.script
        else "",
        "## Error Message and Stack Trace (if applicable)",
        block(differ or artefact.get("summary", ""), "text"),
        "## Description",
        *_description(artefact, told, steps),
        "## System Info",
        block("\n".join(_versions(artefact)), "text"),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _description(artefact: Mapping[str, Any], told: Told, steps: Iterable[str]) -> Iterator[str]:
    yield f"{prose(told.statement)} That is relied on in {prose(told.source)}."
    if told.matters:
        yield f"{MATTERS}: {prose(told.matters)}"
    numbered = "\n".join(f"{number}. `{step}`" for number, step in enumerate(steps, 1))
    if numbered:
        yield f"Steps, through the {artefact['api']} API:\n\n{numbered}"
    if told.fix:
        yield f"{FIX} (advice; any way that keeps the promise is right): {prose(told.fix)}"
    if told.also:
        names = ", ".join(f"`{name}`" for name in told.also)
        yield f"The same cause also breaks {names}: no issues of their own are needed."
    if not artefact_is_steady(artefact):
        yield _BY_TIMING
    yield f"Found by saverproof, contract `{artefact['contract']}`."


def _versions(artefact: Mapping[str, Any]) -> list[str]:
    return [f"{name} {version}" for name, version in sorted(artefact["versions"].items())]
