"""What is fixed for a whole run: found out once by the controller, handed to every worker."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import pytest

from saverproof.facts import Facts
from saverproof.known.entries import Entry
from saverproof.suite.planning import item_id, planned
from saverproof.suite.timing import TimePlan, item_name, time_plan

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
    contracts: tuple[str, ...] | None
    """The contracts that the run is about; None: all."""
    pinned: str | None
    """The contract set that is pinned (``contracts.sets``); None: all contracts count."""
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
    items: tuple[str, ...] | None = None
    """The names of the items that node ids of contracts ask for; None: there are no such ids."""
    workers: int = 1
    budget_s: float | None = None
    """What the whole run may take (``--saver-budget``)."""
    times: dict[str, TimePlan] = field(default_factory=dict)
    """For each saver's name, how long its items take, and may take; see ``timed``."""
    baseline: dict[str, dict[str, Any]] | None = None
    """What an earlier report excuses (``saverproof_reports.Baseline``); None: there is none."""
    by_project: bool = False
    """Whether the project's own table asks for the run, not the command line."""
    beside_tests: bool = False
    """Whether the suite is collected beside the project's own tests, none of which were named."""
    baseline_file: str | None = None
    """The path of that report, as the user gave it."""

    def timed(self, items: Iterable[str]) -> Self:
        """The same run, once it is known which items are left of it: they share its time."""
        left = set(items)
        of_saver: dict[str, list[tuple[str, str]]] = {}
        for facts in self.savers:
            for family, api in planned(facts, self.apis):
                if item_id(facts, family, api) in left:
                    of_saver.setdefault(facts["name"], []).append((family, api))
        share_s = None if self.budget_s is None else self.budget_s / max(len(of_saver), 1)
        times = {
            facts["name"]: time_plan(facts, pairs, self.profile, share_s, self.workers)
            for facts in self.savers
            if (pairs := of_saver.get(facts["name"]))
        }
        return replace(self, times=times)

    @property
    def estimate_s(self) -> float:
        """How long the items of all savers take."""
        return sum(plan.estimate_s for plan in self.times.values())

    def limit_s(self, saver: str, family: str, api: str) -> float | None:
        """The seconds of an item, if they are limited."""
        plan = self.times.get(saver)
        return None if plan is None else plan.items.get(item_name(family, api))

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
                "times": {name: TimePlan(**time) for name, time in plain["times"].items()},
                "families": _optional(plain["families"]),
                "contracts": _optional(plain["contracts"]),
                "items": _optional(plain["items"]),
                "folder": Path(plain["folder"]),
                "report": Path(plain["report"]),
            }
        )


def _optional(names: list[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)


RUN = pytest.StashKey[Run]()
