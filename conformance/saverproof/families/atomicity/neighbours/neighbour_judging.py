"""Judges calls of two callers at once. Each caller has its own thread of the store, and is judged
by how its own call ended.
"""

from __future__ import annotations

from dataclasses import dataclass

from saverproof.families.atomicity.neighbours.neighbour_calls import MeetingTrial, SharedScenario
from saverproof.families.atomicity.sweeps.reference_states import References, ReferenceStates
from saverproof.families.atomicity.sweeps.wording import portrait
from saverproof.families.atomicity.trials.observation import (
    OperationEnding,
    TrialObservation,
    Viewpoint,
)
from saverproof.families.atomicity.verdicts import (
    CANCELLED,
    LATE,
    SILENT,
    USABLE,
    WHOLE,
    FaultVerdict,
    broken,
)
from saverproof.savers.execution.view import Snapshot


@dataclass(frozen=True, slots=True)
class MeetingJudge:
    """Judges two callers' trials by two clean runs: in one, neither caller calls; in the other,
    they call one after the other.
    """

    references: References

    def verdict(self, trial: MeetingTrial) -> FaultVerdict:
        """Return the verdict on the trial."""
        seen = trial.observation
        if seen.hung:
            said = f"another caller's call was under way, and: {seen.hung}"
            return broken(USABLE, "two callers: the saver hangs", "answers or errors", said)
        return self._stored(trial) or self._late(trial) or self._usable(seen) or _right(seen)

    def _stored(self, trial: MeetingTrial) -> FaultVerdict | None:
        for viewpoint, look in self._looks(trial.observation):
            for thread, ending, who in self._callers(trial):
                state = self._state(thread, look, viewpoint)
                if ending is OperationEnding.RETURNED and not state & ReferenceStates.AFTER:
                    part = "a part of it" if state is ReferenceStates.NEITHER else "nothing of it"
                    summary = f"{who} returned while {_other(who)} failed, and {part} is stored"
                    return self._wrong(SILENT, summary, look, viewpoint)
                if state is ReferenceStates.NEITHER:
                    contract = CANCELLED if ending is OperationEnding.CANCELLED else WHOLE
                    summary = f"{who} failed while {_other(who)} was under way, and part is stored"
                    return self._wrong(contract, summary, look, viewpoint)
        return None

    def _late(self, trial: MeetingTrial) -> FaultVerdict | None:
        looks = dict(self._looks(trial.observation))
        if not {Viewpoint.FRESH, Viewpoint.CLOSED} <= looks.keys():
            return None
        for thread, ending, who in self._callers(trial):
            first, last = (
                self._state(thread, looks[viewpoint], viewpoint)
                for viewpoint in (Viewpoint.FRESH, Viewpoint.CLOSED)
            )
            if ending is not OperationEnding.RETURNED and not first & last:
                summary = f"{who} failed and was not stored, until something else was written"
                return self._wrong(LATE, summary, looks[Viewpoint.CLOSED], Viewpoint.CLOSED)
        return None

    def _usable(self, seen: TrialObservation) -> FaultVerdict | None:
        known = self.references.before.problems.keys() | self.references.after.problems.keys()
        for what, error in seen.problems.items():
            if what not in known:
                summary = f"after two callers met and one failed, {what} fails"
                return broken(USABLE, summary, "a saver that works as before", error)
        return None

    def _callers(self, trial: MeetingTrial) -> tuple[tuple[str, OperationEnding, str], ...]:
        scenario = self.references.scenario
        assert isinstance(scenario, SharedScenario)
        return (
            (scenario.threads[0], trial.observation.ending, "the first call"),
            (scenario.neighbour.thread, trial.neighbour, "the second call"),
        )

    def _looks(self, seen: TrialObservation) -> list[tuple[Viewpoint, Snapshot]]:
        """Return the looks of other savers; if no other saver could look, return those of the saver
        itself.
        """
        looks = [
            (viewpoint, look)
            for viewpoint, look in seen.snapshots.items()
            if look.listed and not look.unreadable and self.references.shows(viewpoint)
        ]
        return [one for one in looks if one[0] is not Viewpoint.OWN] or looks

    def _state(self, thread: str, look: Snapshot, viewpoint: Viewpoint) -> ReferenceStates:
        return self.references.states(look, viewpoint)[thread,]

    def _wrong(
        self, contract: str, summary: str, look: Snapshot, viewpoint: Viewpoint
    ) -> FaultVerdict:
        observed = f"{viewpoint}: {portrait(self.references, look, viewpoint)}"
        expected = "all of what returned, and of what failed all or nothing"
        return broken(contract, summary, expected, observed)


def _other(who: str) -> str:
    return "the second call" if who == "the first call" else "the first call"


def _right(seen: TrialObservation) -> FaultVerdict:
    return FaultVerdict("clean" if seen.fired else "not-fired")
