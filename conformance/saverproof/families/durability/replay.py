"""Repeats a recorded kill or power cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from saverproof.errors import NoCleanRunError
from saverproof.families.answer import ReplayAnswer, Status, not_seen, unclear
from saverproof.families.durability.children import CHILDREN
from saverproof.families.durability.graphs.graph_kills import Resuming
from saverproof.families.durability.kills.bench import KillBench
from saverproof.families.durability.kills.judging import KillOutcome
from saverproof.families.durability.kills.kill_places import KillPlace, PlaceKind
from saverproof.families.durability.kills.record import KillRecord, KillTrial
from saverproof.families.durability.kills.trials import Subject, controlled, looked_for, trial_of
from saverproof.families.durability.kills.workloads import Workload
from saverproof.families.durability.power.power_cuts import Power
from saverproof.families.durability.power.power_reporting import EXPECTED
from saverproof.families.graph.installed import durability_modes
from saverproof.families.graph.scenarios import SCENARIOS
from saverproof.families.items import ItemPlan
from saverproof.families.tally import Tally
from saverproof.programs.steps.codec import decode, from_json
from saverproof.programs.steps.describing import describe
from saverproof.savers.targets.target import Target
from saverproof_faults.kill import DiedBy, HarnessError
from saverproof_faults.servers import ServerError, ServerUnavailable
from saverproof_reports.fault_words import KILL_OUTCOMES

WIDTH = 1_200
MOST_IMAGES = 1_000
MOST_OF_ONE, DISKS = 200, 6
"""How many disks are judged in a replay: of the run in which the recorded sync fails, many times
what a profile judges, so that the recorded loss is among them; of each run with another failing
sync, as many as ``quick`` judges.
"""
TIMES = 5
INSTANTS = 20
"""How often a kill is repeated. A saver that works in the background is not always equally far when
it is killed, and a kill at a random instant is never exactly the same.
"""


def replay(plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
    """Replay a recorded kill or power cut. Return whether it still breaks the contract.

    Raises:
        ValueError: the data is no recorded kill.
        OpeningError: the saver could not be opened or closed.
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"found {data!r:.60}, expected an object with the place of a kill")
    try:
        with KillBench.of(plan, target, CHILDREN) as bench:
            if "power" in data:
                return _power(bench, contract, data)
            if "scenario" in data:
                return _graph(bench, contract, data)
            return _kill(bench, contract, data)
    except (NoCleanRunError, HarnessError) as problem:
        return unclear(f"the program does not work without a kill either: {problem}")
    except (ServerUnavailable, ServerError) as problem:
        return unclear(f"the server cannot be killed: {problem}")
    except KeyError as missing:
        raise ValueError(f"found no {missing}, expected a recorded kill") from None


# --- a program whose process is killed -----------------------------------------------------


def _kill(bench: KillBench, contract: str, data: Mapping[str, Any]) -> ReplayAnswer:
    place = decode(KillPlace, data["kill"])
    with bench.server_for(place):
        return _kill_at(bench, contract, data, place)


def _kill_at(
    bench: KillBench, contract: str, data: Mapping[str, Any], place: KillPlace
) -> ReplayAnswer:
    workload = Workload("as recorded", from_json(data["program"]))
    run, versions = bench.rehearsed(workload)
    subject = Subject(workload, run, versions)
    tried = [_tried(bench, subject, place) for _ in range(_times(place))]
    gone = not _fired(tried)
    if gone:
        others = bench.places(workload, versions, place.kind)
        same = [
            replace(other, server=place.server, again=place.again)
            for other in others
            if other.operation == place.operation
        ]
        tried += [_tried(bench, subject, other) for other in same]
    for trial in tried:
        if contract in trial.blamed:
            return _shown(trial)
    fired = _fired(tried)
    if data.get("beside"):
        return unclear("it was seen beside a second process; one process alone does not show it")
    if place.kind is PlaceKind.INSTANT:
        return not_seen(fired, "a kill at a random instant")
    if not fired:
        return unclear("the operation has no place of that kind any more")
    others_broken = sorted({name for trial in tried for name in trial.blamed})
    if others_broken:
        said = f"the contract holds; the kill now breaks {', '.join(others_broken)} instead"
        return ReplayAnswer(Status.FIXED, said)
    if gone:
        said = f"that place no longer exists; {fired} kills elsewhere in the operation show no flaw"
        return ReplayAnswer(Status.FIXED, said)
    said = f"the same kill, tried {fired} times, shows no flaw"
    return ReplayAnswer(Status.FIXED, said)


def _times(place: KillPlace) -> int:
    return INSTANTS if place.kind is PlaceKind.INSTANT else TIMES


def _shown(trial: KillTrial) -> ReplayAnswer:
    verdict, program = trial.verdict, trial.run.program
    expected = "every operation that had returned, and all or nothing of the one in flight"
    gone = "; ".join(describe(program[position]) for position in verdict.lost)
    observed = trial.trouble or (f"gone: {gone}" if gone else f"in part: {len(verdict.torn)} facts")
    said = f"killed {trial.place.describe()}: {KILL_OUTCOMES[verdict.outcome]}"
    return ReplayAnswer(Status.FAILING, said, expected, observed[:WIDTH])


def _tried(bench: KillBench, subject: Subject, place: KillPlace) -> KillTrial:
    with bench.store_for(subject.workload, subject.versions) as arguments:
        result = bench.killed(arguments, place)
        if result.died_by not in (DiedBy.KILL, DiedBy.FINISHED):
            raise NoCleanRunError(result.ending())
        arguments |= looked_for(subject, result)
        view = bench.looked(arguments, afresh=False)
    return controlled(bench, subject, partial(trial_of, subject, place, result, view))


def _fired(trials: list[KillTrial]) -> int:
    return sum(trial.verdict.outcome is not KillOutcome.NOT_FIRED for trial in trials)


# --- a power cut ---------------------------------------------------------------------------


def _power(bench: KillBench, contract: str, data: Mapping[str, Any]) -> ReplayAnswer:
    workload = Workload("as recorded", from_json(data["program"]))
    failed = data["power"].get("failed_sync")
    power = Power(bench, workload, MOST_IMAGES, lambda: None)
    if failed is not None:
        power = power.failing_in(workload, MOST_OF_ONE, failed)
    power.run()
    if failed is not None and contract not in power.flaws:
        # A saver that was changed has other syncs.
        power = power.failing_in(workload, DISKS)
        power.run()
    if contract in power.flaws:
        flaw = power.flaws[contract]
        said = f"a power cut leaves a wrong store: {KILL_OUTCOMES[flaw.outcome]}"
        return ReplayAnswer(Status.FAILING, said, EXPECTED[contract], flaw.observed[:WIDTH])
    if not power.images:
        return unclear(power.unseen or "; ".join(power.notes) or "no disk image was made")
    said = f"none of the {power.images} disk images that a power cut may leave is wrong"
    return ReplayAnswer(Status.FIXED, said)


# --- a graph that is killed and resumed ----------------------------------------------------


def _graph(bench: KillBench, contract: str, data: Mapping[str, Any]) -> ReplayAnswer:
    tally = Tally(bench.plan)
    wanted = frozenset({contract})
    again = Resuming(bench, bench.plan, KillRecord(tally), wanted, 1, 0, lambda: None, {})
    scenario, mode = data["scenario"], data["mode"]
    known = {one.name: one for one in SCENARIOS}
    if scenario not in known or mode not in durability_modes():
        raise ValueError(f"found graph {scenario!r:.60} in mode {mode!r:.60}, which is unknown")
    moments = again.kill_again(known[scenario], mode, data["kill"])
    if again.findings:
        found = again.findings[contract]
        return ReplayAnswer(Status.FAILING, found.summary, found.expected, found.observed)
    if not tally.checked[contract]:
        return unclear("; ".join([*tally.unknown.values(), *tally.notes]) or "nothing was killed")
    return ReplayAnswer(
        Status.FIXED, f"killed at each of {moments} moments, the graph resumes correctly"
    )
