"""Tells what a failed put or put_writes has done to checkpoints that were stored before it."""

from __future__ import annotations

from dataclasses import dataclass

from saverproof.families.atomicity.sweeps.reference_states import References, ReferenceStates, apart
from saverproof.families.atomicity.trials.observation import Viewpoint
from saverproof.programs.steps.definitions import Put, PutWrites
from saverproof.programs.steps.identifiers import mint
from saverproof.savers.execution.settled_calls import Key
from saverproof.savers.execution.view import UNREADABLE, Contents, Snapshot, is_latest


@dataclass(frozen=True, slots=True)
class Aftermath:
    """A look after ``step`` has failed. It is compared with the clean runs' look at the viewpoint
    ``like``.
    """

    references: References
    step: Put | PutWrites
    look: Snapshot
    like: Viewpoint

    @property
    def harm(self) -> str:
        """Return what has happened to an earlier checkpoint; "" if all of them read as before.

        The checkpoint that a batch belongs to counts as an earlier one. A put may change a
        checkpoint that it stores again, but must not remove it.
        """
        before = self.references.before.snapshots[self.like].at(self._own)
        now = self.look.at(self._own)
        if _can_be_read(before) and not _can_be_read(now):
            return f"an earlier checkpoint {'is gone' if now is None else 'cannot be read'}"
        of_the_batch = isinstance(self.step, PutWrites) and _differ_beside_writes(before, now)
        others = (s for key, s in self._states.items() if key != self._own and not is_latest(key))
        if of_the_batch or any(not state & ReferenceStates.BEFORE for state in others):
            return "an earlier checkpoint has changed"
        return ""

    @property
    def shows_its_own(self) -> bool:
        """Return whether the step's own checkpoint can be read, and differs from before the
        step.
        """
        state = self._states.get(self._own, ReferenceStates.BEFORE)
        return _can_be_read(self.look.at(self._own)) and not state & ReferenceStates.BEFORE

    @property
    def _own(self) -> Key:
        return (self.step.thread, self.step.namespace, mint(self.step.number))

    @property
    def _states(self) -> dict[Key, ReferenceStates]:
        return dict(apart(self.references, self.look, self.like))


def _can_be_read(shown: Contents | None) -> bool:
    return shown is not None and UNREADABLE not in shown


def _differ_beside_writes(before: Contents | None, now: Contents | None) -> bool:
    """Return whether a checkpoint can be read before and now, and differs in more than its pending
    writes.
    """
    if before is None or now is None or UNREADABLE in before or UNREADABLE in now:
        return False
    return any(before[part] != now[part] for part in ("checkpoint", "metadata", "parent"))
