"""Judges what is left of the operations of a killed process: plain data in, plain data out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from saverproof.programs.steps.definitions import (
    DeleteForRuns,
    DeleteThread,
    Program,
    Prune,
    Put,
    PutWrites,
)
from saverproof.programs.steps.identifiers import mint, task_id
from saverproof.savers.execution.view import LATEST, ShownFacts, parts_of

REMOVALS = (DeleteThread, DeleteForRuns, Prune)
"""The steps that remove checkpoints."""


class KillOutcome(StrEnum):
    """The outcomes for the operation in flight, and for worse flaws."""

    WHOLE = "whole"
    ABSENT = "absent"
    TORN = "torn"
    LOST = "lost"
    GAP = "gap"
    UNOPENED = "unopened"
    NOT_FIRED = "not-fired"


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """The result of putting removed checkpoints again: the writes that came back with them, and the
    error of a put, if any.
    """

    writes: frozenset[str] = frozenset()
    error: str = ""

    @classmethod
    def of(cls, seen: Mapping[str, Any]) -> Self:
        """Return the result, from a look that was told which operation had ``removed``
        checkpoints.
        """
        return cls(frozenset(seen["back"]), seen["refused"])


@dataclass(frozen=True, slots=True)
class KilledRun:
    """A program, and what a saver shows in a clean run of it: ``states[n]`` after n operations."""

    program: Program
    states: tuple[ShownFacts, ...]
    left: Mapping[int, LeftBehind] = field(default_factory=dict)
    """What comes back after a removal without a kill, by the removal's position, where that was
    looked at.
    """

    def last_changed(self, name: str, until: int) -> int | None:
        """Return the position of the last of the first ``until`` operations that changed a fact."""
        for position in range(until - 1, -1, -1):
            if self.states[position].get(name) != self.states[position + 1].get(name):
                return position
        return None

    def removes(self, position: int) -> bool:
        """Return whether the operation at a position takes checkpoints away."""
        return position < len(self.program) and isinstance(self.program[position], REMOVALS)

    def revealed_after(self, done: int) -> ShownFacts:
        """Return the early writes that the operation at position ``done`` makes visible. They were
        stored before their checkpoint.
        """
        if done >= len(self.program) or not isinstance(self.program[done], Put):
            return {}
        before, after = self.states[done : done + 2]
        return {
            name: shown
            for name, shown in after.items()
            if name not in before and parts_of(name)[3] == "writes"
        }


@dataclass(frozen=True, slots=True)
class KillVerdict:
    """The judgement of a kill.

    ``lost`` are the positions of acknowledged operations of which something is gone, ``later``
    those after them that are still there. ``wrong`` are the facts with a value that they never
    should have. ``torn`` are the facts that show a part of the operation in flight, ``unchanged``
    those that are as before it. ``doubtful`` says that what is gone may also have been lost before
    the operation in flight.
    """

    outcome: KillOutcome
    lost: tuple[int, ...] = ()
    later: tuple[int, ...] = ()
    wrong: tuple[str, ...] = ()
    torn: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    doubtful: bool = False

    @property
    def kept(self) -> bool:
        """True if nothing is wrong."""
        return self.outcome in (KillOutcome.WHOLE, KillOutcome.ABSENT)


def judge(run: KilledRun, acknowledged: int, in_flight: bool, shown: ShownFacts) -> KillVerdict:
    """Compare what is shown after a kill with what may be there.

    The first ``acknowledged`` operations must be there. The next one, if it was ``in_flight``, may
    be there as a whole.
    """
    verdict = _judged(run, acknowledged, in_flight, shown)
    if in_flight and verdict.outcome in (KillOutcome.LOST, KillOutcome.GAP):
        gone = _deleted_in_part(run, acknowledged, shown) or _replaced_in_part(
            run, acknowledged, shown
        )
        if gone:
            return KillVerdict(KillOutcome.TORN, torn=gone, doubtful=True)
    return verdict


def judge_revealed(run: KilledRun, acknowledged: int, shown: ShownFacts) -> KillVerdict:
    """Judge whether acknowledged early writes are there once their checkpoint has been put.

    Before the put nothing shows them, so lost ones cannot be told from others.
    """
    expected = run.revealed_after(acknowledged)
    gone = tuple(name for name in expected if shown.get(name) != expected[name])
    if not gone:
        return KillVerdict(KillOutcome.ABSENT)
    put = run.program[acknowledged]
    lost = tuple(
        number
        for number, step in enumerate(run.program[:acknowledged])
        if isinstance(put, Put) and isinstance(step, PutWrites)
        if (step.thread, step.namespace, step.number) == (put.thread, put.namespace, put.number)
    )
    return KillVerdict(KillOutcome.LOST, lost, wrong=gone)


def judge_put_again(run: KilledRun, acknowledged: int, found: LeftBehind) -> KillVerdict:
    """Judge whether a removal in flight has left writes behind, although it seems to be done. They
    show when their checkpoints are put again.

    What also comes back after a removal without a kill is not counted.
    """
    known = run.left.get(acknowledged, LeftBehind())
    back = tuple(sorted(found.writes - known.writes))
    if back:
        return KillVerdict(KillOutcome.TORN, torn=back)
    if found.error and not known.error:
        return KillVerdict(KillOutcome.UNOPENED)
    return KillVerdict(KillOutcome.WHOLE)


def _deleted_in_part(run: KilledRun, acknowledged: int, shown: ShownFacts) -> tuple[str, ...]:
    """Return the facts that changed, if the deletion in flight would have removed all of them.

    A deletion that begins with the newest checkpoint looks as if later operations were lost.
    """
    if not run.removes(acknowledged):
        return ()
    before, after = run.states[acknowledged : acknowledged + 2]
    wrong = [name for name in sorted({*before, *shown}) if before.get(name) != shown.get(name)]
    taken = (
        shown.get(name) == after.get(name)
        # Which checkpoint is the latest follows from those that are left.
        or (parts_of(name)[3] == LATEST and before.get(name) != after.get(name))
        for name in wrong
    )
    return tuple(wrong) if all(taken) else ()


def _replaced_in_part(run: KilledRun, acknowledged: int, shown: ShownFacts) -> tuple[str, ...]:
    """Return the facts that changed, if all of them are about what the put or batch in flight
    replaces.

    A saver that deletes the old data first seems to lose acknowledged operations. In fact the
    operation in flight is torn.
    """
    step, before = run.program[acknowledged], run.states[acknowledged]
    if not isinstance(step, Put | PutWrites):
        return ()
    place = (step.thread, step.namespace, mint(step.number))
    if not any(parts_of(name)[:3] == place for name in before):
        return ()
    wrong = [name for name in sorted({*before, *shown}) if before.get(name) != shown.get(name)]
    return tuple(wrong) if all(_is_about(name, step, place) for name in wrong) else ()


def _is_about(name: str, step: Put | PutWrites, place: tuple[str, str, str]) -> bool:
    """Return whether a fact is about the checkpoint that a put stores, or the writes of a batch."""
    thread, namespace, checkpoint, kind, of = parts_of(name)
    if isinstance(step, PutWrites):
        return (thread, namespace, checkpoint) == place and of == task_id(step.task)
    return (thread, namespace, checkpoint) == place or (
        kind == LATEST and (thread, namespace) == place[:2]
    )


def _whole_by_thread(run: KilledRun, acknowledged: int, shown: ShownFacts) -> bool:
    """Return whether a change of many threads is done in some of them, and not begun in all others.

    No thread is damaged then, and the caller knows that the change did not return.
    """
    if not isinstance(run.program[acknowledged], DeleteForRuns | Prune):
        return False
    states = [_threads(facts) for facts in (shown, *run.states[acknowledged : acknowledged + 2])]
    found, before, after = states
    return all(
        found.get(thread) in (before.get(thread), after.get(thread))
        for thread in {*found, *before, *after}
    )


def _threads(facts: ShownFacts) -> dict[str, ShownFacts]:
    """Return the facts by their threads."""
    threads: dict[str, ShownFacts] = {}
    for name, shown in facts.items():
        threads.setdefault(parts_of(name)[0], {})[name] = shown
    return threads


def _judged(run: KilledRun, acknowledged: int, in_flight: bool, shown: ShownFacts) -> KillVerdict:
    before = run.states[acknowledged]
    after = run.states[acknowledged + 1] if in_flight else before
    if shown == before:
        return KillVerdict(
            KillOutcome.WHOLE if shown == after and in_flight else KillOutcome.ABSENT
        )
    if shown == after or (in_flight and _whole_by_thread(run, acknowledged, shown)):
        return KillVerdict(KillOutcome.WHOLE)
    for position in reversed(range(acknowledged)):
        if shown == run.states[position]:
            # All as it once was: it is not the operation in flight that is there in part.
            lost = tuple(range(position, acknowledged))
            wrong = tuple(
                name for name in sorted({*before, *shown}) if before.get(name) != shown.get(name)
            )
            return KillVerdict(KillOutcome.LOST, lost, wrong=wrong)
    sorting = _Sorting(run, acknowledged, in_flight)
    for name in sorted({*before, *after, *shown}):
        sorting.take(name, before.get(name), shown.get(name), after.get(name))
    return sorting.verdict(shown)


@dataclass(slots=True)
class _Sorting:
    """Sorts wrong facts by their cause: lost, torn or never right."""

    run: KilledRun
    acknowledged: int
    in_flight: bool
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    lost: dict[str, int] = field(default_factory=dict)

    def take(self, name: str, before: str | None, found: str | None, after: str | None) -> None:
        if found == before == after:
            return
        if found == before:
            if self._revealed(name, before):
                self._lose(name)
            else:
                self.old.append(name)
        elif found == after:
            self.new.append(name)
        elif before == after or self._outdated(name, found) or self._revealed(name, before):
            self._lose(name)
        else:
            self.torn.append(name)

    def _revealed(self, name: str, before: str | None) -> bool:
        """Return whether an earlier batch of writes becomes visible only with the put in flight."""
        flying = self.run.program[self.acknowledged] if self.in_flight else None
        return before is None and isinstance(flying, Put) and parts_of(name)[3] == "writes"

    def _outdated(self, name: str, found: str | None) -> bool:
        """Return whether a fact has a value from before an acknowledged operation changed it."""
        earlier = [state.get(name) for state in self.run.states[: self.acknowledged]]
        return found is not None and found in earlier

    def _lose(self, name: str) -> None:
        position = self.run.last_changed(name, self.acknowledged)
        self.lost[name] = self.acknowledged - 1 if position is None else position

    def verdict(self, shown: ShownFacts) -> KillVerdict:
        self._settle_revealed()
        torn = [*self.torn, *(self.new if self.old and self.new else ())]
        lost = tuple(sorted({position for position in self.lost.values() if position >= 0}))
        if self.lost and lost:
            later = self._later(lost[0], shown)
            outcome = KillOutcome.GAP if later else KillOutcome.LOST
            return KillVerdict(outcome, lost, later, tuple(self.lost), tuple(torn))
        if torn or self.lost:
            unchanged = tuple(self.old)
            return KillVerdict(KillOutcome.TORN, torn=(*torn, *self.lost), unchanged=unchanged)
        return KillVerdict(KillOutcome.WHOLE if self.new else KillOutcome.ABSENT)

    def _settle_revealed(self) -> None:
        """Take early writes off the lost facts if the put in flight was not stored: only that put
        makes them visible.
        """
        if not self.new:
            hidden = [name for name in self.lost if self._hidden(name)]
            for name in hidden:
                del self.lost[name]

    def _hidden(self, name: str) -> bool:
        before, after = (self.run.states[self.acknowledged + n] for n in (0, int(self.in_flight)))
        return name not in before and name in after

    def _later(self, first: int, shown: ShownFacts) -> tuple[int, ...]:
        """Return the acknowledged operations after the first lost one whose effects are still
        there.
        """
        found: set[int] = set()
        for name, value in shown.items():
            position = self.run.last_changed(name, self.acknowledged)
            if (
                position is not None
                and position > first
                and value == self.run.states[self.acknowledged].get(name)
            ):
                found.add(position)
        if self.new and self.in_flight:
            found.add(self.acknowledged)
        return tuple(sorted(found - set(self.lost.values())))
