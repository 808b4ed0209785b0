"""Callers that hang once are not made to hang again: what is not asked then is no pass."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, plan_of

from saverproof.families.concurrency import history_judging
from saverproof.families.concurrency.callers.workload import able_of
from saverproof.families.concurrency.contract_ids import PROCESSES, THREADS, TORN
from saverproof.families.concurrency.effort import SceneEffort
from saverproof.families.concurrency.histories.history_playing import CallPlan, Played, Sharing
from saverproof.families.concurrency.history_judging import HistoryJudging
from saverproof.families.concurrency.record import SceneRecord
from saverproof.families.concurrency.scenes.crossing import cross
from saverproof.families.concurrency.upkeep import upkeep_scenes
from saverproof.families.concurrency.upkeep.upkeep_scenes import UPKEEPS, UpkeepJudging
from saverproof.families.tally import Tally
from saverproof_faults.kill import DiedBy
from saverproof_savers import targets


def test_callers_hang_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Sharing] = []

    def played(bench: Any, scripts: Iterable[CallPlan]) -> list[Played]:
        asked.extend(script.sharing for script in scripts)
        ends = {Sharing.SHARED: {"trouble": "not to be judged here"}}
        hung = {"hung": "no answer for 4 s\nthread caller 2"}
        return [Played(script, (), **ends.get(script.sharing, hung)) for script in scripts]

    for module in (history_judging, upkeep_scenes):
        monkeypatch.setattr(module, "play_at_once", played)
    monkeypatch.setattr(upkeep_scenes, "cross", lambda *arguments: None)
    monkeypatch.setattr(HistoryJudging, "_rehearse", lambda judging: True)
    monkeypatch.setattr(UpkeepJudging, "rehearse", lambda judging: True)
    facts = facts_from(EVERY_OPERATION)
    plan = plan_of(targets.sqlite, "concurrency", "sync", tmp_path, facts=facts)
    bench: Any = SimpleNamespace(plan=plan, target=targets.sqlite)
    record = SceneRecord(Tally(plan))
    able = able_of({*facts["capabilities"], *facts["operations"]["sync"]})
    effort = SceneEffort(
        shared=1, instances=3, processes=2, races=0, upkeep=1, upkeep_apart=1, reads=0
    )

    HistoryJudging(bench, record, able, effort).run()
    assert asked == [Sharing.SHARED, Sharing.INSTANCES]
    UpkeepJudging(bench, record, frozenset(facts["operations"]["sync"])).run(effort)
    assert asked == [Sharing.SHARED, Sharing.INSTANCES, Sharing.SHARED]

    assert record.found.keys() == {PROCESSES}
    behind = f"callers hang, and no more were asked: {PROCESSES} stands in the way"
    assert record.tally.unknown[TORN] == behind
    outcome = record.tally.outcome()
    assert {outcome.unexercised[name] for name in UPKEEPS} == {behind}
    assert "no histories by several processes were played" in " ".join(record.tally.notes)


@pytest.mark.parametrize("pair", ["prunes of two threads, named in both orders", ""])
def test_what_hangs_with_one_caller_is_no_matter_of_calls_that_cross(
    pair: str, tmp_path: Path
) -> None:
    still = {"hung": True, "seconds": 4.0, "stacks": "thread stage"}
    value = {"pair": pair, "made": 1, "raised": [], "trouble": "", "standstill": still}
    result = SimpleNamespace(died_by=DiedBy.FINISHED, value=value)
    facts = facts_from(EVERY_OPERATION)
    plan = plan_of(targets.sqlite, "concurrency", "sync", tmp_path, facts=facts)
    bench: Any = SimpleNamespace(store=lambda: nullcontext({}), played=lambda *_: result)
    record = SceneRecord(Tally(plan))
    cross(bench, EVERY_OPERATION["sync"], record)
    assert record.found.keys() == ({THREADS} if pair else set())
    assert record.tally.unknown.keys() == (set() if pair else {THREADS})
