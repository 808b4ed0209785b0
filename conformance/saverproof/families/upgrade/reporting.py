"""Puts the flaws that two releases show on one store into words and data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from saverproof.contracts.tables import upgrade
from saverproof.families.items import Finding, ItemPlan
from saverproof.families.upgrade.graph_resumes import OtherwiseResumed, StoppedGraph
from saverproof.families.upgrade.handovers import HANDOVERS
from saverproof.families.upgrade.programs import written
from saverproof.families.upgrade.setting_up import Trouble
from saverproof.families.upgrade.settings import SettingChange
from saverproof.families.upgrade.strict_msgpack import PROGRAM, OtherwiseRead
from saverproof.families.upgrade.trials import Handover, Odd, Which
from saverproof.programs.steps.codec import to_json
from saverproof.programs.steps.describing import describe
from saverproof.savers.releases.installed import Release
from saverproof.savers.releases.requested import LANGGRAPH

_WIDTH = 1_200
_PHASE = "upgrade"


@dataclass(frozen=True, slots=True)
class TwoReleases:
    """An older release and the installed one."""

    release: Release
    old: str
    new: str

    @classmethod
    def of(cls, plan: ItemPlan, release: Release) -> TwoReleases:
        """Return the older release together with the installed one of the plan."""
        if not release.langgraph:
            return cls(release, release.version, str(plan.facts["version"]))
        new = replace(
            release,
            version=str(plan.facts["version"]),
            langgraph=plan.facts["packages"].get(LANGGRAPH, ""),
        )
        return cls(release, str(release), str(new))

    def named(self, role: Which) -> str:
        """Return the version of one of the two releases."""
        return self.old if role is Which.OLD else self.new

    def as_data(self, **more: Any) -> dict[str, Any]:
        """Return what a replay needs to know."""
        return {
            "distribution": self.release.distribution,
            "version": self.release.version,
            "langgraph": self.release.langgraph,
            **more,
        }


def finding(plan: ItemPlan, pair: TwoReleases, contract: str, odd: Odd) -> Finding:
    """Return the finding of a fact that differs from what each release shows of its own store."""
    reader = pair.named(odd.reader)
    names = {role: pair.named(role) for role in Which}
    return Finding(
        contract=contract,
        api=plan.api,
        phase=_PHASE,
        summary=f"{pair.old}, then {pair.new}: {reader} shows otherwise: {odd.fact}"[:_WIDTH],
        expected=f"what {pair.old} or {pair.new} shows by itself: {' or '.join(odd.expected)}"[
            :_WIDTH
        ],
        observed=f"{reader} shows {odd.observed}"[:_WIDTH],
        steps=tuple(_steps(names, HANDOVERS[contract], odd)),
        program=pair.as_data(program=to_json(odd.program)),
        reproducer="",
    )


def _steps(names: Mapping[Which, str], handover: Handover, odd: Odd) -> Iterator[str]:
    """Return each step, together with the name of the release that takes it."""
    steps, taken = written(odd.program), 0
    for roles, upto in handover.parts:
        end = upto(len(steps))
        for number in range(taken, end):
            role = roles[number % len(roles)]
            yield f"{names[role]}: {describe(steps[number])}"
        taken = max(taken, end)
    yield f"{names[odd.reader]}: open the store, and read"


def setting_finding(
    plan: ItemPlan, pair: TwoReleases, change: SettingChange, handover: Handover, odd: Odd
) -> Finding:
    """Return the finding of a fact that is neither kept nor refused after a change."""
    names = {
        Which.OLD: f"{pair.old}, {change.before.words}",
        Which.NEW: f"{pair.new}, {change.after.words}",
    }
    return Finding(
        contract=upgrade.SETTINGS.id,
        api=plan.api,
        phase=_PHASE,
        summary=(
            f"stored by {pair.old} {change.before.words}, then opened by {pair.new} "
            f"{change.after.words}: {odd.fact}"
        )[:_WIDTH],
        expected=" or ".join(odd.expected)[:_WIDTH],
        observed=odd.observed[:_WIDTH],
        steps=tuple(_steps(names, handover, odd)),
        program=pair.as_data(change=change.name, program=to_json(odd.program)),
        reproducer="",
    )


def strict_finding(plan: ItemPlan, pair: TwoReleases, otherwise: OtherwiseRead) -> Finding:
    """Return the finding of a fact that is shown differently from what the serializer says."""
    return Finding(
        contract=upgrade.STRICT_MSGPACK.id,
        api=plan.api,
        phase=_PHASE,
        summary=(
            f"a store of {pair.old}, in {pair.new} with LANGGRAPH_STRICT_MSGPACK=true, "
            f"written {otherwise.written}, {otherwise.how}: {otherwise.fact}"
        )[:_WIDTH],
        expected=otherwise.expected[:_WIDTH],
        observed=otherwise.observed[:_WIDTH],
        steps=(
            *map(describe, PROGRAM),
            f"{pair.new}: open the store with LANGGRAPH_STRICT_MSGPACK=true, and read",
        ),
        program=pair.as_data(written=otherwise.written),
        reproducer="",
    )


def graph_finding(
    plan: ItemPlan, pair: TwoReleases, graph: StoppedGraph, otherwise: OtherwiseResumed
) -> Finding:
    """Return the finding of a graph that goes on differently under the installed release."""
    return Finding(
        contract=upgrade.GRAPH_RESUMES.id,
        api=plan.api,
        phase=_PHASE,
        summary=(
            f"a graph that stopped under {pair.old} {graph.words} goes on otherwise under "
            f"{pair.new}: {otherwise.what}"
        )[:_WIDTH],
        expected=f"{otherwise.what}: {otherwise.expected}"[:_WIDTH],
        observed=otherwise.observed[:_WIDTH],
        steps=(
            f"{pair.old}: run a graph of plan, tidy, stop and finish, until it stops {graph.words}",
            f"{pair.new}: open the store, and go on with the graph",
        ),
        program=pair.as_data(graph=graph.kind),
        reproducer="",
    )


def read_finding(plan: ItemPlan, pair: TwoReleases, raised: str) -> Finding:
    """Return the finding of a first read that is not answered."""
    return Finding(
        contract=upgrade.FIRST_READ_WAITS_FOR_NOBODY.id,
        api=plan.api,
        phase=_PHASE,
        summary=f"the first get_tuple of {pair.new} on a store of {pair.old} waits for a writer",
        expected="the latest checkpoint, as on a store of its own",
        observed=raised[:_WIDTH],
        steps=(
            f"{pair.old}: put a checkpoint",
            "another process: begin to write (BEGIN IMMEDIATE), and go on writing",
            f"{pair.new}: open the store, and get_tuple",
        ),
        program=pair.as_data(),
        reproducer="",
    )


def set_up_finding(plan: ItemPlan, pair: TwoReleases, trouble: Trouble) -> Finding:
    """Return the finding of an old store that could not be set up, or that lost something when it
    was set up.
    """
    return Finding(
        contract=upgrade.SETUP_ON_OLD_STORE.id,
        api=plan.api,
        phase=_PHASE,
        summary=f"a store of {pair.old} is not whole, or cannot be used, after {trouble.how}",
        expected="what the older release stored, and no exception, as on a store of its own",
        observed=trouble.observed[:_WIDTH],
        steps=(f"{pair.old}: put checkpoints and writes", f"{pair.new}: {trouble.how}", "read"),
        program=pair.as_data(place=trouble.place, beside=trouble.beside),
        reproducer="",
    )
