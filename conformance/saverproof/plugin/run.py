"""What is fixed for a whole run: found out once by the controller, handed to every worker."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from saverproof.facts import Facts
from saverproof.known.entries import Entry

FOLDER = ".saverproof"
"""Where results go without ``--saver-report``, in the invocation folder."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of pytest with ``--saver``."""

    savers: tuple[Facts, ...]
    known: dict[str, tuple[Entry, ...]]
    """For each saver's name, the known violations that apply to it."""
    families: tuple[str, ...] | None
    """The families to judge; None: all."""
    apis: str
    profile: str
    seed: int
    watchdog_s: float
    in_process: bool
    folder: Path
    """The invocation folder."""
    report: Path
    """Where results go."""
    report_always: bool
    """Whether they go there even if nothing was violated."""
    token: str
    """What the names of the run's scratch folders have in common."""
    baseline: dict[str, dict[str, Any]] | None = None
    """What an earlier report excuses (``saverproof_reports.Baseline``); None: there is none."""
    baseline_file: str | None = None
    """The path of that report, as the user gave it."""

    def to_text(self) -> str:
        """ASCII JSON, for an xdist worker."""
        plain = asdict(self)
        return json.dumps({**plain, "folder": str(self.folder), "report": str(self.report)})

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The run that ``to_text`` gave."""
        plain = json.loads(text)
        known = {
            name: tuple(Entry(**entry) for entry in entries)
            for name, entries in plain["known"].items()
        }
        return cls(
            **{
                **plain,
                "savers": tuple(plain["savers"]),
                "known": known,
                "families": None if plain["families"] is None else tuple(plain["families"]),
                "folder": Path(plain["folder"]),
                "report": Path(plain["report"]),
            }
        )


RUN = pytest.StashKey[Run]()
