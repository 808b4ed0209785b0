"""Draft a known-violations file from the results of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import tomlkit
from tomlkit.items import AoT, Table

from saverproof_reports.families import with_verdict
from saverproof_reports.steadiness import BY_TIMING, is_steady
from saverproof_reports.text import one_line

_HEAD = """\
Known violations of {saver}: saverproof reports them, and they fail nothing.
pytest --saver={target} --saver-known=THIS_FILE

Say why each is accepted (reason) and where it is discussed (link). Optional are versions, those of
the saver for which it holds ("<3.2"), and api ("sync", "async" or "crossed"). The example is run
first: once it shows nothing any more, the entry is stale, and that fails the run.
"""


@dataclass(frozen=True, slots=True)
class Example:
    """An artefact that an entry pins: its path in the report, and its path beside the file."""

    artefact: str
    path: str


@dataclass(frozen=True, slots=True)
class Draft:
    """The text of a known-violations file, and the artefacts that belong beside it."""

    text: str
    examples: tuple[Example, ...]
    undecided: int
    """Number of entries for contracts that were not seen broken, and could not be judged."""


def draft(judged: Mapping[str, Any], folder: str) -> Draft:
    """Draft the file for one saver of a report. ``folder`` is that of the examples, from the
    file.
    """
    document = tomlkit.document()
    saver = judged["saver"]
    # A report need not say what --saver was given.
    target = one_line(saver.get("target") or saver["name"], 200)
    for line in _HEAD.format(saver=one_line(saver["name"], 80), target=target).splitlines():
        document.add(tomlkit.comment(line) if line else tomlkit.comment(""))
    document.add(tomlkit.nl())
    entries: AoT = tomlkit.aot()
    examples: list[Example] = []
    for contract in with_verdict(judged, "violated", "known"):
        if contract["level"] != "must":
            continue
        for violation, api in _told_apart(contract):
            entries.append(_entry(contract, violation, api, folder, examples))
    undecided = [one for one in with_verdict(judged, "unknown") if _is_asked(one)]
    for contract in undecided:
        entries.append(_undecided_entry(contract))
    document.append("known", entries)
    return Draft(tomlkit.dumps(document), tuple(examples), len(undecided))


def _is_asked(contract: Mapping[str, Any]) -> bool:
    asked = contract.get("selected", True) or "unsettled" in contract
    return bool(contract["level"] == "must" and asked)


def _told_apart(
    contract: Mapping[str, Any],
) -> Iterator[tuple[Mapping[str, Any], str | None]]:
    """Yield the violations that need an entry of their own, each with the API of the entry.

    There is one entry, for all APIs, if every judged API shows the violation, or if timing may
    decide which of them does.
    """
    judged = {api for api, times in contract["checked"].items() if times}
    first: dict[str, Mapping[str, Any]] = {}
    for violation in contract["violations"]:
        first.setdefault(violation["api"], violation)
    by_timing = any(
        found["phase"] in BY_TIMING or not is_steady(found) for found in contract["violations"]
    )
    if by_timing or judged <= first.keys():
        yield next(iter(first.values())), None
        return
    yield from ((violation, api) for api, violation in first.items())


def _undecided_entry(contract: Mapping[str, Any]) -> Table:
    """Return the entry of a contract that could not be judged, perhaps because other contracts are
    broken.
    """
    entry = tomlkit.table()
    entry.add("id", contract["id"])
    known = contract.get("unsettled", {}).get("known") or {}
    told = contract["reason"] if "unsettled" in contract else f"not judged: {contract['reason']}"
    reason = tomlkit.string(known.get("reason") or one_line(told, 200))
    if not known:
        reason.comment("not seen broken; say why that is accepted, or remove the entry")
    entry.add("reason", reason)
    if known.get("link"):
        entry.add("link", known["link"])
    return entry


def _entry(
    contract: Mapping[str, Any],
    violation: Mapping[str, Any],
    api: str | None,
    folder: str,
    examples: list[Example],
) -> Table:
    known = violation.get("known") or {}
    entry = tomlkit.table()
    entry.add("id", contract["id"])
    reason = tomlkit.string(known.get("reason") or one_line(violation["summary"], 200))
    if not known:
        reason.comment("what was seen; say why it is accepted")
    entry.add("reason", reason)
    if known.get("link"):
        entry.add("link", known["link"])
    else:
        entry.add(tomlkit.comment('link = "https://…"'))
    if api is not None:
        entry.add("api", api)
    if violation["artefact"]:
        path = str(PurePosixPath(folder) / PurePosixPath(violation["artefact"]).name)
        examples.append(Example(violation["artefact"], path))
        entry.add("example", path)
    return entry
