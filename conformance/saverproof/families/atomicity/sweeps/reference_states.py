"""Tells which state of the clean runs a look shows: the one before the operation, or the one after
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Flag

from saverproof.families.atomicity.scenarios import FaultScenario
from saverproof.families.atomicity.trials.observation import TrialObservation, Viewpoint
from saverproof.savers.execution.settled_calls import Key
from saverproof.savers.execution.view import Contents, Snapshot

Group = tuple[str, ...]
"""Threads that are judged together."""


class ReferenceStates(Flag):
    """The states that a group of threads may be in. Both apply if the operation makes no difference
    to the group.
    """

    NEITHER = 0
    BEFORE = 1
    AFTER = 2
    SAME = 3


@dataclass(frozen=True, slots=True)
class References:
    """Two clean runs of a scenario, one without the operation and one with it."""

    scenario: FaultScenario
    before: TrialObservation
    after: TrialObservation

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups of threads: each thread alone, or all together."""
        threads = self.scenario.threads
        if self.scenario.thread_by_thread:
            return tuple((thread,) for thread in threads)
        return (threads,)

    def states(self, snapshot: Snapshot, viewpoint: Viewpoint) -> dict[Group, ReferenceStates]:
        """Return the state of each group in a look. The look is comparable with the clean runs'
        look at ``viewpoint``.
        """
        return {group: self._state(group, snapshot, viewpoint) for group in self.groups}

    def _state(self, group: Group, snapshot: Snapshot, viewpoint: Viewpoint) -> ReferenceStates:
        own = snapshot.of_threads(group)
        found = ReferenceStates.NEITHER
        for state, observation in (
            (ReferenceStates.BEFORE, self.before),
            (ReferenceStates.AFTER, self.after),
        ):
            if own.agrees(observation.snapshots[viewpoint].of_threads(group)):
                found |= state
        return found

    def first(self, viewpoint: Viewpoint) -> Viewpoint:
        """Return the viewpoint of the clean runs with which to compare a look at ``viewpoint``, if
        nothing was written in between. It is a fresh saver's viewpoint if the clean runs have one,
        else the saver's own.
        """
        fresh = self.shows(Viewpoint.FRESH) and viewpoint is not Viewpoint.OWN
        return Viewpoint.FRESH if fresh else Viewpoint.OWN

    def differ(self, viewpoint: Viewpoint) -> bool:
        """Return whether the clean runs show at this viewpoint that the operation makes a
        difference.
        """
        if not self.shows(viewpoint):
            return False
        seen = self.states(self.after.snapshots[viewpoint], viewpoint)
        return any(state is not ReferenceStates.SAME for state in seen.values())

    def shows(self, viewpoint: Viewpoint) -> bool:
        """Return whether both clean runs have a look at ``viewpoint``."""
        return viewpoint in self.before.snapshots and viewpoint in self.after.snapshots

    def right(
        self,
        observation: TrialObservation,
        viewpoint: Viewpoint,
        committed: Mapping[Group, ReferenceStates],
    ) -> bool:
        """Return whether a later look shows the same states as those that were committed."""
        seen = self.states(observation.snapshots[viewpoint], viewpoint)
        return all(seen[group] & state for group, state in committed.items())


def apart(
    references: References, snapshot: Snapshot, viewpoint: Viewpoint
) -> list[tuple[Key, ReferenceStates]]:
    """Return the state of each checkpoint that differs between the two clean runs, or from both of
    them.
    """
    before, after = references.before.snapshots[viewpoint], references.after.snapshots[viewpoint]
    keys = sorted(snapshot.by_key.keys() | snapshot.keys() | before.keys() | after.keys())
    found: list[tuple[Key, ReferenceStates]] = []
    for key in keys:
        if key[0] not in references.scenario.threads:
            continue
        state = ReferenceStates.NEITHER
        if _like(snapshot.at(key), before.at(key)):
            state |= ReferenceStates.BEFORE
        if _like(snapshot.at(key), after.at(key)):
            state |= ReferenceStates.AFTER
        if state is not ReferenceStates.SAME:
            found.append((key, state))
    return found


def _like(shown: Contents | None, reference: Contents | None) -> bool:
    return shown == reference
