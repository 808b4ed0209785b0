"""The settings of a whole run, which the controller finds out once and hands to every worker."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import pytest

from saverproof.run.known.entries import Entry
from saverproof.savers.facts import Facts
from saverproof.suite.planning import item_id, planned
from saverproof.suite.timing import TimePlan, item_name, time_plan

FOLDER = ".saverproof"
"""The folder of results in the invocation folder, if there is no ``--saver-report``."""


@dataclass(frozen=True, slots=True)
class Run:
    """The settings of one run of pytest with ``--saver``."""

    savers: tuple[Facts, ...]
    known: dict[str, tuple[Entry, ...]]
    """The known violations that apply to each saver, by its name."""
    families: tuple[str, ...] | None
    """The families to judge; None: all."""
    contracts: tuple[str, ...] | None
    """The contracts that the run is about; None: all."""
    pinned: str | None
    """The pinned contract set (``contracts.sets``); None if all contracts count."""
    apis: str
    profile: str
    seed: int
    watchdog_s: float
    in_process: bool
    folder: Path
    """The folder in which pytest was started."""
    report: Path
    """The folder of the results."""
    report_always: bool
    """True if results are written even if nothing was violated."""
    token: str
    """The common part of the names of the run's scratch folders."""
    items: tuple[str, ...] | None = None
    """The names of the items that node ids of contracts ask for; None without such node ids."""
    workers: int = 1
    budget_s: float | None = None
    """The seconds that the whole run may take (``--saver-budget``); None: no limit."""
    times: dict[str, TimePlan] = field(default_factory=dict)
    """Saver's name -> the estimated times of its items, and their limits; see ``timed``."""
    baseline: dict[str, dict[str, Any]] | None = None
    """The excuses of an earlier report (``saverproof_reports.Baseline``); None without a
    baseline.
    """
    by_project: bool = False
    """True if the project's own table asks for the run, and not the command line."""
    beside_tests: bool = False
    """True if the suite is collected beside the project's own tests. None of those was named."""
    shipped: bool = False
    """True if the flaws that the kit knows of released savers are excused."""
    baseline_file: str | None = None
    """The path of the baseline's report, as the user gave it."""

    def timed(self, items: Iterable[str]) -> Self:
        """Return this run with times for those items that are left: they share its budget."""
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
        """The estimated seconds of all items."""
        return sum(plan.estimate_s for plan in self.times.values())

    def limit_s(self, saver: str, family: str, api: str) -> float | None:
        """Return the seconds that an item may take, or None without a limit."""
        plan = self.times.get(saver)
        return None if plan is None else plan.items.get(item_name(family, api))

    def to_text(self) -> str:
        """Return the run as ASCII JSON, for an xdist worker."""
        plain = asdict(self)
        return json.dumps({**plain, "folder": str(self.folder), "report": str(self.report)})

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Make a run from the result of ``to_text``."""
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
