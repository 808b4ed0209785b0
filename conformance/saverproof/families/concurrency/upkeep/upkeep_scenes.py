"""Plays histories in which someone tidies up while runs go on, and judges each of their rounds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Self

from saverproof.capability import Capability
from saverproof.families.budget import batched
from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.records import Operation, OperationKind
from saverproof.families.concurrency.callers.schedules import Schedule
from saverproof.families.concurrency.callers.workload import UPKEEP, able_of
from saverproof.families.concurrency.contract_ids import (
    COPY,
    DELETION,
    INSTANCES,
    LATE,
    PROCESSES,
    PRUNE,
    THREADS,
    TORN,
)
from saverproof.families.concurrency.effort import SceneEffort
from saverproof.families.concurrency.graphs.graph_scenes import beside_graphs
from saverproof.families.concurrency.graphs.graph_upkeep import UPKEEP_OF_GRAPHS, GraphUpkeep
from saverproof.families.concurrency.held.held_reading import hold_copies
from saverproof.families.concurrency.histories.history_playing import (
    AT_ONCE,
    PAUSE_BETWEEN_PROCESSES_S,
    CallPlan,
    Played,
    Sharing,
    ended,
    play,
    play_at_once,
)
from saverproof.families.concurrency.histories.sequential_flaws import SequentialFlaws
from saverproof.families.concurrency.record import SceneRecord
from saverproof.families.concurrency.scenes.crossing import cross
from saverproof.families.concurrency.upkeep.upkeep_judging import (
    CONTRACTS,
    RoundJudgement,
    judge_round,
)
from saverproof.families.concurrency.upkeep.upkeep_rounds import (
    SCENE,
    Round,
    alone_in,
    rounds_in,
    rounds_of,
)
from saverproof.families.tally import Tally, hidden

UPKEEPS = frozenset({PRUNE, COPY, DELETION})
SHOWN = UPKEEPS | {LATE, THREADS, PROCESSES, TORN}
"""The contracts that histories of upkeep may show to be broken."""
_OVERTAKEN = 8
"""How many calls of others are answered while one on a whole thread pauses."""
_ENOUGH = 3
"""How many histories may show nothing but contracts that were found broken before."""
_RAISED_ONLY = "beside a run the operation only raised, which is right; so nothing was looked at"
_REFUSED = "beside it graphs were refused what they put; so nothing of their state was looked at"
_WRONG_ALONE = "one caller alone is not answered rightly about it, or only with errors"
_ALONE = "no call of a run fell into an operation on its thread"


@dataclass(frozen=True, slots=True)
class UpkeepPlan:
    """A history to be played, and its rounds."""

    calls: CallPlan
    rounds: tuple[Round, ...]

    @classmethod
    def of(cls, calls: CallPlan) -> Self:
        """Return the plan of a recorded history."""
        rounds = rounds_in(calls.before, *calls.callers)
        return cls(replace(calls, asked=_joined(one.after for one in rounds)), rounds)

    def judged(self, played: Played) -> list[RoundJudgement]:
        """Return the judgement of each round."""
        shared = self.calls.sharing is Sharing.SHARED
        return [judge_round(one, played.events, shared=shared) for one in self.rounds]

    def alone(self) -> CallPlan:
        """Return the same calls for one caller."""
        return self.calls.by_one(alone_in(self.rounds))


def plan_of(sharing: Sharing, number: int, seed: str, able: frozenset[str]) -> UpkeepPlan:
    """One of the histories of an item."""
    name = f"{seed}:{SCENE}:{sharing.name}:{number}"
    rounds = rounds_of(name, able, early="early_writes" in able)
    calls = CallPlan(
        sharing,
        UPKEEP,
        _schedule(sharing, number, name),
        _joined(one.before for one in rounds),
        (
            _joined(one.run for one in rounds),
            _joined(one.keeper for one in rounds),
            _joined(one.reader for one in rounds),
        ),
        _joined(one.after for one in rounds),
    )
    return UpkeepPlan(calls, rounds)


def _joined(parts: Iterable[tuple[Operation, ...]]) -> tuple[Operation, ...]:
    return tuple(one for part in parts for one in part)


def _schedule(sharing: Sharing, number: int, seed: str) -> Schedule:
    """Return a schedule in which other calls are answered after a saver has read something, and
    before it uses that.
    """
    if sharing is Sharing.PROCESSES:
        pause = 2 * PAUSE_BETWEEN_PROCESSES_S
        return Schedule(seed, statements=0.7, pause_s=pause, most=200, alone=True, upkeep=True)
    match number % 3:
        case 0:
            # Pause between lines as well: only there is the lock of one transaction released.
            return Schedule(seed, 1e-5, 0.2, 0.3, 0.006, overtaken=_OVERTAKEN, upkeep=True)
        case 1:
            return Schedule(seed, 1e-5, 0.0, 0.15, 0.02, overtaken=_OVERTAKEN, upkeep=True)
        case _:
            # A driver's own threads do not know for which call they work, so all calls pause here.
            return Schedule(seed, 1e-5, statements=0.3, pause_s=0.005, overtaken=3)


@dataclass(slots=True)
class UpkeepJudging:
    """Plays and judges the histories of upkeep of one item."""

    bench: CallerBench
    record: SceneRecord
    able: frozenset[str]
    flaws: SequentialFlaws = field(init=False)
    wrong: frozenset[OperationKind] = frozenset()
    """The operations that the saver gets wrong with one caller: they are not judged with
    several.
    """
    apart: bool = False
    met: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.flaws = SequentialFlaws(self.bench.plan, self.bench.target)

    @property
    def tally(self) -> Tally:
        """The tally of the item."""
        return self.record.tally

    def run(self, effort: SceneEffort) -> None:
        """Rehearse with one caller, then play with several, and beside graphs."""
        places = effort.places
        if not self.rehearse():
            return
        by_one, by_many = (f"histories with maintenance by {how}" for how in ("one saver", "many"))
        if not self.record.skips(THREADS, by_one):
            self._play(Sharing.SHARED, effort.upkeep)
            if THREADS not in self.record.found:
                cross(self.bench, self.able, self.record)
        many = PROCESSES in self.tally.applicable
        if many and not self.record.skips(PROCESSES, by_many):
            self._play(Sharing.PROCESSES, effort.upkeep_apart)
        self._beside_graphs(UPKEEP_OF_GRAPHS.values(), {THREADS}, places)
        if many and effort.reads and COPY in self.tally.wanted and COPY not in self.record.found:
            self._hold_copies(effort.reads)
        if many:
            # Whether a saver knows of another's calls is judged elsewhere.
            apart = {THREADS, PROCESSES, INSTANCES}
            elsewhere = [one.by_another() for one in UPKEEP_OF_GRAPHS.values()]
            self._beside_graphs(elsewhere, apart, effort.places_apart)
        for name in UPKEEPS & self.tally.wanted - self.met - self.record.found.keys():
            self.tally.not_exercised([name], self._why_not(name))
        self.tally.handed += self.flaws.found.values()

    def _hold_copies(self, most: int) -> None:
        """Hold copies while another process deletes, or replaces, what is copied."""
        able = Capability.COPY_THREAD in self.able and OperationKind.COPY not in self.wrong
        hiding = {THREADS, PROCESSES, INSTANCES} & self.record.found.keys()
        if able and not hiding:
            hold_copies(self.bench, able_of(self.able), self.record, most)

    def _beside_graphs(self, upkeeps: Iterable[GraphUpkeep], hiding: set[str], places: int) -> None:
        """Play graphs beside each operation.

        An operation is left out if its contract is known to be broken, or if it is wrong with one
        caller. All operations are left out once a contract in ``hiding`` is broken, since that flaw
        would show here as well.
        """
        for upkeep in upkeeps:
            name = upkeep.contract
            found = {name, *hiding} & self.record.found.keys()
            playable = upkeep.needs <= self.able and upkeep.kind not in self.wrong
            if not places or found or not playable or name not in self.tally.wanted:
                continue
            most = min(places, upkeep.most or places)
            if beside_graphs(self.bench, self.record, self.flaws, upkeep, most):
                self.met.add(name)

    def rehearse(self) -> bool:
        """Return whether the saver answers one caller alone. If those answers are wrong, find out
        what is wrong with them.
        """
        plan = plan_of(Sharing.SHARED, 0, self._seed, self.able)
        played = play(self.bench, plan.alone())
        self.apart = played.in_files and not self.bench.plan.facts.get("on_server", False)
        why = played.trouble or played.hung or played.slow or played.died
        if why:
            alone = "it does not answer one caller alone"
            self.tally.unknown |= dict.fromkeys(UPKEEPS, f"{alone}: {why}"[:600])
            return False
        judged = plan.judged(played)
        self.wrong = frozenset(one.kind for one in judged if one.problems or one.errors)
        wrong = [problem for one in judged for problem in one.problems]
        if wrong:
            self.record.saw_alone(wrong, self.flaws.look_into(plan.alone()))
        return True

    def _why_not(self, name: str) -> str:
        """Return why a contract was not judged."""
        if self.record.hung:
            return hidden("callers hang, and no more were asked", min(self.record.hung))
        if name in {CONTRACTS.get(kind) for kind in self.wrong}:
            return _WRONG_ALONE
        if name in self.record.refused:
            return _REFUSED
        return _ALONE if name in self.called else _RAISED_ONLY

    @property
    def _seed(self) -> str:
        return f"{self.bench.plan.seed}:{self.bench.plan.api}"

    def _play(self, sharing: Sharing, number: int) -> None:
        plans = [plan_of(sharing, n, self._seed, self.able) for n in range(number)]
        at_once = AT_ONCE[sharing] if self.apart else 1
        again = 0
        left_out = f"histories with maintenance by {sharing.value}"
        for batch in self.tally.budget.within(list(batched(plans, at_once)), left_out):
            all_played = play_at_once(self.bench, [one.calls for one in batch])
            self.tally.beat()
            for plan, played in zip(batch, all_played, strict=True):
                self.record.scenes[f"{SCENE}, {sharing.value}"] += 1
                if not ended(played) and (played.trouble or played.slow):
                    self.tally.note(
                        f"{SCENE}, {sharing.value}: {played.trouble or played.slow}"[:300]
                    )
                    continue
                known = len(self.record.found)
                wrong = self.look(plan, played)
                again += wrong and len(self.record.found) == known
            if any(played.hung for played in all_played):
                self.record.hung.add(THREADS if sharing is Sharing.SHARED else PROCESSES)
            over = any(played.hung or played.died for played in all_played)
            if over or again >= _ENOUGH or self.record.is_complete(SHOWN):
                break

    def look(self, plan: UpkeepPlan, played: Played) -> bool:
        """Record what a history shows. Return whether anything was wrong."""
        scene = {"scene": SCENE, "early": "early_writes" in self.able, **plan.calls.to_json()}
        if problems := ended(played):
            self.record.saw(problems, scene)
            return True
        loss = THREADS if plan.calls.sharing is Sharing.SHARED else PROCESSES
        judged = [one for one in plan.judged(played) if one.kind not in self.wrong]
        for one in judged:
            self._count(one, loss)
            self.record.saw(one.problems, scene | {"kind": one.kind.value})
        return any(one.problems for one in judged)

    def _count(self, one: RoundJudgement, loss: str) -> None:
        tally = self.tally
        tally.operations += one.acknowledged + len(one.errors)
        tally.agreed(loss, one.acknowledged)
        tally.agreed(TORN, one.reads)
        self.record.raised.update(error[:120] for error in one.errors)
        name = CONTRACTS.get(one.kind)
        if name is None or not one.called:
            return
        self.called.add(name)
        if one.beside:
            self.met.add(name)
            tally.agreed(name)
