"""Programs in which faults are steps among the others.

Beside the saver under test another one, on a workspace of its own, takes the same calls without any
fault. What the first shows after a call that failed is what the second shows without that call or
with it; then the call is made again, and both go on from the same state. Under a spell every call
fails, and leaves nothing; when it is healed, all of them are made again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from saverproof.errors import describe
from saverproof.execution.driver import Driver
from saverproof.execution.settled_calls import Call, Calls, awaiting, perform
from saverproof.execution.view import Snapshot, Wanted, snapshot
from saverproof.families.atomicity.bench import Bench
from saverproof.families.atomicity.disk import FAILURES
from saverproof.families.atomicity.fault_plans import Attack
from saverproof.families.atomicity.injection import ENDINGS
from saverproof.families.atomicity.judging import CANCELLED, LATE, SILENT, USABLE, WHOLE, Verdict
from saverproof.families.atomicity.observation import Ending
from saverproof.families.atomicity.random_programs import SPELL, Route, Turn
from saverproof.families.atomicity.worker import call_quietly
from saverproof.steps.definitions import Program, Step
from saverproof.targets.opening import fresh_workspace, opened
from saverproof_faults import Fault, Places, commit_elsewhere, write_locked

_OUTCOMES = {WHOLE: "torn", SILENT: "lost", LATE: "late", USABLE: "stuck", CANCELLED: "torn"}


@dataclass(frozen=True, slots=True)
class Stumble:
    """What a walk came to: its steps, the fault of each that had one, and the verdict.

    ``databases`` are the SQLite files of its store, relative to the workspace.
    """

    program: Program
    faults: dict[int, Attack]
    verdict: Verdict
    ending: str
    databases: tuple[str, ...] = ()


@dataclass(slots=True)
class Walk:
    """One program. Everything here happens on the worker's thread.

    ``note`` is called with the steps so far, and their faults, before the last is taken.
    ``counted``, if set, is the position of a step whose places are counted, into ``places``, and
    which is not failed.
    """

    bench: Bench
    route: Route
    note: Callable[[Program, Mapping[int, Attack]], object] = lambda program, faults: None
    counted: int | None = None
    places: Places = field(default_factory=Places)
    injected: int = 0
    _taken: list[Step] = field(default_factory=list)
    _faults: dict[int, Attack] = field(default_factory=dict)
    _waiting: list[Call] = field(default_factory=list)
    """The calls that failed under the spell."""
    _folder: str = ""

    def run(self) -> Stumble | None:
        """Take the steps; gives what went wrong, if anything did."""
        wanted = Wanted((), self.route.threads)
        with self._saver() as (saver, driver), self._saver() as (_, shadow):
            calls = Calls(lambda current: saver.get_next_version(current, None))
            before = snapshot(shadow, wanted)
            while (turn := self.route.turn(len(self._taken), calls.model)) is not None:
                (call,) = calls.settle((turn.step,))
                self._taken.append(turn.step)
                self._note(turn)
                self.bench.worker.say(f"step {len(self._taken)} of a random program")
                perform(shadow, call)
                after = snapshot(shadow, wanted)
                stumble = None
                if turn.attack != SPELL:
                    stumble = self._heal(driver, wanted, before)
                if stumble is None:
                    stumble = self._step(driver, call, turn.attack, wanted, before, after)
                if stumble is not None:
                    return stumble
                if not self._waiting:
                    before = after
            return self._heal(driver, wanted, before)

    def _note(self, turn: Turn) -> None:
        coming = {} if turn.attack is None else {len(self._taken) - 1: turn.attack}
        self.note(tuple(self._taken), self._faults | coming)

    def _heal(self, driver: Driver, wanted: Wanted, before: Snapshot) -> Stumble | None:
        """The spell is over: what has failed under it is called again, and works."""
        if not self._waiting:
            return None
        waiting, self._waiting = self._waiting, []
        if snapshot(driver, wanted) != before:
            return self._stumble(LATE, "what failed is stored when all is healed", "", "")
        for call in waiting:
            error = call_quietly(partial(perform, driver, call))
            if error is not None:
                observed = describe(error)
                return self._stumble(USABLE, "a healed saver fails", "to work", observed)
        return None

    def _step(
        self,
        driver: Driver,
        call: Call,
        attack: Attack | None,
        wanted: Wanted,
        before: Snapshot,
        after: Snapshot,
    ) -> Stumble | None:
        fired, ending, error = self._do(driver, call, attack)
        said = f"{ending} {error}".strip()
        seen = snapshot(driver, wanted)
        if not fired:
            right = seen == after or (bool(self._waiting) and seen == before)
            return self._unharmed(ending, said, right)
        self.injected += 1
        cancelled = attack is not None and attack.kind == "cancellation"
        if ending is Ending.RETURNED and seen != after:
            contract = CANCELLED if cancelled else SILENT
            return self._stumble(contract, "it returned, and is not stored", "all of it", said)
        if seen not in (before, after):
            contract = CANCELLED if cancelled else WHOLE
            return self._stumble(contract, "it failed, and a part of it is seen", "nothing", said)
        unusable = CANCELLED if cancelled else USABLE
        for path in self._databases():
            if write_locked(path):
                return self._stumble(unusable, "it failed, and nobody else can write", "", said)
            commit_elsewhere(path)
        if attack == SPELL and seen == before:
            self._waiting.append(call)
            return None
        return self._again(driver, call, wanted, after, unusable)

    def _unharmed(self, ending: Ending, said: str, right: bool) -> Stumble | None:
        self._faults.pop(len(self._taken) - 1, None)
        if ending is not Ending.RETURNED:
            return self._stumble(USABLE, "a step without a fault fails", "to work", said)
        if not right:
            return self._stumble(LATE, "a step without a fault stores something else", "", said)
        return None

    def _again(
        self, driver: Driver, call: Call, wanted: Wanted, after: Snapshot, unusable: str
    ) -> Stumble | None:
        """The same call, which works now."""
        error = call_quietly(lambda: perform(driver, call))
        if error is not None:
            return self._stumble(unusable, "the same call again fails", "to work", describe(error))
        if snapshot(driver, wanted) != after:
            return self._stumble(unusable, "the same call again stores something else", "", "")
        return None

    def _databases(self) -> list[str]:
        """The files that connections of the saver are open to."""
        injector = self.bench.injector
        if injector.engine_unavailable is not None:
            return []
        opened = {os.path.realpath(one.path) for one in injector.watch.connections if one.path}
        return sorted(path for path in opened if path.startswith(self._folder))

    def _do(self, driver: Driver, call: Call, attack: Attack | None) -> tuple[bool, Ending, str]:
        """Make the call, under the fault if there is one: whether it fired, and how it ended."""
        bench, position = self.bench, len(self._taken) - 1
        bench.calls += 1
        plan = None if attack is None else attack.plan
        if position == self.counted:
            with bench.injector.counting() as counting:
                ended = self._ended(driver, call)
            self.places = counting.places
            return False, *ended
        if plan is None or attack is None:
            return False, *_ended(call_quietly(lambda: perform(driver, call)))
        self._faults[position] = attack
        if plan.fault is Fault.CANCEL:
            awaited = bench.loop.run(bench.injector.cancel(awaiting(driver, call), plan))
            error = "" if awaited.error is None else describe(awaited.error)
            return awaited.fired, ENDINGS[awaited.ending], error
        if plan.fault in FAILURES:
            assert bench.disk is not None
            with bench.disk.failing(plan):
                ended = self._ended(driver, call)
            return bool(bench.disk.fired), *ended
        with bench.injector.armed(plan) as shot:
            ended = self._ended(driver, call)
        return shot.fired > 0, *ended

    def _ended(self, driver: Driver, call: Call) -> tuple[Ending, str]:
        ended = _ended(call_quietly(lambda: perform(driver, call)))
        self.bench.loop.run(self.bench.injector.drain())
        return ended

    @contextmanager
    def _saver(self) -> Iterator[tuple[Any, Driver]]:
        bench = self.bench
        with ExitStack() as stack:
            workspace = stack.enter_context(fresh_workspace(bench.folder, bench.target))
            self._folder = self._folder or f"{os.path.realpath(workspace.path)}/"
            saver = stack.enter_context(opened(bench.target, workspace, bench.loop))
            yield saver, bench.driver(saver)

    def _stumble(self, contract: str, summary: str, expected: str, observed: str) -> Stumble:
        verdict = Verdict(
            _OUTCOMES[contract], contract, summary, expected or "what the call stores", observed
        )
        databases = tuple(path.removeprefix(self._folder) for path in self._databases())
        program, faults = tuple(self._taken), dict(self._faults)
        return Stumble(program, faults, verdict, observed, databases)


def _ended(error: BaseException | None) -> tuple[Ending, str]:
    return (Ending.RETURNED, "") if error is None else (Ending.RAISED, describe(error))
