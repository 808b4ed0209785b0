"""Decides which contract a trial shows to be broken, if any: one contract for one flaw.

The checks come in this order. What is there at once, and should not be? What comes later? What was
written afterwards, and is lost? Can the saver be used? What does only the saver itself see?

A torn batch that everybody can see breaks all-or-nothing. A harmed checkpoint that was stored
before breaks previous-intact. A batch that nobody else sees until another write commits it breaks
no-late-commit, although the lock was held meanwhile. A transaction that is left open breaks
usable-after if later writes undo it, and no-silent-loss if later writes are lost with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from saverproof.families.atomicity.scenarios import ELSEWHERE, UNRELATED
from saverproof.families.atomicity.sweeps.harm import Aftermath
from saverproof.families.atomicity.sweeps.reference_states import Group, References, ReferenceStates
from saverproof.families.atomicity.sweeps.wording import place, portrait, wanted_portrait
from saverproof.families.atomicity.trials.observation import (
    OperationEnding,
    TrialObservation,
    Viewpoint,
)
from saverproof.families.atomicity.verdicts import (
    LATE,
    PREVIOUS,
    SILENT,
    USABLE,
    WHOLE,
    FaultVerdict,
    broken,
)
from saverproof.programs.steps.definitions import Put, PutWrites
from saverproof.savers.execution.settled_calls import Key
from saverproof.savers.execution.view import Snapshot


@dataclass(frozen=True, slots=True)
class FaultJudge:
    """Judges the trials of one scenario by its clean runs. Only what reads show counts; what the
    tables hold does not.
    """

    references: References

    def judge(self, observation: TrialObservation) -> FaultVerdict:
        """Return the verdict on a whole trial."""
        if not observation.fired:
            return FaultVerdict("not-fired", summary=observation.note)
        return _TrialJudge(self.references, observation).verdict()

    def surely_wrong(self, observation: TrialObservation) -> bool:
        """Return whether a trial need not go on, because it has already shown a flaw."""
        return _TrialJudge(self.references, observation).surely_wrong()


class _TrialJudge:
    """Judges one trial up to its current point.

    ``committed`` are the states that others saw right after the operation; None if nobody else
    could look.
    """

    def __init__(self, references: References, seen: TrialObservation) -> None:
        self.references = references
        self.seen = seen
        self.snapshots = seen.snapshots
        self.committed = self._committed()

    def verdict(self) -> FaultVerdict:
        """Return the verdict on the trial."""
        at_once = self._at_once()
        later = at_once or self._later() or self._lost() or self._usable() or self._own()
        found = later or self._right()
        unseen = self._unseen() | found.unseen
        # What is found broken is not looked at any further.
        if at_once is not None:
            unseen |= {LATE}
        if later is not None:
            unseen |= {USABLE}
        return replace(found, unseen=unseen - {found.contract})

    def _right(self) -> FaultVerdict:
        states = (self.committed or {}).values()
        held = any(not state & ReferenceStates.BEFORE for state in states)
        return FaultVerdict("held" if held else "clean")

    def _unseen(self) -> frozenset[str]:
        """Return the contracts about which the trial says nothing."""
        later = any(map(self._is_readable, (Viewpoint.FRESH_LATER, Viewpoint.CLOSED)))
        seen: set[str] = set()
        if self.committed is not None or later:
            seen |= {WHOLE, PREVIOUS, SILENT}
        if self.committed is not None and (later or self.seen.whole):
            seen.add(LATE)
        if self._was_used():
            seen.add(USABLE)
        return frozenset({WHOLE, PREVIOUS, SILENT, LATE, USABLE} - seen)

    def _is_readable(self, viewpoint: Viewpoint) -> bool:
        look = self.snapshots.get(viewpoint)
        return look is not None and bool(look.by_key or look.listed) and not look.unreadable

    def _was_used(self) -> bool:
        """Return whether something was written after the operation. If the operation was the
        opening of the saver, another saver writes.
        """
        by = Viewpoint.CLOSED if self.references.scenario.is_setup else Viewpoint.OWN_LATER
        return by in self.snapshots

    def surely_wrong(self) -> bool:
        """Return whether what was seen is already enough for a verdict."""
        if Viewpoint.OWN_LATER not in self.snapshots:
            return self._at_once() is not None
        return bool(self._problems() or self._locked()) or not self._as_expected()

    # --- what is there at once -------------------------------------------------------------

    def _committed(self) -> dict[Group, ReferenceStates] | None:
        references, seen = self.references, self.seen
        fresh = self.snapshots.get(Viewpoint.FRESH)
        if fresh is not None and not fresh.unreadable and references.shows(Viewpoint.FRESH):
            return references.states(fresh, Viewpoint.FRESH)
        if seen.changed == () and references.before.changed == () != references.after.changed:
            return dict.fromkeys(references.groups, ReferenceStates.BEFORE)
        own = self.snapshots.get(Viewpoint.OWN)
        if seen.changed is None or seen.locked or own is None or self._only_own_is_unreadable():
            return None
        return references.states(own, Viewpoint.OWN)

    def _only_own_is_unreadable(self) -> bool:
        """Return whether this saver cannot read, but another saver can after this one is closed.
        The store is then intact, but the saver cannot be used.
        """
        closed = self.snapshots.get(Viewpoint.CLOSED)
        readable = closed is None or not closed.unreadable
        return bool(self.snapshots[Viewpoint.OWN].unreadable) and readable

    def _at_once(self) -> FaultVerdict | None:
        committed = self.committed
        if committed is None:
            return self._unreadable()
        viewpoint = Viewpoint.FRESH if Viewpoint.FRESH in self.snapshots else Viewpoint.OWN
        if self.seen.returned:
            if all(state & ReferenceStates.AFTER for state in committed.values()):
                return None
            return self._wrong(SILENT, "it returned, and is not stored", viewpoint)
        if ReferenceStates.NEITHER in committed.values():
            return self._in_part(viewpoint, viewpoint)
        return None

    def _in_part(self, viewpoint: Viewpoint, like: Viewpoint) -> FaultVerdict:
        """Judge a failed call if a look shows neither the state before it nor the state after it.

        Harm to earlier checkpoints comes first, unless the look also shows a part of what the call
        stores. The verdict names the other of the two contracts as not looked at.
        """
        step, look = self.references.scenario.step, self.snapshots[viewpoint]
        harm, torn = "", True
        if isinstance(step, Put | PutWrites):
            aftermath = Aftermath(self.references, step, look, like)
            harm = aftermath.harm
            torn = not harm or aftermath.shows_its_own
        if not torn:
            harmed = self._wrong(PREVIOUS, f"it failed, and {harm}", viewpoint)
            return replace(harmed, unseen=frozenset({WHOLE}))
        left = "what it has left cannot be read" if look.unreadable else "part of it is stored"
        in_part = self._wrong(WHOLE, f"it failed, and {left}", viewpoint)
        return replace(in_part, unseen=frozenset({PREVIOUS} if harm else ()))

    def _unreadable(self) -> FaultVerdict | None:
        """Judge a call that returned, and left data that only the saver itself can read."""
        fresh = self.snapshots.get(Viewpoint.FRESH)
        shown = fresh is not None and self.references.shows(Viewpoint.FRESH)
        if not self.seen.returned or fresh is None or not shown or not fresh.unreadable:
            return None
        return self._wrong(SILENT, "it returned, and others cannot read the store", Viewpoint.FRESH)

    # --- what comes later ------------------------------------------------------------------

    def _later(self) -> FaultVerdict | None:
        """Return a verdict on what others see after the saver has written something else, or was
        closed.
        """
        committed = self.committed
        for viewpoint in (Viewpoint.FRESH_LATER, Viewpoint.CLOSED):
            if self.seen.whole or not self._is_readable(viewpoint):
                continue
            look = self.snapshots[viewpoint]
            first = self.references.first(viewpoint)
            now = self.references.states(look, first)
            if self.seen.returned:
                if not all(state & ReferenceStates.AFTER for state in now.values()):
                    return self._wrong(SILENT, "it returned, and is not stored", viewpoint)
                continue
            if committed is None and ReferenceStates.NEITHER in now.values():
                return self._in_part(viewpoint, first)
            if committed is not None and any(not now[g] & s for g, s in committed.items()):
                summary = "it failed and was not stored, until something else was written"
                return self._wrong(LATE, summary, viewpoint)
        return None

    # --- what was acknowledged afterwards --------------------------------------------------

    def _lost(self) -> FaultVerdict | None:
        """Return a verdict on what was written after the operation, and is gone after the saver was
        closed.
        """
        when = "after the fault" if self.seen.returned else "after it failed"
        if not self._is_readable(Viewpoint.CLOSED) or self.seen.hung:
            return None
        closed = self.snapshots[Viewpoint.CLOSED]
        clean = self.references.before.snapshots[Viewpoint.CLOSED]
        written = Viewpoint.OWN_LATER in self.snapshots
        if written and "an unrelated write" not in self.seen.problems:
            gone = clean.thread(UNRELATED).keys() - closed.keys()
            if gone:
                return self._gone(f"{when}, an unrelated write returned, and is not stored", gone)
        if self.seen.retry is OperationEnding.RETURNED and self._is_as_before_the_retry(closed):
            text = portrait(self.references, closed, Viewpoint.CLOSED)
            summary = f"{when}, the same call again returned, and is not stored"
            observed = f"{Viewpoint.CLOSED}: {text}"
            return broken(SILENT, summary, "what the call stores", observed)
        return None

    @staticmethod
    def _gone(summary: str, keys: Iterable[Key]) -> FaultVerdict:
        observed = f"{Viewpoint.CLOSED}: {place(min(keys))} is not there"
        return broken(SILENT, summary, "all that was written, stored", observed)

    def _is_as_before_the_retry(self, closed: Snapshot) -> bool:
        """Return whether the store lacks what the operation stores, although it was called once
        more.
        """
        if self.committed is None or not self.seen.whole:
            return False
        if self.references.right(self.seen, Viewpoint.CLOSED, self.committed):
            return False
        now = self.references.states(closed, self.references.first(Viewpoint.CLOSED))
        unchanged = all(now[group] & state for group, state in self.committed.items())
        own_is_right = self.references.right(self.seen, Viewpoint.RETRIED, self.committed)
        return unchanged or own_is_right

    # --- whether the saver can be used -----------------------------------------------------

    def _usable(self) -> FaultVerdict | None:
        if self.seen.ending is OperationEnding.UNANSWERED:
            what = "under the fault, the operation never returned"
            return self._stuck(what, "an answer or an error", self.seen.hung)
        when = "after the fault" if self.seen.returned else "after it failed"
        if self.seen.hung:
            return self._stuck(f"{when}, the saver hangs", "an answer or an error", self.seen.hung)
        symptoms = list(self._symptoms())
        if not symptoms:
            return self._used(when)
        left = [f"left open: {transaction}" for transaction in self.seen.transactions]
        observed = "; ".join([*(f"{what}: {seen}" for what, seen in symptoms), *left])
        return self._stuck(f"{when}, {symptoms[0][0]}", "a saver that works as before", observed)

    def _symptoms(self) -> Iterator[tuple[str, str]]:
        """Yield what no longer works, and what was seen of it."""
        behind = self._behind()
        if behind:
            yield "the saver does not see new data", behind
        for what, error in self._problems().items():
            yield f"{what} fails", error
        if locked := self._locked():
            yield "nobody else can write", f"{', '.join(locked)} is locked"
        for viewpoint in (Viewpoint.OWN, Viewpoint.OWN_LATER, Viewpoint.REVIVED, Viewpoint.RETRIED):
            look = self.snapshots.get(viewpoint)
            unread = None if look is None else look.unreadable
            if unread and not self.references.before.snapshots[viewpoint].unreadable:
                yield "reading fails", unread

    def _locked(self) -> list[str]:
        """Return the databases that are locked, but are not locked in a clean run."""
        return [name for name in self.seen.locked if name not in self.references.before.locked]

    def _problems(self) -> dict[str, str]:
        """Return the operations that failed although they work in the clean runs, with their
        errors.
        """
        states = (self.committed or {(): ReferenceStates.SAME}).values()
        known: set[str] = set()
        for state, clean in (
            (ReferenceStates.BEFORE, self.references.before),
            (ReferenceStates.AFTER, self.references.after),
        ):
            if any(state & seen for seen in states):
                known |= clean.problems.keys()
        return {what: error for what, error in self.seen.problems.items() if what not in known}

    def _behind(self) -> str:
        """Return what others have committed and the saver does not see; "" if it sees
        everything.
        """
        if Viewpoint.OWN_LATER not in self.snapshots:
            return ""
        seen = self.snapshots[Viewpoint.OWN_LATER]
        clean = self.references.before.snapshots[Viewpoint.OWN_LATER]
        unseen = []
        if Viewpoint.FRESH in self.snapshots and not _agree(seen, clean, ELSEWHERE):
            unseen.append("what another saver has committed since")
        if "an unrelated write" not in self.seen.problems and not _agree(seen, clean, UNRELATED):
            unseen.append("what it has written itself since")
        return f"it does not see {' and '.join(unseen)}" if unseen and not seen.unreadable else ""

    def _used(self, when: str) -> FaultVerdict | None:
        committed = self.committed
        if committed is None:
            return None
        revived = Viewpoint.REVIVED in self.snapshots
        if revived and not self.references.right(self.seen, Viewpoint.REVIVED, committed):
            if self.seen.returned:
                summary = (
                    "it returned, and what it should have removed comes back with its checkpoint"
                )
                return self._wrong(SILENT, summary, Viewpoint.REVIVED)
            summary = "it failed, and part of what it should remove comes back with its checkpoint"
            return self._wrong(WHOLE, summary, Viewpoint.REVIVED)
        for viewpoint in (Viewpoint.RETRIED, Viewpoint.CLOSED):
            if viewpoint not in self.snapshots or not self.seen.whole:
                continue
            if not self.references.right(self.seen, viewpoint, committed):
                text = portrait(self.references, self.snapshots[viewpoint], viewpoint)
                summary = f"{when}, the same call again stores something else"
                return self._stuck(summary, "what the call stores", f"{viewpoint}: {text}")
        return None

    # --- what only the saver sees ----------------------------------------------------------

    def _own(self) -> FaultVerdict | None:
        committed = self.committed
        if committed is None or Viewpoint.OWN not in self.snapshots:
            return None
        if self.references.right(self.seen, Viewpoint.OWN, committed):
            return None
        if self.seen.returned:
            text = portrait(self.references, self.snapshots[Viewpoint.OWN], Viewpoint.OWN)
            return self._stuck("the saver does not see what it has stored", "all of it", text)
        summary = "it failed and is not stored, but the saver itself shows some of it"
        return self._wrong(WHOLE, summary, Viewpoint.OWN)

    def _as_expected(self) -> bool:
        """Return whether the saver's own later looks show what they must."""
        committed = self.committed
        if committed is None:
            committed = self.references.states(self.snapshots[Viewpoint.OWN], Viewpoint.OWN)
        later = [m for m in (Viewpoint.OWN_LATER, Viewpoint.REVIVED) if m in self.snapshots]
        return not self._behind() and all(
            self.references.right(self.seen, viewpoint, committed) for viewpoint in later
        )

    # --- verdicts --------------------------------------------------------------------------

    def _wrong(self, contract: str, summary: str, viewpoint: Viewpoint) -> FaultVerdict:
        like = viewpoint if viewpoint in self.references.before.snapshots else Viewpoint.OWN
        if viewpoint in (Viewpoint.FRESH_LATER, Viewpoint.CLOSED):
            like = self.references.first(viewpoint)
        return broken(
            contract,
            summary,
            wanted_portrait(self.references, self.seen.ending, like, self.snapshots[viewpoint]),
            f"{viewpoint}: {portrait(self.references, self.snapshots[viewpoint], like)}",
        )

    @staticmethod
    def _stuck(summary: str, expected: str, observed: str) -> FaultVerdict:
        return broken(USABLE, summary, expected, observed)


def _agree(seen: Snapshot, clean: Snapshot, thread: str) -> bool:
    return seen.thread(thread).agrees(clean.thread(thread))
