"""Judges one older release together with the installed one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from saverproof.contracts.tables import upgrade
from saverproof.families.items import Finding, ItemPlan
from saverproof.families.machines.suiting import able_of
from saverproof.families.tally import Tally
from saverproof.families.upgrade.changed_settings import ChangedSettings
from saverproof.families.upgrade.first_read import NotToBeSeen, first_read
from saverproof.families.upgrade.graph_resumes import STOPPED, resumed
from saverproof.families.upgrade.graph_scripting import graph_reproducer
from saverproof.families.upgrade.handovers import (
    HANDOVERS,
    ComparedFacts,
    compared_beside,
    other_kinds,
    shortened,
)
from saverproof.families.upgrade.openings import NO_OPENING, plain_opening, store_opening
from saverproof.families.upgrade.programs import programs_of
from saverproof.families.upgrade.release_process import ReleaseGone, ReleaseProcess, ReleaseRaised
from saverproof.families.upgrade.reporting import (
    TwoReleases,
    finding,
    graph_finding,
    read_finding,
    set_up_finding,
    setting_finding,
    strict_finding,
)
from saverproof.families.upgrade.scripting import (
    first_read_reproducer,
    reproducer,
    set_up_reproducer,
)
from saverproof.families.upgrade.setting_up import PROGRAMS, SettingUp, processes
from saverproof.families.upgrade.settings import CHANGES, STRICT
from saverproof.families.upgrade.strict_msgpack import WRITTEN, StrictReading
from saverproof.families.upgrade.trials import Alone, ReleaseBench, Which
from saverproof.programs.steps.definitions import Program
from saverproof.savers.releases.installed import Release
from saverproof.savers.targets.target import Target

BEHIND: Mapping[str, tuple[str, ...]] = {
    upgrade.WRITES_ON_OLD_DATA.id: (upgrade.READS_OLD_DATA.id,),
    upgrade.SETUP_ON_OLD_STORE.id: (upgrade.READS_OLD_DATA.id,),
    upgrade.GRAPH_RESUMES.id: (upgrade.READS_OLD_DATA.id, upgrade.WRITES_ON_OLD_DATA.id),
    upgrade.ROLLBACK.id: (upgrade.WRITES_ON_OLD_DATA.id,),
    upgrade.OLD_WORKERS_GO_ON.id: (
        upgrade.READS_OLD_DATA.id,
        upgrade.WRITES_ON_OLD_DATA.id,
        upgrade.ROLLBACK.id,
    ),
}
"""For each contract, other contracts whose breach shows in what it asks. If one of these is broken,
only what comes on top of that breach is told, and without it the contract is not held.
"""
FIRST_READ = upgrade.FIRST_READ_WAITS_FOR_NOBODY.id
SET_UP = upgrade.SETUP_ON_OLD_STORE.id
SETTINGS = upgrade.SETTINGS.id
STRICT_MSGPACK = upgrade.STRICT_MSGPACK.id
GRAPH_RESUMES = upgrade.GRAPH_RESUMES.id
REFUSED = "one of the releases refuses what is to be stored, on a store of its own: {}"
WITH_OLDER_LANGGRAPH = (upgrade.READS_OLD_DATA.id, upgrade.WRITES_ON_OLD_DATA.id, GRAPH_RESUMES)
"""The contracts that are judged with an older LangGraph. The others depend on the saver's release
alone, or ask an older LangGraph to read what a newer one writes, which LangGraph never promised.
"""
SAVERS_RELEASE = (
    "not judged with an older LangGraph, but with an older release of the saver "
    "(--saver-upgrade-from=DISTRIBUTION==VERSION)"
)
OF_LANGGRAPH = "LangGraph itself shows all of it otherwise, with a saver that only keeps it"
NOT_ASKED = "no older release was asked for (--saver-upgrade-from)"


@contextmanager
def bench_of(plan: ItemPlan, target: Target, release: Release) -> Iterator[ReleaseBench]:
    """Start both releases, each in a process of its own.

    Raises:
        NotToBeSeen: the target cannot be opened without the kit.
    """
    opening = store_opening(target)
    if opening is None:
        raise NotToBeSeen(NO_OPENING)
    new = TwoReleases.of(plan, release).new
    with (
        ReleaseProcess(str(release), release.folder, plan.api) as old_one,
        ReleaseProcess(new, "", plan.api) as new_one,
    ):
        players = {Which.OLD: old_one, Which.NEW: new_one}
        bench = ReleaseBench(target, Path(plan.folder), opening, players)
        if release.langgraph:
            bench.plain = replace(bench, opening=plain_opening())
        yield bench


@dataclass(slots=True)
class UpgradeJudging:
    """Judges one plan, one older release after the other."""

    plan: ItemPlan
    target: Target
    tally: Tally
    programs: Sequence[Program] = ()
    _broken: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Judge each of the older releases; a contract is reported once, for the first release that
        breaks it.
        """
        releases = [Release(**one) for one in self.plan.facts.get("upgrade_from", ())]
        if not releases:
            self.tally.not_exercised(self._left(), NOT_ASKED)
            return
        able = able_of(self.plan.facts, self.target)
        self.programs = self.programs or programs_of(self.plan.profile, able)
        for release in self.tally.budget.within(releases, "older releases"):
            try:
                self._judge(release)
            except (ReleaseGone, ReleaseRaised) as trouble:
                self.tally.unsure(self._left_with(release), f"{release}: {trouble}")
            except NotToBeSeen as why:
                self.tally.not_exercised(self._left_with(release), str(why))
        if all(release.langgraph for release in releases):
            left_out = (name for name in self._left() if name not in WITH_OLDER_LANGGRAPH)
            self.tally.not_exercised(left_out, SAVERS_RELEASE)

    def _left(self) -> list[str]:
        wanted = self.tally.wanted - self._broken
        return [one.id for one in upgrade.TABLE.contracts if one.id in wanted]

    def _left_with(self, release: Release) -> list[str]:
        """Return the contracts that are left and can be judged with a release."""
        return [
            name for name in self._left() if name in WITH_OLDER_LANGGRAPH or not release.langgraph
        ]

    def _judge(self, release: Release) -> None:
        pair = TwoReleases.of(self.plan, release)
        with bench_of(self.plan, self.target, release) as bench:
            alone = Alone.of(bench, self.programs)
            self._tell_refused(pair, alone)
            if not alone.programs:
                raise NotToBeSeen(REFUSED.format(alone.refusal))
            left = self._left_with(release)
            for name in HANDOVERS:
                if name in left:
                    self._hand_over(pair, bench, name, alone)
            if FIRST_READ in left:
                self._read_first(pair, bench)
            if SET_UP in left:
                self._set_up(pair, bench)
            if GRAPH_RESUMES in left and not self._gives_up(GRAPH_RESUMES, pair):
                self._resume_graphs(pair, bench)
            if STRICT_MSGPACK in left:
                self._read_strictly(pair, bench)
            if SETTINGS in left:
                self._change_settings(pair, bench)
            self.tally.operations += sum(player.calls for player in bench.players.values())

    def _broken_behind(self, name: str) -> tuple[str, ...]:
        return tuple(one for one in BEHIND.get(name, ()) if one in self._broken)

    def _gives_up(self, name: str, pair: TwoReleases) -> bool:
        """Return whether a contract cannot be held, because another one is broken that shows in it.
        The tally is told so.
        """
        behind = self._broken_behind(name)
        if behind:
            self.tally.give_up(name, f"a store of {pair.old}", *behind)
        return bool(behind)

    def _tell_refused(self, pair: TwoReleases, alone: Alone) -> None:
        if refused := len(self.programs) - len(alone.programs):
            of = f"{refused} of {len(self.programs)} programs"
            self.tally.note(f"{of} left out: {pair.old} or {pair.new} alone refuses a step of them")

    def _hand_over(self, pair: TwoReleases, bench: ReleaseBench, name: str, alone: Alone) -> None:
        others = [HANDOVERS[one] for one in self._broken_behind(name)]
        seen = compared_beside(bench, HANDOVERS[name], alone, others)
        if seen.odd or not self._gives_up(name, pair):
            self.tally.agreed(name, seen.facts)
        self.tally.beat()
        if seen.of_langgraph:
            self._leave_to_langgraph(pair, name, seen)
        if seen.odd:
            shown = shortened(bench, HANDOVERS[name], seen.odd, others)
            script = reproducer(self.target, pair.release, name, shown, self.plan.api, others)
            self._found(name, replace(finding(self.plan, pair, name, shown), reproducer=script))
            for odd in other_kinds(shown, seen.odd):
                more = finding(self.plan, pair, name, odd)
                self.tally.note(f"{name}, too: {more.summary}: {more.observed}")

    def _leave_to_langgraph(self, pair: TwoReleases, name: str, seen: ComparedFacts) -> None:
        """Report facts that LangGraph itself shows differently, whatever the saver does. The
        contract then does not count as held.
        """
        if not seen.facts:
            self.tally.not_exercised([name], OF_LANGGRAPH)
            return
        why = (
            f"with {pair.old}: {seen.of_langgraph} facts that LangGraph itself shows otherwise, too"
        )
        self.tally.note(f"{name}: not judged {why}")
        self.tally.withdraw(name, f"not judged {why}")

    def _read_first(self, pair: TwoReleases, bench: ReleaseBench) -> None:
        try:
            raised = first_read(bench)
        except NotToBeSeen as why:
            self.tally.not_exercised([FIRST_READ], str(why))
            return
        self.tally.agreed(FIRST_READ)
        if raised:
            script = first_read_reproducer(self.target, pair.release, self.plan.api)
            found = read_finding(self.plan, pair, raised)
            self._found(FIRST_READ, replace(found, reproducer=script))

    def _set_up(self, pair: TwoReleases, bench: ReleaseBench) -> None:
        alone = Alone.of(bench, PROGRAMS)
        if alone.refusal:
            self.tally.not_exercised([SET_UP], REFUSED.format(alone.refusal))
            return
        with ExitStack() as stack:
            more = processes(stack, pair.new, self.plan.api)
            trials = SettingUp(bench, more, alone, self.plan.profile)
            try:
                if self._broken_behind(SET_UP):
                    trials.set_up_undisturbed()
                trouble = trials.trouble()
            except NotToBeSeen as why:
                self.tally.not_exercised([SET_UP], str(why))
                return
        if trouble or not self._gives_up(SET_UP, pair):
            self.tally.agreed(SET_UP, trials.tried)
        if trouble is not None:
            script = set_up_reproducer(self.target, pair.release, trouble, self.plan.api)
            found = set_up_finding(self.plan, pair, trouble)
            self._found(SET_UP, replace(found, reproducer=script))

    def _resume_graphs(self, pair: TwoReleases, bench: ReleaseBench) -> None:
        untried: list[str] = []
        told = False
        for graph in STOPPED.values():
            try:
                otherwise = resumed(bench, graph)
            except NotToBeSeen as why:
                untried.append(f"a graph that stops {graph.words} {why}")
                continue
            self.tally.agreed(GRAPH_RESUMES)
            self.tally.beat()
            if otherwise is None:
                continue
            script = ""
            if not told:
                script = graph_reproducer(self.target, pair.release, graph, self.plan.api)
            found = graph_finding(self.plan, pair, graph, otherwise)
            self._found_another(GRAPH_RESUMES, replace(found, reproducer=script), told)
            told = True
        self._tell_untried(GRAPH_RESUMES, pair, untried, len(STOPPED))

    def _read_strictly(self, pair: TwoReleases, bench: ReleaseBench) -> None:
        untried: list[str] = []
        with StrictReading.of(bench, pair.new, self.plan.api) as reading:
            for written in WRITTEN:
                try:
                    seen = reading.after(written)
                except NotToBeSeen as why:
                    untried.append(f"what is written {written}: {why}")
                    continue
                self.tally.agreed(STRICT_MSGPACK, seen.facts)
                self.tally.beat()
                if seen.odd is not None:
                    found = strict_finding(self.plan, pair, seen.odd)
                    self._found_another(STRICT_MSGPACK, found, STRICT_MSGPACK in self._broken)
        self._tell_untried(STRICT_MSGPACK, pair, untried, len(WRITTEN))

    def _change_settings(self, pair: TwoReleases, bench: ReleaseBench) -> None:
        untried: list[str] = []
        told = False
        with ExitStack() as stack:
            trials = ChangedSettings(bench, stack, pair.new, self.plan.api)
            for change in CHANGES.values():
                if change.after is STRICT and STRICT_MSGPACK in self._broken:
                    continue
                try:
                    seen = trials.after(change)
                except NotToBeSeen as why:
                    untried.append(f"{change}: {why}")
                    continue
                self.tally.agreed(SETTINGS, seen.facts + seen.refused)
                self.tally.beat()
                if not seen.odd:
                    continue
                # Each program of a shorter one takes three stores: the first finding is enough.
                shown = seen.odd[0] if told else trials.shortened(change, seen)
                found = setting_finding(self.plan, pair, change, *shown)
                self._found_another(SETTINGS, found, told)
                told = True
        self._tell_untried(SETTINGS, pair, untried, len(CHANGES))

    def _tell_untried(
        self, name: str, pair: TwoReleases, untried: Sequence[str], count: int
    ) -> None:
        """Report what could not be tried. The contract then does not count as held; if nothing
        could be tried, it is not exercised.
        """
        if len(untried) == count:
            self.tally.not_exercised([name], untried[0])
            return
        for text in untried:
            self.tally.note(f"{name}: not tried with {pair.old}: {text}")
        if untried and name not in self._broken:
            self.tally.withdraw(name, f"not tried with {pair.old}: {'; '.join(untried)}"[:600])

    def _found_another(self, name: str, found: Finding, told: bool) -> None:
        """Record a finding, or only add a line about it if the contract was reported before: it may
        have the same cause.
        """
        if told:
            self.tally.note(f"{name}, too: {found.summary}: {found.observed}")
        else:
            self._found(name, found)

    def _found(self, name: str, found: Finding) -> None:
        self._broken.add(name)
        self.tally.differences.note(name)
        self.tally.findings.append(found)
