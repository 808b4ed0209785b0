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
from saverproof.families.atomicity.observation import Ending, Moment, Sight
from saverproof.families.atomicity.reference_states import Group, References, State, apart
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
class Verdict:
    """What a trial came to; ``contract`` None means that nothing is wrong.

    ``outcome`` is one of the words of a report: clean, held, torn, lost, late, stuck, not-fired.
    """

    outcome: str
    contract: str | None = None
    summary: str = ""
    expected: str = ""
    observed: str = ""


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges the trials of one scenario by its clean runs.

    ``strict`` says that the commits before the fault were counted: an operation that raised before
    its last one may leave nothing.
    """

    references: References
    strict: bool = False

    def judge(self, sight: Sight) -> Verdict:
        """The verdict on a whole trial."""
        if not sight.fired:
            return Verdict("not-fired", summary=sight.note)
        if sight.ending is Ending.HUNG:
            return self._stuck("the operation never returned", "an answer or an error", sight.hung)
        wrong = (
            self._at_once(sight) or self._later(sight) or self._usable(sight) or self._own(sight)
        )
        if wrong is not None:
            return wrong
        committed = self.committed(sight)
        held = committed is not None and any(not s & State.BEFORE for s in committed.values())
        return Verdict("held" if held else "clean")

    def surely_wrong(self, sight: Sight) -> bool:
        """Whether a trial need not go on, because what it has seen will do."""
        looks = sight.looks
        if Moment.OWN_LATER not in looks:
            return self._at_once(sight) is not None
        stuck = self._problems(sight) or self._locked(sight)
        return bool(stuck) or not self._as_expected(sight)

    # --- what is there at once -------------------------------------------------------------

    def committed(self, sight: Sight) -> dict[Group, State] | None:
        """The states that others saw right after the operation; None if nobody could look."""
        references = self.references
        fresh = sight.looks.get(Moment.FRESH)
        if fresh is not None and not fresh.unreadable and references.shows(Moment.FRESH):
            return references.states(fresh, Moment.FRESH)
        if sight.changed == () and references.before.changed == () != references.after.changed:
            return dict.fromkeys(references.groups, State.BEFORE)
        if sight.changed is not None and not sight.locked and Moment.OWN in sight.looks:
            return references.states(sight.looks[Moment.OWN], Moment.OWN)
        return None

    def _at_once(self, sight: Sight) -> Verdict | None:
        committed = self.committed(sight)
        if committed is None:
            return None
        moment = Moment.FRESH if Moment.FRESH in sight.looks else Moment.OWN
        if sight.ending is Ending.RETURNED:
            if all(state & State.AFTER for state in committed.values()):
                return None
            return self._wrong(SILENT, "it returned, and is not stored", sight, moment)
        if State.NEITHER in committed.values():
            contract = PREVIOUS if self._harms_others(sight, moment) else WHOLE
            summary = (
                "it failed, and an earlier checkpoint is not what it was"
                if contract == PREVIOUS
                else "it failed, and a part of it is stored"
            )
            return self._wrong(contract, summary, sight, moment)
        if self._too_much(sight, committed):
            return self._in_part(sight, moment) or self._wrong(
                WHOLE, "it failed before its last commit, and is stored", sight, moment
            )
        return None

    def _in_part(self, sight: Sight, moment: Moment) -> Verdict | None:
        """What reads cannot show of an operation that is half done: which tables it has reached."""
        whole = {*(self.references.after.changed or ())}
        done = {*(sight.changed or ())} & whole
        if not done or done == whole:
            return None
        verdict = self._wrong(WHOLE, "it failed half done", sight, moment)
        tables = f"changed: {', '.join(sorted(done))}; not: {', '.join(sorted(whole - done))}"
        return replace(verdict, observed=f"{tables}; {verdict.observed}")

    def _too_much(self, sight: Sight, committed: Mapping[Group, State]) -> bool:
        """Whether more was lost than the acknowledgement, and yet all of it is there."""
        after = all(not state & State.BEFORE for state in committed.values() if state != State.SAME)
        all_the_same = all(state == State.SAME for state in committed.values())
        counted = self.strict and sight.ending is Ending.RAISED and sight.commits >= 0
        return (
            counted and after and not all_the_same and sight.commits < self.references.transactions
        )

    def _harms_others(self, sight: Sight, moment: Moment) -> bool:
        """Whether what was there before is touched, while the operation's own part is not done."""
        step = self.references.scenario.step
        if not isinstance(step, Put | PutWrites):
            return False
        own = (step.thread, step.namespace, mint(step.number))
        before = self.references.before.looks[moment]
        snapshot = sight.looks[moment]
        wrong = dict(apart(self.references, snapshot, moment))
        if isinstance(step, Put) and before.at(own) is not None and snapshot.at(own) is None:
            return True
        others = [key for key, state in wrong.items() if key != own and not state & State.BEFORE]
        done = own in wrong and not wrong[own] & State.BEFORE
        return bool(others) and not done

    # --- what comes later ------------------------------------------------------------------

    def _later(self, sight: Sight) -> Verdict | None:
        """What others see once the saver has written something else, or was closed."""
        committed = self.committed(sight)
        for moment in (Moment.FRESH_LATER, Moment.CLOSED):
            look = sight.looks.get(moment)
            if look is None or sight.whole or look.unreadable or not (look.by_id or look.listed):
                continue
            first = self.references.first(moment)
            now = self.references.states(look, first)
            if sight.ending is Ending.RETURNED:
                if not all(state & State.AFTER for state in now.values()):
                    return self._wrong(SILENT, "it returned, and is not stored", sight, moment)
                continue
            if committed is None and State.NEITHER in now.values():
                return self._wrong(WHOLE, "it failed, and a part of it is stored", sight, moment)
            if committed is not None and any(not now[g] & s for g, s in committed.items()):
                summary = "it failed and was not stored, until something else was written"
                return self._wrong(LATE, summary, sight, moment)
        return None

    # --- whether the saver can be used -----------------------------------------------------

    def _usable(self, sight: Sight) -> Verdict | None:
        when = "after it failed" if sight.ending is not Ending.RETURNED else "after the fault"
        if sight.hung:
            return self._stuck(f"{when}, the saver hangs", "an answer or an error", sight.hung)
        symptoms = list(self._symptoms(sight))
        if not symptoms:
            return self._used(sight, when)
        left = [f"left open: {transaction}" for transaction in sight.transactions]
        observed = "; ".join([*(f"{what}: {seen}" for what, seen in symptoms), *left])
        return self._stuck(f"{when}, {symptoms[0][0]}", "a saver that works as before", observed)

    def _symptoms(self, sight: Sight) -> Iterator[tuple[str, str]]:
        """What does not work any more, and what was seen of it."""
        behind = self._behind(sight)
        if behind:
            yield "the saver stays behind the times", behind
        for what, error in self._problems(sight).items():
            yield f"{what} fails", error
        if locked := self._locked(sight):
            yield "nobody else can write", f"{', '.join(locked)} is locked"
        for moment in (Moment.OWN, Moment.OWN_LATER, Moment.REVIVED, Moment.RETRIED):
            unread = sight.looks[moment].unreadable if moment in sight.looks else None
            if unread and not self.references.before.looks[moment].unreadable:
                yield "reading fails", unread

    def _locked(self, sight: Sight) -> list[str]:
        """The databases that are locked, and are not in a clean run."""
        return [name for name in sight.locked if name not in self.references.before.locked]

    def _problems(self, sight: Sight) -> dict[str, str]:
        """What failed that works in the clean runs."""
        states = (self.committed(sight) or {(): State.SAME}).values()
        known: set[str] = set()
        for state, clean in (
            (State.BEFORE, self.references.before),
            (State.AFTER, self.references.after),
        ):
            if any(state & seen for seen in states):
                known |= clean.problems.keys()
        return {what: error for what, error in sight.problems.items() if what not in known}

    def _behind(self, sight: Sight) -> str:
        """What was committed since, and the saver does not see; "" if it sees all of it."""
        if Moment.OWN_LATER not in sight.looks:
            return ""
        seen, clean = sight.looks[Moment.OWN_LATER], self.references.before.looks[Moment.OWN_LATER]
        unseen = []
        if Moment.FRESH in sight.looks and not _agree(seen, clean, ELSEWHERE):
            unseen.append("what another saver has committed since")
        if "an unrelated write" not in sight.problems and not _agree(seen, clean, UNRELATED):
            unseen.append("what it has written itself since")
        return f"it does not see {' and '.join(unseen)}" if unseen and not seen.unreadable else ""

    def _used(self, sight: Sight, when: str) -> Verdict | None:
        committed = self.committed(sight)
        if committed is None:
            return None
        revived = Moment.REVIVED in sight.looks
        if revived and not self.references.right(sight, Moment.REVIVED, committed):
            if sight.ending is Ending.RETURNED:
                summary = "it returned, and something that was to go comes back with its checkpoint"
                return self._wrong(SILENT, summary, sight, Moment.REVIVED)
            summary = "it failed, and a part of what was to go comes back with its checkpoint"
            return self._wrong(WHOLE, summary, sight, Moment.REVIVED)
        for moment in (Moment.RETRIED, Moment.CLOSED):
            if moment not in sight.looks or not sight.whole:
                continue
            if not self.references.right(sight, moment, committed):
                text = portrait(self.references, sight.looks[moment], moment)
                summary = f"{when}, the same call again stores something else"
                return self._stuck(summary, "what the call stores", f"{moment}: {text}")
        return None

    # --- what only the saver sees ----------------------------------------------------------

    def _own(self, sight: Sight) -> Verdict | None:
        committed = self.committed(sight)
        if committed is None or Moment.OWN not in sight.looks:
            return None
        if self.references.right(sight, Moment.OWN, committed):
            return None
        if sight.ending is Ending.RETURNED:
            text = portrait(self.references, sight.looks[Moment.OWN], Moment.OWN)
            return self._stuck("the saver does not see what it has stored", "all of it", text)
        summary = "it failed and is not stored, but the saver itself shows some of it"
        return self._wrong(WHOLE, summary, sight, Moment.OWN)

    def _as_expected(self, sight: Sight) -> bool:
        """Whether the saver's own later looks are what they must be."""
        committed = self.committed(sight)
        if committed is None:
            committed = self.references.states(sight.looks[Moment.OWN], Moment.OWN)
        later = [m for m in (Moment.OWN_LATER, Moment.REVIVED) if m in sight.looks]
        return not self._behind(sight) and all(
            self.references.right(sight, moment, committed) for moment in later
        )

    # --- verdicts --------------------------------------------------------------------------

    def _wrong(self, contract: str, summary: str, sight: Sight, moment: Moment) -> Verdict:
        like = moment if moment in self.references.before.looks else Moment.OWN
        if moment in (Moment.FRESH_LATER, Moment.CLOSED):
            like = self.references.first(moment)
        return Verdict(
            _OUTCOMES[contract],
            contract,
            summary,
            wanted_portrait(self.references, sight.ending, like, sight.looks[moment]),
            f"{moment}: {portrait(self.references, sight.looks[moment], like)}",
        )

    @staticmethod
    def _stuck(summary: str, expected: str, observed: str) -> Verdict:
        return Verdict("stuck", USABLE, summary, expected, observed)


def _agree(seen: Snapshot, clean: Snapshot, thread: str) -> bool:
    return seen.thread(thread).agrees(clean.thread(thread))


__all__ = ["Judge", "Snapshot", "Verdict"]
