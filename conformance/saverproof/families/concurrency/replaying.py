"""Plays a recorded scene again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saverproof.families.answer import ReplayAnswer, Status, not_seen, unclear
from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.records import Operation
from saverproof.families.concurrency.callers.schedules import Schedule
from saverproof.families.concurrency.callers.workload import THEMES_BY_NAME, Able, able_of
from saverproof.families.concurrency.children import CHILDREN
from saverproof.families.concurrency.contract_ids import ORDER
from saverproof.families.concurrency.effort import EFFORTS
from saverproof.families.concurrency.graphs.graph_scenes import SCENES, beside_graphs
from saverproof.families.concurrency.held import held_putting, held_reading, reading_again, stopping
from saverproof.families.concurrency.histories.alone import OneCaller, divided
from saverproof.families.concurrency.histories.history_playing import (
    CallPlan,
    Played,
    Sharing,
    ended,
    locked,
    play,
    rehearsal,
)
from saverproof.families.concurrency.histories.judging import CUT_OFF, judge_history
from saverproof.families.concurrency.histories.sequential_flaws import SequentialFlaws
from saverproof.families.concurrency.histories.sequential_spec import USUAL
from saverproof.families.concurrency.record import SceneRecord
from saverproof.families.concurrency.scenes import agreeing, crossing, late_writing, loop_judging
from saverproof.families.concurrency.scenes.agreeing import Asking
from saverproof.families.concurrency.scenes.iteration import By
from saverproof.families.concurrency.scenes.scene_judging import ask, iterate, race
from saverproof.families.concurrency.upkeep import upkeep_rounds
from saverproof.families.concurrency.upkeep.upkeep_scenes import UpkeepJudging, UpkeepPlan
from saverproof.families.items import ItemPlan
from saverproof.families.tally import Tally
from saverproof.programs.steps.codec import decode
from saverproof.savers.targets.target import Target
from saverproof_faults.kill import HarnessError

TIMES = 10
"""How often a recorded history is played again: threads never take exactly the same turns twice."""

RACES = 6
"""How often a recorded race of first calls is played again."""

_GRAPHS = 3
"""How often graphs are played before they count as right. A graph makes some of its calls at once:
in one play of forty, their order did not prove that a copy was torn.
"""


def replay(plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
    """Play a recorded scene again. Return whether it still breaks the contract.

    Raises:
        ValueError: the data is no recorded scene.
        OpeningError: the target's ``drop`` raised.
    """
    if not isinstance(data, Mapping) or "scene" not in data:
        raise ValueError(f"found {data!r:.60}, expected an object with a scene")
    record = SceneRecord(Tally(plan))
    try:
        with CallerBench.of(plan, target, CHILDREN) as bench:
            times = _play(bench, data, contract, record)
    except HarnessError as problem:
        return unclear(f"no process could be started for it: {problem}")
    except KeyError as missing:
        raise ValueError(f"found no {missing}, expected a recorded scene") from None
    found = record.found.get(contract)
    if found is not None:
        shown = found.problem
        return ReplayAnswer(Status.FAILING, shown.summary, shown.expected, shown.observed)
    if record.tally.unknown:
        # A scene that was not seen to its end does not count as mended.
        unknown = record.tally.unknown
        return unclear(unknown.get(contract, next(iter(unknown.values()))))
    if times > 1:
        return not_seen(times)
    return ReplayAnswer(Status.FIXED, "the same scene shows no flaw")


def _play(bench: CallerBench, data: Mapping[str, Any], contract: str, record: SceneRecord) -> int:
    """Return how often the scene was played."""
    match data["scene"]:
        case agreeing.SCENE:
            agreeing.again(bench, Asking.from_json(data), record)
        case "iteration":
            iterate(bench, By(data["by"]), record)
        case "unknown reads":
            ask(bench, record)
        case "race":
            file = None
            for number in range(RACES):
                file = race(bench, number, record, file)
                if contract in record.found:
                    break
            return RACES
        case "lock held":
            _look(bench, locked(bench, float(data["hold_s"]), _able(bench)), None, contract, record)
        case held_reading.SCENE:
            most = EFFORTS["default"].reads
            held_reading.again(bench, _able(bench), data, record, most)
        case held_putting.SCENE:
            most = EFFORTS["default"].reads
            held_putting.again(bench, _able(bench), data, record, most)
        case held_reading.STOPPED:
            stopping.again(bench, _able(bench), data, record)
        case reading_again.SCENE:
            most = EFFORTS["default"].reads
            reading_again.again(bench, _able(bench), data, record, most)
        case crossing.SCENE:
            for _ in range(RACES):
                crossing.cross(bench, _capabilities(bench), record)
                if contract in record.found:
                    break
            return RACES
        case late_writing.SCENE:
            late_writing.write_late(bench, record)
        case loop_judging.SCENE:
            loop_judging.let_wait(bench, record)
            if not record.tally.checked[contract]:
                record.tally.unsure([contract], "no call of a driver that is known was seen")
        case upkeep_rounds.SCENE:
            return _upkeep(bench, data, contract, record)
        case scene if scene in SCENES:
            _graphs(bench, data, contract, record)
        case "history":
            return _histories(bench, _script(data), contract, record)
        case other:
            raise ValueError(f"found the scene {other!r:.60}, which is unknown")
    return 1


def _graphs(
    bench: CallerBench, data: Mapping[str, Any], contract: str, record: SceneRecord
) -> None:
    flaws, beside = SequentialFlaws(bench.plan, bench.target), SCENES[data["scene"]]
    effort = EFFORTS[bench.plan.profile]
    most = effort.places_apart if beside.elsewhere else effort.places
    met = False
    for _ in range(_GRAPHS):
        met |= beside_graphs(bench, record, flaws, beside, most, (data["name"],))
        if contract in record.found:
            return
    if not met:
        no_step = f"no step of the graph fell into the {beside.doing}"
        why = "the graph was refused a call" if contract in record.refused else no_step
        record.tally.unsure([contract], why)


def _upkeep(bench: CallerBench, data: Mapping[str, Any], contract: str, record: SceneRecord) -> int:
    plan = UpkeepPlan.of(_script(data))
    judging = UpkeepJudging(bench, record, _capabilities(bench))
    if not judging.rehearse():
        return 1
    for _ in range(TIMES):
        played = play(bench, plan.calls)
        judging.look(plan, played)
        if contract in record.found:
            break
        if not ended(played) and (played.trouble or played.slow):
            why = f"it could not be run: {played.trouble or played.slow}"
            record.tally.unknown[contract] = why
            break
    return TIMES


def _able(bench: CallerBench) -> Able:
    return able_of(_capabilities(bench))


def _capabilities(bench: CallerBench) -> frozenset[str]:
    """Return the saver's capabilities, and the operations that it has in this API."""
    facts = bench.plan.facts
    return frozenset({*facts["capabilities"], *facts["operations"][bench.plan.api]})


def _histories(bench: CallerBench, script: CallPlan, contract: str, record: SceneRecord) -> int:
    rehearsed = play(bench, rehearsal(str(bench.plan.seed), _able(bench), EFFORTS["quick"]))
    alone = OneCaller.rehearsed(rehearsed.events)
    for _ in range(TIMES):
        played = play(bench, script)
        _look(bench, played, alone, contract, record)
        # A history that was cut off took so long that it is not played again.
        if contract in record.found or played.slow:
            break
    return TIMES


def _look(
    bench: CallerBench,
    played: Played | None,
    alone: OneCaller | None,
    contract: str,
    record: SceneRecord,
) -> None:
    """Record what a history shows, or why it shows nothing about the contract. Problems that one
    caller ``alone`` has as well are left out.
    """
    if played is None:
        record.tally.unknown[contract] = "the store is in no SQLite file any more"
        return
    end = ended(played)
    if not end and (played.trouble or played.slow):
        record.tally.unknown[contract] = f"it could not be run: {played.trouble or played.slow}"
        return
    shared = played.script.sharing is Sharing.SHARED
    judgement = judge_history(
        played.events,
        shared=shared,
        semantics=USUAL if alone is None else alone.semantics,
        known=() if alone is None else alone.known,
    )
    problems = end or judgement.problems
    if alone is not None and problems and not end:
        problems = divided(bench, played, problems, alone).of_callers
    record.saw(problems, {})
    others = sorted({problem.contract for problem in problems} - {contract})
    if others and (end or contract == ORDER):
        why = f"it breaks {', '.join(others)} instead, which hides the rest"
        record.tally.unknown[contract] = why
    elif judgement.cut_off and contract == ORDER:
        record.tally.unknown[contract] = CUT_OFF


def _script(data: Mapping[str, Any]) -> CallPlan:
    if data["theme"] not in THEMES_BY_NAME:
        raise ValueError(f"found the theme {data['theme']!r:.60}, which is unknown")
    return CallPlan(
        Sharing(data["sharing"]),
        THEMES_BY_NAME[data["theme"]],
        decode(Schedule, data["schedule"]),
        tuple(decode(Operation, one) for one in data["before"]),
        tuple(tuple(decode(Operation, one) for one in made) for made in data["callers"]),
        reads_beside=data.get("reads_beside", False),
    )
