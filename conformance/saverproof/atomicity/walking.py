"""Random programs in which faults are steps among the others; the second half of each is clean.

Beside the saver under test another one, on a workspace of its own, takes the same calls without any
fault. What the first shows after a call that failed is what the second shows without that call or
with it; then the call is made again, and both go on from the same state.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from saverproof.atomicity.attacks import Attack
from saverproof.atomicity.bench import Bench
from saverproof.atomicity.calls import Call, Calls
from saverproof.atomicity.disk import FAILURES
from saverproof.atomicity.hand import Hand
from saverproof.atomicity.judging import CANCELLED, LATE, SILENT, USABLE, WHOLE, Verdict
from saverproof.atomicity.sight import Ending
from saverproof.atomicity.snapshot import Snapshot, Wanted
from saverproof.atomicity.striking import ENDINGS
from saverproof.atomicity.worker import call_quietly
from saverproof.errors import describe
from saverproof.programs import making
from saverproof.programs.asking import delete_thread
from saverproof.programs.generating import next_step
from saverproof.programs.steps import Program, Step
from saverproof.programs.theme import Theme
from saverproof.targets.opening import fresh_workspace, opened
from saverproof_faults import Event, Fault, Moment, Place, Plan, commit_elsewhere, write_locked

_ENGINE = (Fault.TRIGGER_ABORT, Fault.INTERRUPT, Fault.DENIED, Fault.LOCKED)


@dataclass(frozen=True, slots=True)
class Stumble:
    """What a walk came to: its steps, the fault before each that had one, and the verdict."""

    program: Program
    faults: dict[int, Attack]
    verdict: Verdict
    ending: str


@dataclass(slots=True)
class Walk:
    """One random program. Everything here happens on the worker's thread."""

    bench: Bench
    choose: Random
    able: frozenset[str]
    length: int
    injected: int = 0
    _taken: list[Step] = field(default_factory=list)
    _faults: dict[int, Attack] = field(default_factory=dict)

    def run(self) -> Stumble | None:
        """Take the steps; gives what went wrong, if anything did."""
        theme = self._theme()
        with self._saver() as (saver, hand), self._saver() as (_, shadow):
            calls = Calls(lambda current: saver.get_next_version(current, None))
            wanted = Wanted((), theme.threads)
            before = shadow.look(wanted)
            for number in range(self.length):
                step = next_step(calls.model, self.choose, theme)
                (call,) = calls.settle((step,))
                self._taken.append(step)
                attack = self._fault() if number < self.length // 2 else None
                self.bench.worker.say(f"step {number + 1} of a random program")
                shadow.do(call)
                after = shadow.look(wanted)
                stumble = self._step(hand, call, attack, wanted, before, after)
                if stumble is not None:
                    return stumble
                before = after
        return None

    def _step(
        self,
        hand: Hand,
        call: Call,
        attack: Attack | None,
        wanted: Wanted,
        before: Snapshot,
        after: Snapshot,
    ) -> Stumble | None:
        fired, ending, error = self._do(hand, call, attack)
        said = f"{ending} {error}".strip()
        seen = hand.look(wanted)
        if not fired:
            self._faults.pop(len(self._taken) - 1, None)
            if ending is not Ending.RETURNED:
                return self._stumble(USABLE, "a step without a fault fails", "to work", said)
            if seen != after:
                return self._stumble(LATE, "a step without a fault stores something else", "", said)
            return None
        self.injected += 1
        cancelled = attack is not None and attack.kind == "cancellation"
        if ending is Ending.RETURNED and seen != after:
            contract = CANCELLED if cancelled else SILENT
            return self._stumble(contract, "it returned, and is not stored", "all of it", said)
        if seen not in (before, after):
            contract = CANCELLED if cancelled else WHOLE
            return self._stumble(contract, "it failed, and a part of it is seen", "nothing", said)
        for path in self._databases():
            if write_locked(path):
                contract = CANCELLED if cancelled else USABLE
                return self._stumble(contract, "it failed, and nobody else can write", "", said)
            commit_elsewhere(path)
        error_again = call_quietly(lambda: hand.do(call))
        if error_again is not None:
            observed = describe(error_again)
            contract = CANCELLED if cancelled else USABLE
            return self._stumble(contract, "the same call again fails", "to work", observed)
        if hand.look(wanted) != after:
            contract = CANCELLED if cancelled else USABLE
            return self._stumble(contract, "the same call again stores something else", "", said)
        return None

    def _databases(self) -> set[str]:
        """The files that connections are open to, the shadow's among them."""
        injector = self.bench.injector
        if injector.engine_unavailable is not None:
            return set()
        return {connection.path for connection in injector.watch.connections if connection.path}

    def _do(self, hand: Hand, call: Call, attack: Attack | None) -> tuple[bool, Ending, str]:
        """Make the call, under the fault if there is one: whether it fired, and how it ended."""
        bench = self.bench
        bench.calls += 1
        plan = None if attack is None else attack.plan
        if plan is None or attack is None:
            return False, *_ended(call_quietly(lambda: hand.do(call)))
        self._faults[len(self._taken) - 1] = attack
        if plan.fault is Fault.CANCEL:
            awaited = bench.loop.run(bench.injector.cancel(hand.awaiting(call), plan))
            error = "" if awaited.error is None else describe(awaited.error)
            return awaited.fired, ENDINGS[awaited.ending], error
        if plan.fault in FAILURES:
            assert bench.disk is not None
            with bench.disk.failing(plan):
                ended = _ended(call_quietly(lambda: hand.do(call)))
                bench.loop.run(bench.injector.settle())
            return bool(bench.disk.fired), *ended
        with bench.injector.armed(plan) as shot:
            ended = _ended(call_quietly(lambda: hand.do(call)))
            bench.loop.run(bench.injector.settle())
        return shot.fired > 0, *ended

    def _fault(self) -> Attack | None:
        """A fault for every other step, at a place that the call may have or not."""
        choose = self.choose
        if choose.random() < 0.5:
            return None
        index = choose.randint(1, 8)
        kinds = ["client", *(["cancel"] if self.bench.api == "async" else [])]
        if self.bench.injector.engine_unavailable is None:
            kinds.append("engine")
        if self.bench.disk is not None:
            kinds.append("disk")
        match choose.choice(kinds):
            case "client":
                event = choose.choice((Event.STATEMENT, Event.STATEMENT, Event.COMMIT))
                at = Place(event, 1 if event is Event.COMMIT else index)
                return Attack(Plan(Fault.RAISE, at))
            case "cancel":
                moment = choose.choice(tuple(Moment))
                return Attack(Plan(Fault.CANCEL, Place(Event.AWAIT, min(index, 4), moment)))
            case "disk":
                return Attack(Plan(Fault.IO_ERROR, Place(Event.IO, min(index, 4))))
        fault = choose.choice(_ENGINE)
        row = 1 if fault is Fault.TRIGGER_ABORT else None
        return Attack(Plan(fault, Place(Event.ENGINE_STATEMENT, index, row=row)))

    def _theme(self) -> Theme:
        """Writes whose effect is seen at once: each state can be told from the one before."""
        weights: dict[Any, int] = {
            making.put: 30,
            making.put_replacing: 10,
            making.writes: 30,
            making.writes_again: 15,
            making.writes_special: 8,
        }
        if "delete_thread" in self.able:
            weights[delete_thread] = 3
        return Theme("walk", weights=weights)

    @contextmanager
    def _saver(self) -> Iterator[tuple[Any, Hand]]:
        bench = self.bench
        with ExitStack() as stack:
            workspace = stack.enter_context(fresh_workspace(bench.folder, bench.target))
            saver = stack.enter_context(opened(bench.target, workspace, bench.loop))
            yield saver, bench.hand(saver)

    def _stumble(self, contract: str, summary: str, expected: str, observed: str) -> Stumble:
        outcomes = {WHOLE: "torn", SILENT: "lost", LATE: "late", USABLE: "stuck", CANCELLED: "torn"}
        verdict = Verdict(
            outcomes[contract], contract, summary, expected or "what the call stores", observed
        )
        return Stumble(tuple(self._taken), dict(self._faults), verdict, observed)


def _ended(error: BaseException | None) -> tuple[Ending, str]:
    return (Ending.RETURNED, "") if error is None else (Ending.RAISED, describe(error))
