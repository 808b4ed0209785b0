"""Writes down each trial before it is made, since the process may not survive it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from saverproof.families.answer import Blame
from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.verdicts import CANCELLED, USABLE
from saverproof.programs.steps.codec import from_json, to_json
from saverproof.programs.steps.definitions import Program
from saverproof.programs.steps.describing import describe


class Journal:
    """A file that holds the latest trial, in the form of a finding's ``program``. Without a path
    nothing is written.
    """

    def __init__(self, path: str | None) -> None:
        self._path = None if path is None else Path(path)

    def note(self, program: Program, injection: Injection | None) -> None:
        """Write down a program whose last step is to fail by this injection."""
        fault = None if injection is None else injection.as_data()
        self._write({"program": to_json(program), "fault": fault})

    def note_random(self, program: Program, faults: Mapping[int, Injection]) -> None:
        """Write down a random program whose last step is about to be taken."""
        lines = {str(at): injection.as_data() for at, injection in faults.items()}
        self._write({"program": to_json(program), "faults": lines})

    def _write(self, line: dict[str, Any]) -> None:
        if self._path is not None:
            self._path.write_text(json.dumps(line) + "\n", encoding="utf-8")


def blamed(journal: Sequence[Any]) -> Blame:
    """Return what to report about a saver that ended its process, given the lines of a journal."""
    last = journal[-1]
    program = from_json(last["program"])
    lines = [describe(step) for step in program]
    given = last.get("faults") or {str(len(program) - 1): last.get("fault")}
    faults = {int(at): Injection.from_data(data) for at, data in given.items() if data is not None}
    for at in sorted(faults, reverse=True):
        lines.insert(at, f"fault: {faults[at].describe()}")
    cancelled = any(injection.kind == "cancellation" for injection in faults.values())
    return Blame(contract=CANCELLED if cancelled else USABLE, steps=tuple(lines), program=last)
