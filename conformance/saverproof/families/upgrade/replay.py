"""Has both releases repeat what a finding has recorded."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from saverproof.families.answer import ReplayAnswer, Status, unclear
from saverproof.families.items import Finding, ItemPlan
from saverproof.families.upgrade.changed_settings import ChangedSettings
from saverproof.families.upgrade.first_read import NotToBeSeen, first_read
from saverproof.families.upgrade.graph_resumes import STOPPED, resumed
from saverproof.families.upgrade.handovers import HANDOVERS, compared_beside
from saverproof.families.upgrade.judging import (
    BEHIND,
    FIRST_READ,
    GRAPH_RESUMES,
    REFUSED,
    SETTINGS,
    STRICT_MSGPACK,
    bench_of,
)
from saverproof.families.upgrade.release_process import ReleaseGone, ReleaseRaised
from saverproof.families.upgrade.reporting import (
    TwoReleases,
    finding,
    graph_finding,
    read_finding,
    set_up_finding,
    setting_finding,
    strict_finding,
)
from saverproof.families.upgrade.setting_up import PROGRAMS, SettingUp, processes
from saverproof.families.upgrade.settings import CHANGES
from saverproof.families.upgrade.strict_msgpack import WRITTEN, StrictReading
from saverproof.families.upgrade.trials import ALL_OLD, Alone, ReleaseBench
from saverproof.programs.steps.codec import from_json
from saverproof.savers.releases.installed import Release, kept
from saverproof.savers.releases.requested import LANGGRAPH
from saverproof.savers.releases.with_langgraph import kept_with_langgraph
from saverproof.savers.targets.target import Target


def replay(plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
    """Replay a recorded finding; answer whether it still shows.

    Raises:
        ValueError: the data is not what a finding of this family records.
    """
    keys = ("distribution", "version")
    if not isinstance(data, Mapping) or not all(isinstance(data.get(key), str) for key in keys):
        raise ValueError(f"found {data!r:.60}, expected an object with {' and '.join(keys)}")
    release = _release_of(plan, data)
    if release is None:
        langgraph = data.get("langgraph")
        named = f"{data['distribution']}=={data['version']}"
        asked = f"{LANGGRAPH}=={langgraph}" if langgraph else named
        return unclear(f"{asked} is not installed: judge with --saver-upgrade-from={asked} first")
    pair = TwoReleases.of(plan, release)
    try:
        with bench_of(plan, target, release) as bench:
            found = _again(plan, pair, bench, contract, data)
    except (ReleaseGone, ReleaseRaised, NotToBeSeen) as trouble:
        return unclear(trouble)
    if found is None:
        return ReplayAnswer(Status.FIXED, f"{pair.new} does it right on a store of {pair.old}")
    return ReplayAnswer(Status.FAILING, found.summary, found.expected, found.observed)


def _release_of(plan: ItemPlan, data: Mapping[str, Any]) -> Release | None:
    """Return the older release of a finding, if the cache has it."""
    if langgraph := data.get("langgraph"):
        return kept_with_langgraph(str(langgraph), plan.facts["distribution"] or "")
    return kept(data["distribution"], data["version"])


def _again(
    plan: ItemPlan, pair: TwoReleases, bench: ReleaseBench, contract: str, data: Mapping[str, Any]
) -> Finding | None:
    if contract in HANDOVERS:
        alone = Alone.of(bench, [from_json(data.get("program"))])
        others = [HANDOVERS[one] for one in BEHIND.get(contract, ())]
        odd = compared_beside(bench, HANDOVERS[contract], alone, others).odd
        return finding(plan, pair, contract, odd[0]) if odd else None
    if contract == FIRST_READ:
        raised = first_read(bench)
        return read_finding(plan, pair, raised) if raised else None
    if contract == GRAPH_RESUMES:
        graph = STOPPED.get(str(data.get("graph")))
        if graph is None:
            raise ValueError(
                f"graph: found {data.get('graph')!r:.60}, expected one of {[*STOPPED]}"
            )
        otherwise = resumed(bench, graph)
        return graph_finding(plan, pair, graph, otherwise) if otherwise else None
    if contract == STRICT_MSGPACK:
        return _read_strictly_again(plan, pair, bench, str(data.get("written")))
    if contract == SETTINGS:
        return _changed_again(plan, pair, bench, data)
    alone = Alone.of(bench, PROGRAMS)
    if alone.refusal:
        raise NotToBeSeen(REFUSED.format(alone.refusal))
    with ExitStack() as stack:
        trials = SettingUp(bench, processes(stack, pair.new, plan.api), alone, plan.profile)
        if data.get("beside"):
            trials.set_up_undisturbed()
        place = data.get("place")
        if isinstance(place, int):
            trouble = next(trials.killed_at(place, ALL_OLD), None)
        else:
            trouble = trials.trouble()
    return None if trouble is None else set_up_finding(plan, pair, trouble)


def _read_strictly_again(
    plan: ItemPlan, pair: TwoReleases, bench: ReleaseBench, written: str
) -> Finding | None:
    if written not in WRITTEN:
        raise ValueError(f"written: found {written!r:.60}, expected one of {[*WRITTEN]}")
    with StrictReading.of(bench, pair.new, plan.api) as reading:
        odd = reading.after(written).odd
    return strict_finding(plan, pair, odd) if odd else None


def _changed_again(
    plan: ItemPlan, pair: TwoReleases, bench: ReleaseBench, data: Mapping[str, Any]
) -> Finding | None:
    change = CHANGES.get(str(data.get("change")))
    if change is None:
        raise ValueError(f"change: found {data.get('change')!r:.60}, expected one of {[*CHANGES]}")
    with ExitStack() as stack:
        trials = ChangedSettings(bench, stack, pair.new, plan.api)
        odd = trials.playing(from_json(data.get("program"))).after(change).odd
    return setting_finding(plan, pair, change, *odd[0]) if odd else None
