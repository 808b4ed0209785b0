"""Tells whether a server's death damaged the call that was under way, or lost calls that had
returned before.

A server that answers a commit before it has written it loses the last commits, whichever call is
under way. The store may then look as if the call under way had been done in part, since a deletion
that removes the newest first also leaves an earlier state. So the server is also killed when
nothing is called.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

from saverproof.families.atomicity.sweeps.reference_states import References
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.atomicity.trials.observation import TrialObservation, Viewpoint
from saverproof.families.atomicity.trials.prepared_store import PreparedStore, made, placed
from saverproof.families.atomicity.trials.trial import FaultTrial
from saverproof.families.atomicity.trials.worker import UnansweredError
from saverproof.families.atomicity.verdicts import (
    LATE,
    LOST_CONNECTION,
    PREVIOUS,
    SILENT,
    SURVIVES,
    USABLE,
    WHOLE,
    FaultVerdict,
    broken,
)
from saverproof.programs.steps.describing import describe
from saverproof.savers.execution.view import Snapshot, Wanted, snapshot
from saverproof.savers.targets.opening import opened
from saverproof_faults import Event, Fault, Place, Plan

_IN_QUESTION = frozenset({WHOLE, PREVIOUS, SILENT, LATE, USABLE})
"""Contracts that may seem to be broken instead: even the tables that the saver has set up may be
gone.
"""
_UNSEEN = frozenset({*_IN_QUESTION, LOST_CONNECTION})
_DEATHS = 8
"""How often the server is killed when nothing is called, at most: it ends with the first loss. A
server that has just written everything loses nothing, on a busy machine one time in five or so.
With two deaths, one sweep in thirty blamed the call under way.
"""


@dataclass(slots=True)
class EarlierCalls:
    """The calls that returned before a scenario's operation, on a server that may be killed."""

    bench: FaultBench
    store: PreparedStore
    references: References
    _ends: list[Snapshot] = field(default_factory=list)
    _are_lost: dict[Fault, bool] = field(default_factory=dict)

    def judge(
        self, fault: Fault, observation: TrialObservation, verdict: FaultVerdict
    ) -> FaultVerdict:
        """Return the verdict on a trial in which the server has died: that earlier calls were lost,
        or the given ``verdict``.

        If the operation under way failed, earlier calls were lost if the store is exactly as it was
        after one of them. If it returned, it is itself one of the lost calls.
        """
        look = observation.snapshots.get(Viewpoint.FRESH)
        if verdict.contract not in _IN_QUESTION or look is None:
            return verdict
        kept = None if observation.returned else self._kept(look)
        if (kept is None and not observation.returned) or not self._lost_by(fault):
            return verdict
        summary = "the server died, and acknowledged operations are gone"
        observed = verdict.observed
        if kept is not None:
            gone = self.references.scenario.start[kept:]
            plural = "operation is" if len(gone) == 1 else "operations are"
            summary = f"the server died, and {len(gone)} acknowledged {plural} gone"
            observed = "gone: " + "; ".join(map(describe, gone))
        expected = "every operation that had returned is there"
        return replace(broken(SURVIVES, summary, expected, observed), unseen=_UNSEEN)

    def _kept(self, look: Snapshot) -> int | None:
        """Return the number of calls after which the store was as the look shows it; None if it
        never was.
        """
        if not self._ends:
            self._ends = self.bench.on_worker(self._played)
        kept = (n for n, end in enumerate(self._ends) if look.agrees(end))
        return next(kept, None)

    def _played(self) -> list[Snapshot]:
        """Return what is seen before each of the calls, in a clean run."""
        bench, store, ends = self.bench, self.store, list[Snapshot]()
        clean = self.references.before.snapshots[Viewpoint.FRESH]
        threads = None if clean.listed is None else (*clean.listed,)
        wanted = Wanted((*clean.by_key,), threads, clean.among_all is not None)
        with (
            placed(store, bench.target, bench.folder) as workspace,
            opened(bench.target, workspace, bench.loop) as saver,
        ):
            driver = bench.driver(saver, workspace)
            for call in store.settled.start:
                ends.append(snapshot(driver, wanted))
                made(driver, (call,))
        return ends

    def _lost_by(self, fault: Fault) -> bool:
        """Return whether calls are also lost if nothing is called while the server dies."""
        if fault not in self._are_lost:
            deaths = (self._left_by(fault) for _ in range(_DEATHS))
            before = self.references.before.snapshots[Viewpoint.FRESH]
            self._are_lost[fault] = any(
                bool(left.by_key) and not left.unreadable and not left.agrees(before)
                for left in deaths
            )
        return self._are_lost[fault]

    def _left_by(self, fault: Fault) -> Snapshot:
        """Return what a fresh saver sees after the server died while nothing was called."""
        observation = TrialObservation()
        trial = FaultTrial(
            self.bench, self.references.scenario, self.store, observation, lambda _: True
        )
        try:
            self.bench.on_worker(partial(trial.run, lambda running: _strike(running, fault)))
        except UnansweredError:
            self.bench.renew()
        return observation.snapshots.get(Viewpoint.FRESH, Snapshot())


def _strike(trial: FaultTrial, fault: Fault) -> None:
    plan = Plan(fault, Place(Event.START))
    with trial.bench.storage(plan).following(plan):
        pass
