"""Which contract a trial shows to be broken, if any: one flaw, one contract.

In this order: what is there at once and should not be; what comes later; whether the saver can be
used; what only the saver itself sees. A torn batch that everybody can see is all-or-nothing; one
that nobody else sees until another write commits it is no-late-commit, although the lock was held
meanwhile; a transaction left open that later writes undo is usable-after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from saverproof.contracts.tables import atomicity
from saverproof.execution.view import Snapshot
from saverproof.families.atomicity.observation import OperationEnding, TrialObservation, Viewpoint
from saverproof.families.atomicity.reference_states import Group, References, ReferenceStates, apart
from saverproof.families.atomicity.scenarios import ELSEWHERE, UNRELATED
from saverproof.families.atomicity.wording import portrait, wanted_portrait
from saverproof.steps.definitions import Put, PutWrites
from saverproof.steps.identifiers import mint

WHOLE = atomicity.ALL_OR_NOTHING.id
LATE = atomicity.NO_LATE_COMMIT.id
USABLE = atomicity.USABLE_AFTER.id
SILENT = atomicity.NO_SILENT_LOSS.id
CANCELLED = atomicity.CANCELLED.id
PREVIOUS = atomicity.PREVIOUS_INTACT.id
LOST_CONNECTION = atomicity.USABLE_AFTER_LOST_CONNECTION.id

_OUTCOMES = {WHOLE: "torn", PREVIOUS: "torn", LATE: "late", SILENT: "lost", USABLE: "stuck"}


@dataclass(frozen=True, slots=True)
class FaultVerdict:
    """What a trial came to; ``contract`` None means that nothing is wrong.

    ``outcome`` is one of the words of a report: clean, held, torn, lost, late, stuck, not-fired.
    """

    outcome: str
    contract: str | None = None
    summary: str = ""
    expected: str = ""
    observed: str = ""


@dataclass(frozen=True, slots=True)
class FaultJudge:
    """Judges the trials of one scenario by its clean runs.

    ``strict`` says that the commits before the fault were counted: an operation that raised before
    its last one may leave nothing.
    """

    references: References
    strict: bool = False

    def judge(self, observation: TrialObservation) -> FaultVerdict:
        """The verdict on a whole trial."""
        if not observation.fired:
            return FaultVerdict("not-fired", summary=observation.note)
        if observation.ending is OperationEnding.HUNG:
            return self._stuck(
                "the operation never returned", "an answer or an error", observation.hung
            )
        wrong = (
            self._at_once(observation)
            or self._later(observation)
            or self._usable(observation)
            or self._own(observation)
        )
        if wrong is not None:
            return wrong
        committed = self.committed(observation)
        held = committed is not None and any(
            not s & ReferenceStates.BEFORE for s in committed.values()
        )
        return FaultVerdict("held" if held else "clean")

    def surely_wrong(self, observation: TrialObservation) -> bool:
        """Whether a trial need not go on, because what it has seen will do."""
        snapshots = observation.snapshots
        if Viewpoint.OWN_LATER not in snapshots:
            return self._at_once(observation) is not None
        stuck = self._problems(observation) or self._locked(observation)
        return bool(stuck) or not self._as_expected(observation)

    # --- what is there at once -------------------------------------------------------------

    def committed(self, observation: TrialObservation) -> dict[Group, ReferenceStates] | None:
        """The states that others saw right after the operation; None if nobody could look."""
        references = self.references
        fresh = observation.snapshots.get(Viewpoint.FRESH)
        if fresh is not None and not fresh.unreadable and references.shows(Viewpoint.FRESH):
            return references.states(fresh, Viewpoint.FRESH)
        if (
            observation.changed == ()
            and references.before.changed == () != references.after.changed
        ):
            return dict.fromkeys(references.groups, ReferenceStates.BEFORE)
        if (
            observation.changed is not None
            and not observation.locked
            and Viewpoint.OWN in observation.snapshots
        ):
            return references.states(observation.snapshots[Viewpoint.OWN], Viewpoint.OWN)
        return None

    def _at_once(self, observation: TrialObservation) -> FaultVerdict | None:
        committed = self.committed(observation)
        if committed is None:
            return None
        viewpoint = Viewpoint.FRESH if Viewpoint.FRESH in observation.snapshots else Viewpoint.OWN
        if observation.ending is OperationEnding.RETURNED:
            if all(state & ReferenceStates.AFTER for state in committed.values()):
                return None
            return self._wrong(SILENT, "it returned, and is not stored", observation, viewpoint)
        if ReferenceStates.NEITHER in committed.values():
            contract = PREVIOUS if self._harms_others(observation, viewpoint) else WHOLE
            summary = (
                "it failed, and changed an earlier checkpoint"
                if contract == PREVIOUS
                else "it failed, and part of it is stored"
            )
            return self._wrong(contract, summary, observation, viewpoint)
        if self._too_much(observation, committed):
            return self._in_part(observation, viewpoint) or self._wrong(
                WHOLE, "it failed before its last commit, and is stored", observation, viewpoint
            )
        return None

    def _in_part(self, observation: TrialObservation, viewpoint: Viewpoint) -> FaultVerdict | None:
        """What reads cannot show of an operation that is half done: which tables it has reached."""
        whole = {*(self.references.after.changed or ())}
        done = {*(observation.changed or ())} & whole
        if not done or done == whole:
            return None
        verdict = self._wrong(WHOLE, "it failed, half done", observation, viewpoint)
        tables = f"changed: {', '.join(sorted(done))}; not: {', '.join(sorted(whole - done))}"
        return replace(verdict, observed=f"{tables}; {verdict.observed}")

    def _too_much(
        self, observation: TrialObservation, committed: Mapping[Group, ReferenceStates]
    ) -> bool:
        """Whether more was lost than the acknowledgement, and yet all of it is there."""
        after = all(
            not state & ReferenceStates.BEFORE
            for state in committed.values()
            if state != ReferenceStates.SAME
        )
        all_the_same = all(state == ReferenceStates.SAME for state in committed.values())
        counted = (
            self.strict
            and observation.ending is OperationEnding.RAISED
            and observation.commits >= 0
        )
        return (
            counted
            and after
            and not all_the_same
            and observation.commits < self.references.transactions
        )

    def _harms_others(self, observation: TrialObservation, viewpoint: Viewpoint) -> bool:
        """Whether what was there before is touched, while the operation's own part is not done."""
        step = self.references.scenario.step
        if not isinstance(step, Put | PutWrites):
            return False
        own = (step.thread, step.namespace, mint(step.number))
        before = self.references.before.snapshots[viewpoint]
        snapshot = observation.snapshots[viewpoint]
        wrong = dict(apart(self.references, snapshot, viewpoint))
        if isinstance(step, Put) and before.at(own) is not None and snapshot.at(own) is None:
            return True
        others = [
            key for key, state in wrong.items() if key != own and not state & ReferenceStates.BEFORE
        ]
        done = own in wrong and not wrong[own] & ReferenceStates.BEFORE
        return bool(others) and not done

    # --- what comes later ------------------------------------------------------------------

    def _later(self, observation: TrialObservation) -> FaultVerdict | None:
        """What others see once the saver has written something else, or was closed."""
        committed = self.committed(observation)
        for viewpoint in (Viewpoint.FRESH_LATER, Viewpoint.CLOSED):
            look = observation.snapshots.get(viewpoint)
            if (
                look is None
                or observation.whole
                or look.unreadable
                or not (look.by_id or look.listed)
            ):
                continue
            first = self.references.first(viewpoint)
            now = self.references.states(look, first)
            if observation.ending is OperationEnding.RETURNED:
                if not all(state & ReferenceStates.AFTER for state in now.values()):
                    return self._wrong(
                        SILENT, "it returned, and is not stored", observation, viewpoint
                    )
                continue
            if committed is None and ReferenceStates.NEITHER in now.values():
                return self._wrong(
                    WHOLE, "it failed, and part of it is stored", observation, viewpoint
                )
            if committed is not None and any(not now[g] & s for g, s in committed.items()):
                summary = "it failed and was not stored, until something else was written"
                return self._wrong(LATE, summary, observation, viewpoint)
        return None

    # --- whether the saver can be used -----------------------------------------------------

    def _usable(self, observation: TrialObservation) -> FaultVerdict | None:
        when = (
            "after it failed"
            if observation.ending is not OperationEnding.RETURNED
            else "after the fault"
        )
        if observation.hung:
            return self._stuck(
                f"{when}, the saver hangs", "an answer or an error", observation.hung
            )
        symptoms = list(self._symptoms(observation))
        if not symptoms:
            return self._used(observation, when)
        left = [f"left open: {transaction}" for transaction in observation.transactions]
        observed = "; ".join([*(f"{what}: {seen}" for what, seen in symptoms), *left])
        return self._stuck(f"{when}, {symptoms[0][0]}", "a saver that works as before", observed)

    def _symptoms(self, observation: TrialObservation) -> Iterator[tuple[str, str]]:
        """What does not work any more, and what was seen of it."""
        behind = self._behind(observation)
        if behind:
            yield "the saver does not see new data", behind
        for what, error in self._problems(observation).items():
            yield f"{what} fails", error
        if locked := self._locked(observation):
            yield "nobody else can write", f"{', '.join(locked)} is locked"
        for viewpoint in (Viewpoint.OWN, Viewpoint.OWN_LATER, Viewpoint.REVIVED, Viewpoint.RETRIED):
            unread = (
                observation.snapshots[viewpoint].unreadable
                if viewpoint in observation.snapshots
                else None
            )
            if unread and not self.references.before.snapshots[viewpoint].unreadable:
                yield "reading fails", unread

    def _locked(self, observation: TrialObservation) -> list[str]:
        """The databases that are locked, and are not in a clean run."""
        return [name for name in observation.locked if name not in self.references.before.locked]

    def _problems(self, observation: TrialObservation) -> dict[str, str]:
        """What failed that works in the clean runs."""
        states = (self.committed(observation) or {(): ReferenceStates.SAME}).values()
        known: set[str] = set()
        for state, clean in (
            (ReferenceStates.BEFORE, self.references.before),
            (ReferenceStates.AFTER, self.references.after),
        ):
            if any(state & seen for seen in states):
                known |= clean.problems.keys()
        return {what: error for what, error in observation.problems.items() if what not in known}

    def _behind(self, observation: TrialObservation) -> str:
        """What was committed since, and the saver does not see; "" if it sees all of it."""
        if Viewpoint.OWN_LATER not in observation.snapshots:
            return ""
        seen, clean = (
            observation.snapshots[Viewpoint.OWN_LATER],
            self.references.before.snapshots[Viewpoint.OWN_LATER],
        )
        unseen = []
        if Viewpoint.FRESH in observation.snapshots and not _agree(seen, clean, ELSEWHERE):
            unseen.append("what another saver has committed since")
        if "an unrelated write" not in observation.problems and not _agree(seen, clean, UNRELATED):
            unseen.append("what it has written itself since")
        return f"it does not see {' and '.join(unseen)}" if unseen and not seen.unreadable else ""

    def _used(self, observation: TrialObservation, when: str) -> FaultVerdict | None:
        committed = self.committed(observation)
        if committed is None:
            return None
        revived = Viewpoint.REVIVED in observation.snapshots
        if revived and not self.references.right(observation, Viewpoint.REVIVED, committed):
            if observation.ending is OperationEnding.RETURNED:
                summary = (
                    "it returned, and what it should have removed comes back with its checkpoint"
                )
                return self._wrong(SILENT, summary, observation, Viewpoint.REVIVED)
            summary = "it failed, and part of what it should remove comes back with its checkpoint"
            return self._wrong(WHOLE, summary, observation, Viewpoint.REVIVED)
        for viewpoint in (Viewpoint.RETRIED, Viewpoint.CLOSED):
            if viewpoint not in observation.snapshots or not observation.whole:
                continue
            if not self.references.right(observation, viewpoint, committed):
                text = portrait(self.references, observation.snapshots[viewpoint], viewpoint)
                summary = f"{when}, the same call again stores something else"
                return self._stuck(summary, "what the call stores", f"{viewpoint}: {text}")
        return None

    # --- what only the saver sees ----------------------------------------------------------

    def _own(self, observation: TrialObservation) -> FaultVerdict | None:
        committed = self.committed(observation)
        if committed is None or Viewpoint.OWN not in observation.snapshots:
            return None
        if self.references.right(observation, Viewpoint.OWN, committed):
            return None
        if observation.ending is OperationEnding.RETURNED:
            text = portrait(self.references, observation.snapshots[Viewpoint.OWN], Viewpoint.OWN)
            return self._stuck("the saver does not see what it has stored", "all of it", text)
        summary = "it failed and is not stored, but the saver itself shows some of it"
        return self._wrong(WHOLE, summary, observation, Viewpoint.OWN)

    def _as_expected(self, observation: TrialObservation) -> bool:
        """Whether the saver's own later looks are what they must be."""
        committed = self.committed(observation)
        if committed is None:
            committed = self.references.states(observation.snapshots[Viewpoint.OWN], Viewpoint.OWN)
        later = [m for m in (Viewpoint.OWN_LATER, Viewpoint.REVIVED) if m in observation.snapshots]
        return not self._behind(observation) and all(
            self.references.right(observation, viewpoint, committed) for viewpoint in later
        )

    # --- verdicts --------------------------------------------------------------------------

    def _wrong(
        self, contract: str, summary: str, observation: TrialObservation, viewpoint: Viewpoint
    ) -> FaultVerdict:
        like = viewpoint if viewpoint in self.references.before.snapshots else Viewpoint.OWN
        if viewpoint in (Viewpoint.FRESH_LATER, Viewpoint.CLOSED):
            like = self.references.first(viewpoint)
        return FaultVerdict(
            _OUTCOMES[contract],
            contract,
            summary,
            wanted_portrait(
                self.references, observation.ending, like, observation.snapshots[viewpoint]
            ),
            f"{viewpoint}: {portrait(self.references, observation.snapshots[viewpoint], like)}",
        )

    @staticmethod
    def _stuck(summary: str, expected: str, observed: str) -> FaultVerdict:
        return FaultVerdict("stuck", USABLE, summary, expected, observed)


def _agree(seen: Snapshot, clean: Snapshot, thread: str) -> bool:
    return seen.thread(thread).agrees(clean.thread(thread))


__all__ = ["FaultJudge", "FaultVerdict", "Snapshot"]
