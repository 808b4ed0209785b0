"""Show broken contracts on the terminal: the one to fix first in full, the others in a line
each.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from saverproof.contracts.advice import advice
from saverproof.families.machines.telling import detail_lines, field
from saverproof.run.plugin.failures import unsettled_lines
from saverproof.run.plugin.run import Run
from saverproof.savers.targets.reference import TargetRef
from saverproof_reports.causes import also_broken, by_cause, cause_of
from saverproof_reports.families import with_verdict
from saverproof_reports.text import one_line
from saverproof_reports.unsettled import excuse_phrase, failing, groups, heading
from saverproof_reports.wording import count_of

_FULL_TRACEBACKS = ("short", "long", "native")
_SENTENCE = 200
"""Characters of a summary on the terminal: it takes two lines or three."""
Contract = Mapping[str, Any]


def wants_details(config: pytest.Config) -> bool:
    """Return whether the user asked for all details, by ``-v`` or by a style of tracebacks."""
    return config.get_verbosity() > 0 or wants_tracebacks(config)


def wants_tracebacks(config: pytest.Config) -> bool:
    """Return whether the user asked for tracebacks, which show lines of the author's code."""
    return config.getoption("tbstyle") in _FULL_TRACEBACKS


@dataclass(frozen=True, slots=True)
class Screen:
    """A writer of broken contracts to the terminal.

    Attributes:
        terminal: pytest's terminal reporter.
        run: the run that found them.
        details: True if each cause is shown in full, and not only the first to fix.
    """

    terminal: Any
    run: Run
    details: bool

    def write(self, judged: Mapping[str, Any]) -> None:
        """Write the broken contracts of one saver in the order in which to fix them."""
        broken = by_cause(judged, with_verdict(judged, "violated"))
        for number, contract in enumerate(broken):
            if cause_of(judged, contract["id"]) is not None:
                continue
            if number == 0 and _fails(contract):
                self.terminal.line(f"fix this first{_consequences(judged, contract)}:", bold=True)
            self._write_cause(contract, judged, in_full=self.details or number == 0)
            if number == 0 and len(broken) > 1 + len(also_broken(judged, contract["id"])):
                self.terminal.line("then, in this order:", bold=True)

    def write_unsettled(self, judged: Mapping[str, Any]) -> None:
        """Write the unsettled contracts of one saver. Those of one program stand together."""
        for number, group in enumerate(groups(judged["contracts"])):
            entry = group[0]["unsettled"]
            fails = any(one["unsettled"]["fails"] for one in group)
            excuse = excuse_phrase(entry)
            said = f"UNSETTLED {some([one['id'] for one in group])}: {heading(group)}"
            self.terminal.line(_beside(said, excuse), red=fails, yellow=not fails)
            if number == 0 or self.details:
                for line in unsettled_lines(entry):
                    self.terminal.line(line)

    def _write_cause(self, root: Contract, judged: Mapping[str, Any], *, in_full: bool) -> None:
        script = self._command(root, "reproducer")
        if in_full:
            self._line(_sentence(root), root)
            first = root["violations"][0]
            for line in detail_lines({"contract": root["id"], **first}):
                self.terminal.line(line)
            for name, text in advice(root["id"], first.get("mistake_of", "")):
                self.terminal.line(*field(name, text))
            for found in root["violations"]:
                command = _command(found, self.run, "reproducer")
                # What the other API shows is alike.
                if command and (self.details or found["api"] == root["violations"][0]["api"]):
                    self.terminal.line(f"  reproduce {command}")
        else:
            self._line(_beside(_sentence(root), script), root)
        contracts = {one["id"]: one for one in judged["contracts"]}
        for entry in also_broken(judged, root["id"]):
            other = contracts.get(entry["contract"])
            if other is None or not other["violations"]:
                continue
            why = f" ({entry['why']})" if self.details else ""
            said = f"  also breaks {_said(other)}{why}"
            self._line(_beside(said, self._command(other, "reproducer")), other)

    def _command(self, contract: Contract, kind: str) -> str:
        commands = (_command(found, self.run, kind) for found in contract["violations"])
        return next(filter(None, commands), "")

    def _line(self, text: str, contract: Contract) -> None:
        fails = _fails(contract)
        self.terminal.line(text, red=fails, yellow=not fails)

    def write_next(self, judged: Mapping[str, Any]) -> None:
        """Write the commands that help to fix what was found."""
        broken = [one for one in by_cause(judged, with_verdict(judged, "violated")) if _fails(one)]
        broken += failing(judged)
        if not broken:
            return
        first = broken[0]
        run = f"pytest {shlex.quote('--saver=' + self._saver(judged))}{self._folder()}"
        proposed = [
            (self._command(first, "artefact"), "is it fixed?"),
            (f"{run} --saver-families={first['family']}", "its family alone"),
        ]
        # `saverproof judge` writes no cache of pytest: nothing there says what failed.
        if self.terminal.config.pluginmanager.has_plugin("cacheprovider"):
            proposed.append((f"{run} --lf", "what failed"))
        if self.run.profile != "deep":
            proposed.append((f"{run} --saver-profile=deep", "once all of this is fixed"))
        proposed = [pair for pair in proposed if pair[0]]
        width = max(len(command) for command, _ in proposed)
        for number, (command, why) in enumerate(proposed):
            self.terminal.line(f"{'' if number else 'next':<6}{command:<{width}}  # {why}")

    def _folder(self) -> str:
        """Return the option by which another run uses this run's folder, or "" if it is the
        default.
        """
        if not self.run.report_always:
            return ""
        folder = os.path.relpath(self.run.report, self.run.folder)
        return f" {shlex.quote('--saver-report=' + folder)}"

    def _saver(self, judged: Mapping[str, Any]) -> str:
        name = judged["saver"]["name"]
        facts = next(facts for facts in self.run.savers if facts["name"] == name)
        return TargetRef.from_json(facts["ref"]).saver


def some(ids: Sequence[str], most: int = 6) -> str:
    """Return the first ``most`` names, and how many more there are."""
    rest = len(ids) - most
    return ", ".join(ids[:most]) + (f" and {rest} more" if rest > 0 else "")


def _fails(contract: Contract) -> bool:
    """Return whether a contract fails the run: it is a must, and no baseline excuses it."""
    excused = all(one.get("baseline") for one in contract["violations"])
    return bool(contract["level"] == "must") and not excused


def _consequences(judged: Mapping[str, Any], contract: Contract) -> str:
    others = len(also_broken(judged, contract["id"]))
    if not others:
        return ""
    verb = "breaks" if others == 1 else "break"
    return f", {count_of(others, 'other')} {verb} by its cause"


def _sentence(contract: Contract) -> str:
    """Describe a broken contract in one line.

    Its APIs show much the same, so the first violation stands for all.
    """
    kind = "VIOLATED" if contract["level"] == "must" else "ADVICE"
    excused = all(one.get("baseline") for one in contract["violations"])
    return f"{kind}{' as in the baseline' if excused else ''} {_said(contract)}"


def _said(contract: Contract) -> str:
    found: Sequence[Mapping[str, Any]] = contract["violations"]
    apis = ", ".join(dict.fromkeys(one["api"] for one in found))
    return f"{contract['id']} ({apis}): {one_line(found[0]['summary'], _SENTENCE)}"


def _beside(line: str, command: str) -> str:
    return f"{line}: {command}" if command else line


def _command(found: Mapping[str, Any], run: Run, kind: str) -> str:
    """Return the command that shows a violation again, or "" if it has no file.

    It runs the script, or replays the artefact if there is no script.
    """
    for name, program in _kinds(kind):
        if found[name]:
            return f"{program} {os.path.relpath(run.report / found[name], run.folder)}"
    return ""


def _kinds(kind: str) -> Iterator[tuple[str, str]]:
    if kind == "reproducer":
        yield "reproducer", "python"
    yield "artefact", "saverproof replay"
