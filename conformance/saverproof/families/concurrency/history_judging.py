"""Plays histories, and judges what is wrong only with several callers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from saverproof.capability import Capability
from saverproof.families.budget import batched
from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.records import OperationKind
from saverproof.families.concurrency.callers.workload import Able
from saverproof.families.concurrency.contract_ids import (
    INSTANCES,
    ITERATION,
    ORDER,
    PROCESSES,
    THREADS,
    TORN,
)
from saverproof.families.concurrency.effort import SLOW_CALL_MS, SceneEffort
from saverproof.families.concurrency.held.held_reading import hold_reads
from saverproof.families.concurrency.held.reading_again import read_beside_changes
from saverproof.families.concurrency.held.stopping import stop_reads
from saverproof.families.concurrency.histories.alone import OneCaller, divided
from saverproof.families.concurrency.histories.history_playing import (
    AT_ONCE,
    CallPlan,
    Played,
    Sharing,
    ended,
    locked,
    play,
    play_at_once,
    rehearsal,
    script_of,
)
from saverproof.families.concurrency.histories.judging import CUT_OFF, Judgement, judge_history
from saverproof.families.concurrency.histories.sequential_flaws import SequentialFlaws
from saverproof.families.concurrency.record import Problem, SceneRecord
from saverproof.families.concurrency.scenes.overtaking import overtake
from saverproof.families.tally import Tally, hidden

HISTORIES = frozenset({THREADS, PROCESSES, TORN, ORDER})
ENOUGH = 3
"""How many histories of one kind may show nothing but contracts that are already found broken. The
next one may show another contract that the saver breaks.
"""
_SWITCH_S = 1e-5
"""The switch interval where another caller of a process reads. By the usual one, a call would
mostly be over before the reader's turn came.
"""
_SHARES = {Sharing.SHARED: 0.6, Sharing.INSTANCES: 0.8, Sharing.PROCESSES: 1.0}
"""The share of the budget by whose end the histories of each kind have to be over."""
_TOO_SLOW = 2
"""How many histories of one kind may be cut off before no more of that kind are played."""


@dataclass(slots=True)
class HistoryJudging:
    """The histories of one item."""

    bench: CallerBench
    record: SceneRecord
    able: Able
    effort: SceneEffort
    alone: OneCaller = field(default_factory=OneCaller)
    flaws: SequentialFlaws = field(init=False)
    apart: bool = False
    """True if stores share nothing, so that several histories can be played at once."""

    def __post_init__(self) -> None:
        self.flaws = SequentialFlaws(self.bench.plan, self.bench.target)

    @property
    def tally(self) -> Tally:
        """The tally of the item."""
        return self.record.tally

    def run(self) -> None:
        """Rehearse with one caller, then play with many."""
        if not self._rehearse():
            return
        # These come first: what they find, a script shows each time.
        not_held = self._hold_reads()
        if not self.tally.wanted & HISTORIES:
            return
        if THREADS in self.tally.wanted and self.effort.reads:
            read_beside_changes(self.bench, self.able, self.record, self.effort.reads)
        self._play(Sharing.SHARED, self.effort.shared)
        if PROCESSES in self.tally.wanted:
            self._play(Sharing.INSTANCES, self.effort.instances)
            if self.record.skips(PROCESSES, "histories by several processes"):
                # What only they would have shown is not held for what callers of one saver did.
                if TORN not in self.record.found:
                    why = "callers hang, and no more were asked"
                    self.tally.withdraw(TORN, hidden(why, PROCESSES))
            else:
                self._apart()
        if not_held and TORN not in self.record.found:
            why = f"not every read could be held between its statements: {not_held}"
            self.tally.withdraw(TORN, why)
        if self.tally.checked[PROCESSES]:
            self.tally.unknown.pop(PROCESSES, None)
        self.tally.handed += self.flaws.found.values()

    def _hold_reads(self) -> str:
        """Hold reads while another process writes: between two processes, only the store can keep a
        read whole. Return why some reads could not be held, if so.
        """
        many = Capability.MANY_PROCESSES in self.bench.plan.facts["capabilities"]
        if not (many and self.effort.reads and self.tally.wanted & {TORN, INSTANCES}):
            return ""
        why, where = hold_reads(self.bench, self.able, self.record, self.effort.reads)
        if self.effort.stopped_s and TORN not in self.record.found:
            stopped = stop_reads(self.bench, self.able, self.record, where, self.effort.stopped_s)
            why = "; ".join(filter(None, [why, stopped]))
        return why

    def _apart(self) -> None:
        """Play with several processes, and with one that is stopped for a while."""
        self._play(Sharing.PROCESSES, self.effort.processes)
        if self.record.skips(PROCESSES, "histories with a lock that is held"):
            return
        self._lock()
        if self.effort.overtaken and self.able.history and not self.alone.wrong:
            overtake(self.bench, self.able, self.record)

    def _rehearse(self) -> bool:
        """Return whether the saver answers one caller alone. If those answers are wrong, find out
        what is wrong with them.
        """
        plan = self.bench.plan
        script = rehearsal(f"{plan.seed}:{plan.api}", self.able, self.effort)
        played = play(self.bench, script)
        quick = plan.facts.get("call_ms", 0.0) < SLOW_CALL_MS
        self.apart = played.in_files and quick and not plan.facts.get("on_server", False)
        why = played.trouble or played.hung or played.slow or played.died
        if why:
            alone = "it does not answer one caller alone"
            self.tally.unknown |= dict.fromkeys(HISTORIES, f"{alone}: {why}"[:600])
            return False
        self.alone = OneCaller.rehearsed(played.events)
        if self.alone.wrong:
            self.record.saw_alone(self.alone.wrong, self.flaws.look_into(script))
        return True

    # --- with many -------------------------------------------------------------------------

    def _play(self, sharing: Sharing, number: int) -> None:
        contract_of_loss = THREADS if sharing is Sharing.SHARED else PROCESSES
        broken = judged = slow = 0
        why = ""
        name = f"{self.bench.plan.seed}:{self.bench.plan.api}"
        scripts = [script_of(sharing, n, name, self.able, self.effort) for n in range(number)]
        if sharing is Sharing.PROCESSES:
            scripts = self._with_readers(scripts)
        at_once = AT_ONCE[sharing] if self.apart else 1
        batches = list(batched(scripts, at_once))
        batch_of = f"batches of {at_once} " if at_once > 1 else ""
        left_out = f"{batch_of}histories by {sharing.value}"
        for batch in self.tally.budget.within(batches, left_out, _SHARES[sharing]):
            all_played = play_at_once(self.bench, batch)
            self.tally.beat()
            for played in all_played:
                self.record.scenes[sharing.value] += 1
                if not ended(played) and (played.trouble or played.slow):
                    why = played.trouble or played.slow
                    slow += bool(played.slow)
                    self.tally.note(f"{sharing.value}: {why}"[:300])
                    continue
                judged += 1
                problems = self._judged(played)
                known = len(self.record.found)
                self.record.saw(problems, {"scene": "history", **played.script.to_json()})
                broken += bool(problems) and len(self.record.found) == known
            # A history that hangs costs the watchdog's time, once.
            if any(played.hung for played in all_played):
                self.record.hung.add(contract_of_loss)
            over = any(played.hung or played.died for played in all_played)
            over = over or self.record.is_complete(HISTORIES)
            if over or slow >= _TOO_SLOW or broken >= ENOUGH:
                break
        if number and not judged and not self.tally.checked[contract_of_loss]:
            self.tally.unknown.setdefault(contract_of_loss, f"no history was recorded: {why}"[:600])

    def _with_readers(self, scripts: Sequence[CallPlan]) -> list[CallPlan]:
        """Let another caller of each process read in all histories but the first, if callers of
        one saver are known not to disturb each other.
        """
        if THREADS not in self.tally.wanted or {THREADS, TORN} & self.record.found.keys():
            return [*scripts]
        reading = [
            replace(one, reads_beside=True, schedule=replace(one.schedule, switch_s=_SWITCH_S))
            for one in scripts[1:]
        ]
        return [*scripts[:1], *reading]

    def _judged(self, played: Played) -> list[Problem]:
        """Return what is wrong with the end of a history, or with its answers, if it is wrong only
        with several callers.
        """
        shared = played.script.sharing is Sharing.SHARED
        judgement = judge_history(
            played.events, shared=shared, semantics=self.alone.semantics, known=self.alone.known
        )
        self._count(judgement, THREADS if shared else PROCESSES)
        if problems := ended(played):
            return problems
        self.record.saw_alone(judgement.known, self.flaws.known)
        problems = self.of_callers(judgement.problems)
        if not problems:
            return []
        parts = divided(self.bench, played, problems, self.alone)
        if parts.of_one:
            self.record.saw_alone(parts.of_one, self.flaws.look_into(parts.calls))
        return parts.of_callers

    def _lock(self) -> None:
        played = locked(self.bench, self.effort.hold_s, self.able)
        if played is None or played.trouble or played.slow:
            return
        self.record.scenes[Sharing.LOCKED.value] += 1
        scene = {"scene": "lock held", "hold_s": self.effort.hold_s}
        self.record.saw(self._judged(played), scene)

    def _count(self, judgement: Judgement, name: str) -> None:
        tally = self.tally
        tally.operations += judgement.acknowledged + judgement.raised
        tally.agreed(name, judgement.acknowledged)
        tally.agreed(TORN, judgement.reads)
        tally.agreed(ORDER, judgement.keys)
        if judgement.cut_off:
            tally.unknown[ORDER] = CUT_OFF
        if name == PROCESSES:
            self.record.raised.update(error[:120] for error in judgement.errors)

    def of_callers(self, problems: Sequence[Problem]) -> list[Problem]:
        """Return the problems, except those that only repeat a known flaw of listings."""
        known = self.record.found.get(ITERATION)
        if known is None or "raised" not in known.problem.observed:
            return [*problems]
        error = known.problem.observed.rpartition("raised ")[2].partition(":")[0]
        return [problem for problem in problems if not _is_of_a_listing(problem, error)]


def _is_of_a_listing(problem: Problem, error: str) -> bool:
    """Return whether the problem is only that a listing raised this error."""
    if problem.contract not in (THREADS, TORN) or not problem.events:
        return False
    last = problem.events[-1]
    return last.operation.kind is OperationKind.LIST and (last.error or "").startswith(error)
