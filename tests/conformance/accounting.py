"""What judges of faults, kills, callers and graphs see is counted apart, and held against outcomes.

Functional families are held against their programs, in the self-test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from saverproof.families.atomicity.fault_programs import FaultPrograms
from saverproof.families.atomicity.neighbours.neighbour_trials import NeighbourTrials
from saverproof.families.atomicity.reads.failed_reads import FailedReads
from saverproof.families.atomicity.sweeps.record import FaultRecord
from saverproof.families.checks import CheckFamily
from saverproof.families.concurrency.contract_ids import INSTANCES
from saverproof.families.concurrency.record import Problem, SceneRecord
from saverproof.families.concurrency.scenes import agreeing
from saverproof.families.cost.family import CostJudging
from saverproof.families.durability.graphs.graph_kills import Resuming
from saverproof.families.durability.kills.record import KillRecord
from saverproof.families.graph.bench import GraphBench
from saverproof.families.graph.family import GraphJudging
from saverproof.families.items import Outcome
from saverproof.families.machines.registry import FUNCTIONAL_FAMILIES
from saverproof.families.resources.family import ResourcesJudging
from saverproof.families.resources.judging import leaks
from saverproof.families.tally import Tally
from saverproof.families.upgrade.judging import UpgradeJudging


class Accounts:
    """How many differences each tally should know of, and those that tell of others."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._seen: dict[int, tuple[Tally, int]] = {}
        self.wrong: list[str] = []
        self._watch()

    def _watch(self) -> None:
        self._tap(FaultRecord, "tried", lambda s, _, __, ___, v, ____: (s.tally, bool(v.contract)))
        self._tap(FaultRecord, "counted", lambda s, sweep: (s.tally, sweep.clean is not None))
        self._tap(FaultPrograms, "_keep", lambda s, *_: (s.tally, 1))
        self._tap(NeighbourTrials, "_keep", lambda s, _: (s.record.tally, 1))
        self._tap(FailedReads, "_keep", lambda s, _: (s.record.tally, 1))
        self._tap(KillRecord, "tried", lambda s, trial: (s.tally, len(trial.blamed)))
        self._tap(Resuming, "_find", lambda s, name, *_: (s.record.tally, name in s.wanted))
        # What instances are asked is counted before it is shortened.
        self._tap(
            SceneRecord,
            "saw",
            lambda s, ps, scene: (s.tally, len(ps) - _of_instances_asked(ps, scene)),
        )
        self._tap(SceneRecord, "saw_alone", lambda s, problems, _: (s.tally, len(problems)))
        self._tap(agreeing, "_show", lambda _, __, found, record: (record.tally, len(found)))
        self._tap(
            CostJudging,
            "_judge",
            lambda s, _, broken: (s.tally, 0 if s.one_record else len(broken)),
        )
        self._tap(
            CostJudging,
            "_judge_seen",
            lambda s, seen: (s.tally, int(seen.in_line and not s.one_record)),
        )
        self._tap(
            ResourcesJudging,
            "_judge",
            lambda s, _, works: (
                s.tally,
                len(leaks(one for one in s._measured if one.work in works))
                + sum(one.work in works for one in s._exhausted),
            ),
        )
        self._tap(UpgradeJudging, "_found", lambda s, name, found: (s.tally, 1))
        self._tap(
            CheckFamily, "_tell", lambda _, __, t, ___, seen, ____: (t, bool(seen.disagreements))
        )
        judge, compared, outcome = GraphJudging._judge, GraphBench.compared, Tally.outcome

        def judging(self_: Any, play: Any, saver: Any) -> None:
            def comparing(bench: Any, play: Any, expected: Any, on: Any) -> Any:
                comparison = compared(bench, play, expected, on)
                self._add(self_.tally, len(comparison.differences) if on is saver else 0)
                return comparison

            self._monkeypatch.setattr(GraphBench, "compared", comparing)
            judge(self_, play, saver)

        def told(tally: Tally) -> Outcome:
            made = outcome(tally)
            self._hold_against(tally, made)
            return made

        self._monkeypatch.setattr(GraphJudging, "_judge", judging)
        self._monkeypatch.setattr(Tally, "outcome", told)

    def _tap(self, owner: Any, name: str, count: Callable[..., tuple[Tally, int]]) -> None:
        original = getattr(owner, name)

        def tapped(*given: Any) -> Any:
            self._add(*count(*given))
            return original(*given)

        self._monkeypatch.setattr(owner, name, tapped)

    def _add(self, tally: Tally, times: int) -> None:
        self._seen[id(tally)] = (tally, self._seen.get(id(tally), (tally, 0))[1] + times)

    def _hold_against(self, tally: Tally, outcome: Outcome) -> None:
        if tally.plan.family in FUNCTIONAL_FAMILIES:
            return
        told = outcome.extra["differences"]
        elsewhere = sum(left["times"] for left in told["elsewhere"])
        seen = self._seen.get(id(tally), (tally, 0))[1] + _disks(outcome.extra.get("power"))
        accounted = told["shown"] + told["explained"] + told["unknown"] + elsewhere
        if not seen == told["seen"] + elsewhere == accounted or told["shown"] != len(
            outcome.findings
        ):
            self.wrong.append(f"{tally.plan.family}: {seen} differences seen, told of as {told}")


def _disks(power: dict[str, Any] | None) -> int:
    """The disk images that showed something."""
    if power is None:
        return 0
    kinds = (power, *([power["failed_syncs"]] if "failed_syncs" in power else []))
    return sum(_wrong(figures) for figures in kinds)


def _wrong(figures: dict[str, Any]) -> int:
    lost = sum(images for lost, images in figures["by_lost"].items() if int(lost))
    return int(figures["corrupt"] + figures["torn"] + figures["reordered"] + lost)


@pytest.fixture(autouse=True)
def every_difference_is_accounted_for(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each is shown, explained, unknown, or of another family."""
    accounts = Accounts(monkeypatch)
    yield
    assert not accounts.wrong, "\n".join(accounts.wrong)


def _of_instances_asked(problems: Sequence[Problem], scene: Mapping[str, Any]) -> int:
    asked = scene.get("scene") == agreeing.SCENE
    return sum(asked and problem.contract == INSTANCES for problem in problems)
