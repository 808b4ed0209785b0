"""The items of the suite: each judges a family of contracts through one API of one saver."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from saverproof.contracts.registry import contracts, family_table
from saverproof.families.items import Finding, ItemPlan, Outcome, Unsettled
from saverproof.process.scratch import in_memory, scratch_folder
from saverproof.run.known.entries import Entry, entry_for
from saverproof.run.plugin.failures import NotJudged, Stale, Violated, failure_text
from saverproof.run.plugin.judged import Judged
from saverproof.run.plugin.judging import KEPT_JUDGE
from saverproof.run.plugin.known_examples import pinned, run_examples
from saverproof.run.plugin.progress import Figures
from saverproof.run.plugin.run import FOLDER, RUN, Run
from saverproof.run.plugin.script_paths import from_its_place
from saverproof.savers.facts import Facts
from saverproof.suite.planning import level_in
from saverproof_reports import Baseline
from saverproof_reports.junit import item_properties
from saverproof_reports.text import harmless

_CUT = 4096
"""The most characters of one text in a report, as in the report's own limit."""
_STEPS = 400
"""The most steps of one program in a report: shrunk programs are far shorter."""


class WithoutSaver(pytest.Item):
    """A stand-in for the suite in a module that imported it, when there is no ``--saver``."""

    def runtest(self) -> None:
        """Skip the test, and say why."""
        pytest.skip("the suite judges what --saver names, and there is no --saver")


class FamilyItem(pytest.Item):
    """An item that judges one family through one API.

    It fails once for all contracts that it finds violated.
    """

    def __init__(self, *, facts: Facts, family: str, api: str, **rest: Any) -> None:
        super().__init__(**rest)
        self.facts = facts
        self.family = family
        self.api = api
        self.verdict: str | None = None
        """The item's event for the report, as ASCII JSON; None until the item has run."""
        self.add_marker(pytest.mark.saverproof)
        # So that -k finds the family of a contract.
        self.extra_keyword_matches.update(contract.id for contract in contracts(family))
        if self.config.pluginmanager.hasplugin("timeout"):
            # The watchdog is the time limit here; pytest-timeout's was meant for other tests.
            self.add_marker(pytest.mark.timeout(0))

    @cached_property
    def location(self) -> tuple[str, int | None, str]:
        """The item's location for the terminal: the suite's name, and not where it is installed."""
        if self.nodeid.startswith("saverproof::"):
            return "saverproof", None, self.name
        return super().location

    def runtest(self) -> None:
        """Judge the family and keep the verdict.

        Raises:
            Violated: a must was violated.
            Stale: a known violation no longer occurs.
            NotJudged: the family could not be judged.
        """
        run = self.config.stash[RUN]
        figures = Figures(self.config, self.name)
        judge = self.config.stash[KEPT_JUDGE]
        root = in_memory() if family_table(self.family).in_memory else None
        with scratch_folder(run.token, root) as folder:
            plan = self._plan(run, str(folder))
            examples = run_examples(judge, plan, self._pinned(run))
            judged = judge.judge(plan, figures.take)
        judged = replace(judged, outcome=examples.added_to(judged.outcome).about(run.contracts))
        if judged.output:
            self.add_report_section("call", "saver output", harmless(judged.output, _CUT))
        event = self._event(judged.outcome, run) | {"stale": examples.stale}
        self.verdict = json.dumps(event, ensure_ascii=True)
        self.user_properties.extend(item_properties(event))
        self._fail(event["findings"], examples.stale, judged, run)

    def _pinned(self, run: Run) -> Iterator[Entry]:
        name = self.facts["name"]
        return pinned(run.known[name], name, self.family, self.api)

    def _plan(self, run: Run, folder: str) -> ItemPlan:
        return ItemPlan(
            target=dict(self.facts["ref"]),
            facts=self.facts,
            family=self.family,
            api=self.api,
            profile=run.profile,
            seed=run.seed,
            folder=folder,
            budget_s=run.limit_s(self.facts["name"], self.family, self.api),
            examples=str(run.folder / FOLDER / "examples"),
        )

    def _event(self, outcome: Outcome, run: Run) -> dict[str, Any]:
        return {
            **asdict(outcome),
            "event": "item",
            "saver": self.facts["name"],
            "family": self.family,
            "api": self.api,
            "seed": run.seed,
            "findings": self._findings(outcome, run),
            "handed": [self._finding(finding, run) for finding in outcome.handed],
            "unsettled": {name: _plain(seen) for name, seen in outcome.unsettled.items()},
            "excuses": {name: self._excuses(name, run) for name in _in_question(outcome)},
        }

    def _excuses(self, contract: str, run: Run) -> dict[str, Any]:
        """Return the excuses for differences that may break a contract: "known", "baseline" or
        both.
        """
        saver = self.facts["name"]
        entry = entry_for(run.known[saver], contract, self.api)
        known = {} if entry is None else {"known": {"reason": entry.reason, "link": entry.link}}
        baseline = None if run.baseline is None else Baseline(run.baseline)
        excused = baseline is not None and baseline.excuses_unsettled(saver, contract)
        return {**known, **({"baseline": True} if excused else {})}

    def _findings(self, outcome: Outcome, run: Run) -> list[dict[str, Any]]:
        """Return the findings for the report; ``number`` counts those of one contract and phase."""
        seen: Counter[tuple[str, str]] = Counter()
        found = []
        for finding in outcome.findings:
            seen[finding.contract, finding.phase] += 1
            number = seen[finding.contract, finding.phase]
            found.append(self._finding(finding, run) | {"number": number})
        return found

    def _finding(self, finding: Finding, run: Run) -> dict[str, Any]:
        entries = run.known[self.facts["name"]]
        entry = entry_for(entries, finding.contract, finding.api)
        known = None if entry is None else {"reason": entry.reason, "link": entry.link}
        saver = self.facts["name"]
        excused = run.baseline is not None and Baseline(run.baseline).excuses(
            saver, finding.contract, finding.api
        )
        return {
            **asdict(finding),
            "reproducer": from_its_place(
                finding.reproducer, run.folder, run.report / "reproducers"
            ),
            "summary": harmless(finding.summary, _CUT),
            "expected": harmless(finding.expected, _CUT),
            "observed": harmless(finding.observed, _CUT),
            "steps": [harmless(step, _CUT) for step in finding.steps[:_STEPS]],
            "known": known,
            "baseline": excused or None,
            **_recorded(finding.program),
        }

    def _fail(
        self,
        findings: list[dict[str, Any]],
        stale: list[dict[str, str]],
        judged: Judged,
        run: Run,
    ) -> None:
        levels = self._levels(run)
        failing = [
            finding
            for finding in findings
            if finding["known"] is None
            and finding["baseline"] is None
            and levels.get(finding["contract"], "must") == "must"
        ]
        if failing:
            raise Violated(failure_text(failing, self.facts, run))
        certain = [entry["message"] for entry in stale if entry["severity"] == "error"]
        if certain:
            raise Stale("\n".join(certain))
        if judged.trouble is not None:
            raise NotJudged(harmless(judged.trouble, 4 * _CUT))
        if not findings and not any(judged.outcome.checked.values()):
            outcome = judged.outcome
            reasons = [*outcome.unexercised.values(), *outcome.inapplicable.values()]
            why = "; ".join(dict.fromkeys(reasons))
            pytest.skip(f"no contract was judged: {why or 'the search reached none'}")

    def _levels(self, run: Run) -> Mapping[str, str]:
        installed = self.facts["packages"]["langgraph-checkpoint"]
        return {
            entry.id: str(level_in(run.pinned, entry, installed))
            for entry in contracts(self.family)
        }

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return what was found, without a traceback through the kit."""
        if isinstance(excinfo.value, Violated | NotJudged | Stale):
            return excinfo.getrepr(style="value")
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the item's location and name."""
        return self.path, None, self.name


def _plain(seen: Unsettled) -> dict[str, Any]:
    """Return unsettled differences as plain data, with their texts harmless and cut."""
    steps = [harmless(step, _CUT) for step in seen["steps"][:_STEPS]]
    return {**seen, "why": harmless(seen["why"], _CUT), "steps": steps}


def _in_question(outcome: Outcome) -> set[str]:
    """Return the contracts that may be broken by differences which the item could not settle."""
    elsewhere = outcome.extra.get("differences", {}).get("elsewhere", ())
    named = (name for left in elsewhere for name in left["contracts"])
    return {*outcome.unsettled, *outcome.hidden_by, *named}


def _recorded(program: Any) -> dict[str, Any]:
    """Return the faults and the schedule of a program, by the names that artefacts use."""
    if not isinstance(program, Mapping):
        return {}
    faults = {name: program[name] for name in _FAULTS if program.get(name) is not None}
    return {"fault_plan": faults or None, "schedule": program.get("schedule")}


_FAULTS = ("fault", "faults", "kill", "power")
