"""What a run says of a saver with many flaws: the verdicts of its report, flaw by flaw."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from saverproof.errors import SaverproofError
from saverproof.families.items import Finding, Outcome
from saverproof.families.registry import judged
from saverproof.savers.facts import Facts
from saverproof.suite.planning import saver_event
from saverproof_reports import report_of
from saverproof_reports.causes import by_cause
from tests.conformance.judging_support import plan_of
from tests.crowds.flawed import Flaw, FlawedSaver, api_of


class Told(StrEnum):
    """What becomes of a flaw in a run."""

    BY_ITS_CONTRACT = "told"
    OPEN = "open"
    """Its contract is said not to be settled, in a run that fails."""
    OPEN_IN_GREEN = "open in a green run"
    HELD = "held"


SILENT = (Told.OPEN_IN_GREEN, Told.HELD)
"""What must not become of a flaw."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The report of one run.

    Attributes:
        verdicts: what each contract came to.
        reasons: why, where a verdict has a reason.
        musts: the contracts that fail a run.
        findings: the violations of each broken contract.
        order: the broken contracts in the order in which the report has them mended.
        twice: the contracts with two findings in one family that name the same mistake.
        unsettled: contract -> the program that shows a difference which nothing explains.
        trouble: why a family was not judged at all.
        seconds: what it took.
    """

    verdicts: Mapping[str, str]
    reasons: Mapping[str, str]
    musts: frozenset[str]
    findings: Mapping[str, tuple[Finding, ...]]
    order: tuple[str, ...]
    twice: tuple[str, ...]
    unsettled: Mapping[str, Any]
    trouble: tuple[str, ...]
    seconds: float

    @property
    def green(self) -> bool:
        """Whether the run would end with exit 0."""
        return not (self.trouble or self.musts & (self.findings.keys() | self.unsettled.keys()))

    @property
    def clean(self) -> bool:
        """Whether nothing is said against the saver, not even as advice."""
        return not (self.trouble or self.findings or self.unsettled)

    def of(self, flaw: Flaw) -> Told:
        """What became of a flaw; a difference that is advised on cannot fail a run."""
        name = flaw.contract
        if name in self.findings:
            return Told.BY_ITS_CONTRACT
        if self.verdicts[name] in ("held", "not-applicable"):
            return Told.HELD
        return Told.OPEN_IN_GREEN if self.green and name in self.musts else Told.OPEN


def judge(saver: FlawedSaver, mended: Collection[str] = (), *, seed: int = 0) -> Judgement:
    """Judge a saver without some of its flaws, in the families that are asked of it."""
    started = time.perf_counter()
    outcomes: dict[str, Outcome] = {}
    trouble = []
    with saver.served():
        target, facts = saver.target(mended), saver.facts()
        for family in saver.families:
            with TemporaryDirectory() as folder:
                api = api_of(family)
                plan = plan_of(target, family, api, Path(folder), seed=seed, facts=facts)
                try:
                    outcomes[family] = judged(plan, target)
                except SaverproofError as error:
                    trouble.append(f"{family}: {error.message}")
    return _judgement(facts, outcomes, tuple(trouble), time.perf_counter() - started)


def _judgement(
    facts: Mapping[str, Any],
    outcomes: Mapping[str, Outcome],
    trouble: tuple[str, ...],
    seconds: float,
) -> Judgement:
    report = report_of(_events(facts, outcomes))
    [of_saver] = report["savers"]
    contracts = {each["id"]: each for each in of_saver["contracts"]}
    findings: dict[str, list[Finding]] = {}
    unsettled: dict[str, Any] = {}
    for outcome in outcomes.values():
        for found in (*outcome.findings, *outcome.handed):
            findings.setdefault(found.contract, []).append(found)
        for name, seen in outcome.unsettled.items():
            unsettled.setdefault(name, seen["program"])
    broken = [each["id"] for each in by_cause(of_saver, [contracts[name] for name in findings])]
    return Judgement(
        verdicts={name: each["verdict"] for name, each in contracts.items()},
        reasons={name: each["reason"] for name, each in contracts.items() if each["reason"]},
        musts=frozenset(name for name, each in contracts.items() if each["level"] == "must"),
        findings={name: tuple(found) for name, found in findings.items()},
        order=tuple(broken),
        twice=tuple(name for outcome in outcomes.values() for name in _told_twice(outcome)),
        unsettled={name: seen for name, seen in unsettled.items() if name not in findings},
        trouble=trouble,
        seconds=seconds,
    )


def _told_twice(outcome: Outcome) -> list[str]:
    causes = Counter((each.contract, each.mistake) for each in outcome.findings if each.mistake)
    return [contract for (contract, _), count in causes.items() if count > 1]


def _events(facts: Mapping[str, Any], outcomes: Mapping[str, Outcome]) -> list[dict[str, Any]]:
    """The events of a run, as the plugin writes them."""
    known: Facts = {
        "name": "crowd",
        "ref": {"saver": "crowd"},
        "saver_class": "crowd",
        "distribution": None,
        "version": None,
        **facts,
    }
    items = [
        {
            **asdict(outcome),
            "event": "item",
            "saver": "crowd",
            "family": family,
            "api": api_of(family),
            "seed": 0,
        }
        for family, outcome in outcomes.items()
    ]
    pairs = [(family, api_of(family)) for family in outcomes]
    return [dict(saver_event(known, pairs, None)), *items, {"event": "end"}]
