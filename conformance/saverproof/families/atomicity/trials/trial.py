"""One trial: the operation under a fault, and every look at what it left behind."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

from saverproof.errors import describe
from saverproof.families.atomicity.scenarios import ELSEWHERE, UNRELATED, FaultScenario
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.atomicity.trials.observation import (
    OperationEnding,
    TrialObservation,
    Viewpoint,
)
from saverproof.families.atomicity.trials.prepared_store import PreparedStore, made, placed
from saverproof.families.atomicity.trials.worker import call_quietly
from saverproof.savers.execution.driver import ApiDriver
from saverproof.savers.execution.settled_calls import Key, SettledCall, perform
from saverproof.savers.execution.store import set_up
from saverproof.savers.execution.view import Snapshot, Wanted, latest_key, snapshot
from saverproof.savers.targets.opening import opened
from saverproof.savers.workspace import Workspace
from saverproof_faults import OutsideView, commit_elsewhere, open_transactions, outside_view

_SOON_S = 2.0
"""Seconds within which a write in the background ends, which takes some milliseconds."""
_LOOK_S = 0.01
"""Seconds between two looks at a lock: about what a write in the background takes."""
Wrong = Callable[[TrialObservation], bool]
"""True if what was seen so far is enough to say that something is wrong."""


@dataclass(slots=True)
class FaultTrial:
    """One run of a scenario. All methods run on the worker's thread.

    ``operate`` makes the operation, with or without a fault, and records how it ended. ``wrong`` is
    asked after each look: once something is surely wrong, no more looks are taken.
    """

    bench: FaultBench
    scenario: FaultScenario
    store: PreparedStore
    observation: TrialObservation
    wrong: Wrong = lambda _: False
    reference: bool = False
    """True if other trials are compared with this one, so that no look may be left out."""
    answer: object = None
    """What the last call answered."""
    _driver: ApiDriver | None = None
    _paths: dict[str, str] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)
    _workspace: Workspace | None = None

    @property
    def is_setup(self) -> bool:
        """True if opening the saver is itself the operation."""
        return self.scenario.is_setup

    def run(self, operate: Callable[[FaultTrial], None]) -> TrialObservation:
        """Open the saver on a copy of the store, operate, look, write, and look again."""
        bench, observation = self.bench, self.observation
        with placed(self.store, bench.target, bench.folder) as workspace:
            if not self.scenario.makes_the_store:
                self._paths = {name: str(workspace.path / name) for name in self.store.databases}
            with ExitStack() as stack:
                before = self._begin(stack, workspace)
                operate(self)
                self._look_outside(before)
                self._look_on(workspace)
                self._close(stack)
            self.bench.worker.say("opening a fresh saver")
            observation.snapshots[Viewpoint.CLOSED] = self._freshly(workspace, self._left, ())
        return observation

    def _begin(self, stack: ExitStack, workspace: Workspace) -> dict[str, OutsideView]:
        """Open the saver, unless the opening is what is to fail, and read the store as it is."""
        bench = self.bench
        self._stack, self._workspace = stack, workspace
        if bench.server is not None:
            bench.server.visit(workspace)
        if not self.is_setup:
            self.open()
            driver = self.driver
            if self.store.folder is None:
                made(driver, self.store.settled.start)
            # Work that a saver puts off until its first use must not count as the operation's.
            snapshot(driver, Wanted(self.store.keys[:1]))
        elif self.store.folder is None and not self.scenario.makes_the_store:
            with opened(bench.target, workspace, bench.loop) as saver:
                made(bench.driver(saver, workspace), self.store.settled.start)
        return {name: outside_view(path) for name, path in self._paths.items()}

    @property
    def driver(self) -> ApiDriver:
        """The saver under test."""
        assert self._driver is not None
        return self._driver

    def open(self) -> None:
        """Open the saver under test, and set it up, as an application does when it starts."""
        self.bench.worker.say("opening the saver")
        bench = self.bench
        saver = self._stack.enter_context(opened(bench.target, self.workspace, bench.loop))
        self._driver = bench.driver(saver, self.workspace)
        if self.is_setup:
            set_up(saver, bench.loop)
            # Some savers set up when they are first used.
            found = snapshot(
                self._driver, Wanted(self.store.keys[:1] or (latest_key(UNRELATED, ""),))
            )
            if found.unreadable:
                raise RuntimeError(f"the first read raised {found.unreadable}")

    @property
    def databases(self) -> tuple[str, ...]:
        """Return the files of the store that are databases of Python's own SQLite."""
        return self.store.databases

    @property
    def workspace(self) -> Workspace:
        """The workspace with this trial's copy of the store."""
        assert self._workspace is not None
        return self._workspace

    # --- the operation ---------------------------------------------------------------------

    def operation(self) -> None:
        """Make the scenario's operation. Raises what it raises."""
        if self.is_setup:
            self.open()
        else:
            self._do(self.store.settled.operation)

    def _do(self, call: SettledCall) -> None:
        self.bench.worker.say(type(call.step).__name__)
        self.bench.calls += 1
        started = time.perf_counter()
        try:
            self.answer = perform(self.driver, call)
        finally:
            self.bench.seconds += time.perf_counter() - started

    def settle(self) -> None:
        """Wait until the work that the saver handed to threads is done. A saver that writes later
        is closed.
        """
        self._drain()
        if self.scenario.closed:
            self._close(self._stack)

    def settle_in_background(self) -> None:
        """Make the operation, and wait until a write in the background has given back its lock."""
        self.observation.ended(call_quietly(self.operation))
        self.settle()
        until = time.monotonic() + _SOON_S
        while time.monotonic() < until and any(
            outside_view(path).write_locked for path in self._paths.values()
        ):
            time.sleep(_LOOK_S)

    def _drain(self) -> None:
        self.bench.worker.say("waiting for work that was handed to threads")
        self.bench.loop.run(self.bench.injector.drain())

    # --- looking ---------------------------------------------------------------------------

    def _look_outside(self, before: dict[str, OutsideView]) -> None:
        observation = self.observation
        self.bench.worker.say("looking from a second connection")
        after = {name: outside_view(path) for name, path in self._paths.items()}
        observation.locked = tuple(name for name, seen in after.items() if seen.write_locked)
        observation.changed = tuple(
            f"{name}: {table}"
            for name, seen in after.items()
            for table in seen.changed(before[name])
        )
        if self.bench.injector.engine_unavailable is None:
            folder = f"{self._workspace.path if self._workspace else ''}/"
            left = open_transactions(self.bench.injector.watch)
            observation.transactions = tuple(text.replace(folder, "") for text in left)

    def _look_on(self, workspace: Workspace) -> None:
        """Look and write while the saver is open."""
        observation, settled = self.observation, self.store.settled
        if self._driver is not None:
            self._own(Viewpoint.OWN, Wanted(self._keys))
        if not observation.locked:
            self._look_freshly(workspace)
        if self._driver is None or self.wrong(observation):
            return
        self._try("an unrelated write", settled.unrelated)
        also = (UNRELATED, ELSEWHERE)
        latest = (*self.store.latest, *(latest_key(thread, "") for thread in also))
        self._own(Viewpoint.OWN_LATER, Wanted(latest, (*self._threads, *also), self._among_all))
        if self.wrong(observation):
            if self.bench.fresh:
                observation.snapshots[Viewpoint.FRESH_LATER] = self._freshly(
                    workspace, self._all, ()
                )
            return
        observation.whole = True
        self._use(settled.puts)

    def _look_freshly(self, workspace: Workspace) -> None:
        """Let another saver look and write. If that would show nothing new, let another connection
        commit instead.

        It would show nothing new if no table has changed and no transaction is open. The store is
        then as in the clean runs before the operation, and it is known what a fresh saver sees
        there.
        """
        observation, settled = self.observation, self.store.settled
        known = self._paths and observation.changed == () and not observation.transactions
        if known and self._driver is not None and not self.reference:
            for name, path in self._paths.items():
                # The lock was free: who has it now works in the background, and is soon done.
                if call_quietly(partial(commit_elsewhere, path, _SOON_S)) is not None:
                    observation.locked += (name,)
        elif self.bench.fresh:
            observation.snapshots[Viewpoint.FRESH] = self._freshly(
                workspace, self._all, settled.elsewhere
            )

    def _use(self, puts: tuple[SettledCall, ...]) -> None:
        """Put missing checkpoints again, call the operation once more, and look at the result."""
        observation = self.observation
        there = observation.snapshots[Viewpoint.OWN_LATER].keys()
        missing = tuple(call for call in puts if call.key not in there)
        if missing or self.reference:
            self._try("putting missing checkpoints again", missing)
            self._own(Viewpoint.REVIVED, Wanted(self._keys))
            if self.wrong(observation):
                return
        if self.is_setup:
            return
        error = call_quietly(lambda: self._do(self.store.settled.operation))
        observation.retry = OperationEnding.of(error)
        if error is not None:
            observation.problems["the same call again"] = describe(error)
        self._drain()
        self._own(Viewpoint.RETRIED, Wanted(self.store.latest, self._threads))

    def _own(self, viewpoint: Viewpoint, wanted: Wanted) -> None:
        self.bench.worker.say(f"reading by {viewpoint}")
        self.bench.calls += len(wanted.keys) + len(wanted.threads or ()) + wanted.among_all
        self.observation.snapshots[viewpoint] = snapshot(self.driver, wanted)

    def _try(self, what: str, calls: tuple[SettledCall, ...]) -> None:
        for call in calls:
            error = call_quietly(partial(self._do, call))
            if error is not None:
                self.observation.problems.setdefault(what, describe(error))
        self._drain()

    def _freshly(
        self, workspace: Workspace, wanted: Wanted, then: tuple[SettledCall, ...]
    ) -> Snapshot:
        """Return what a newly opened saver sees. That saver also makes the calls ``then``."""
        bench = self.bench
        if not bench.target.durable:
            return Snapshot()
        bench.worker.say("opening a fresh saver")
        found = Snapshot()

        def visit() -> None:
            nonlocal found
            with opened(bench.target, workspace, bench.loop) as saver:
                driver = bench.driver(saver, workspace)
                found = snapshot(driver, wanted)
                for call in then:
                    perform(driver, call)

        error = call_quietly(visit)
        if error is not None:
            self.observation.problems.setdefault("a fresh saver", describe(error))
        return found

    def _close(self, stack: ExitStack) -> None:
        self.bench.worker.say("closing the saver")
        closing = stack.pop_all()
        error = call_quietly(closing.close)
        if error is not None:
            self.observation.problems.setdefault("closing", describe(error))
        self._driver = None

    # --- what is looked at -----------------------------------------------------------------

    @property
    def _keys(self) -> tuple[Key, ...]:
        """The checkpoints to read. The latest ones come first: an application asks for those after
        a failure.
        """
        return (*self.store.latest, *self.store.keys)

    @property
    def _threads(self) -> tuple[str, ...]:
        return self.scenario.threads

    @property
    def _all(self) -> Wanted:
        return Wanted(self._keys, self._threads, self._among_all)

    @property
    def _left(self) -> Wanted:
        """Return what is left after the saver was closed, including what was written last."""
        return Wanted(self.store.latest, (*self._threads, UNRELATED), self._among_all)

    @property
    def _among_all(self) -> bool:
        """True if the store holds nothing but the data of its own workspace."""
        ref = self.bench.target.ref
        return ref is None or not ref.shares_store
