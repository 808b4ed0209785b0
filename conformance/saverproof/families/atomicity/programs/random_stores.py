"""Keeps the two stores of a random program: one whose saver fails, and one whose saver never
does.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Self

from saverproof.errors import NoCleanRunError
from saverproof.families.atomicity.programs.own_steps import OwnFaultSteps
from saverproof.families.atomicity.scenarios import UNRELATED
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.programs.model.store import Model
from saverproof.programs.small import unrelated
from saverproof.programs.steps.definitions import OwnStep, Step
from saverproof.savers.execution.driver import ApiDriver
from saverproof.savers.execution.settled_calls import Calls, SettledCall, perform
from saverproof.savers.execution.view import Snapshot, Wanted, snapshot
from saverproof.savers.targets.opening import fresh_workspace, opened
from saverproof.savers.workspace import Workspace
from saverproof_faults import commit_elsewhere, write_locked
from saverproof_faults.settled import at_rest

_AT_REST_WITHIN_S = 2.0
"""Seconds that threads may be at work while the lock is held. On a busy machine a transaction of
milliseconds takes some tenths of a second.
"""


@dataclass(slots=True)
class _Opened:
    """The workspace, the drivers and the calls of the two stores while they are open; ``closing``
    closes the saver that fails.
    """

    workspace: Workspace
    driver: ApiDriver
    reference: ApiDriver
    calls: Calls
    closing: ExitStack


@dataclass(slots=True)
class RandomStores:
    """Two savers on workspaces of their own. All methods run on the worker's thread."""

    bench: FaultBench
    own: OwnFaultSteps | None = None
    _open: _Opened | None = None
    _stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        """Open the saver under test, and the saver beside it that never fails."""
        with ExitStack() as stack:
            workspace, closing = self._fresh(stack), stack.enter_context(ExitStack())
            driver = self._driver_of(workspace, closing)
            reference = self._driver_of(self._fresh(stack), stack)
            next_version = reference.saver.get_next_version
            calls = Calls(lambda current: next_version(current, None))
            self._open = _Opened(workspace, driver, reference, calls, closing)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stack.close()

    def _fresh(self, stack: ExitStack) -> Workspace:
        return stack.enter_context(fresh_workspace(self.bench.folder, self.bench.target))

    def _driver_of(self, workspace: Workspace, stack: ExitStack) -> ApiDriver:
        saver: Any = stack.enter_context(opened(self.bench.target, workspace, self.bench.loop))
        return self.bench.driver(saver, workspace)

    @property
    def _now(self) -> _Opened:
        assert self._open is not None, "asked only while it is open"
        return self._open

    @property
    def workspace(self) -> Workspace:
        """The workspace of the saver that fails."""
        return self._now.workspace

    @property
    def driver(self) -> ApiDriver:
        """The driver of the saver that fails."""
        return self._now.driver

    @property
    def reference(self) -> ApiDriver:
        """The driver of the saver that never fails."""
        return self._now.reference

    @property
    def calls(self) -> Calls:
        """Makes calls of steps, for both savers."""
        return self._now.calls

    @property
    def model(self) -> Model:
        """The model of what the saver that never fails holds."""
        return self.calls.model

    def perform(self, driver: ApiDriver, call: SettledCall) -> object:
        """Make a call. If it is an author's rule that changes the model, the model is changed only
        once.
        """
        if not isinstance(call.step, OwnStep):
            return perform(driver, call)
        assert self.own is not None, "a step that nothing can take is not legal"
        first = driver is self.reference
        return self.own.perform(
            call.step, driver, self.model if first else copy.deepcopy(self.model)
        )

    def objection(self, step: Step) -> str | None:
        """Return why a step cannot be taken now, if an author's rule forbids it."""
        if not isinstance(step, OwnStep):
            return None
        return "there is no such rule" if self.own is None else self.own.objection(step, self.model)

    def seen(self, wanted: Wanted) -> Snapshot:
        """Return what the saver that fails shows."""
        return snapshot(self.driver, wanted)

    def expected(self, wanted: Wanted) -> Snapshot:
        """Return what the saver that never fails shows.

        Raises:
            NoCleanRunError: that saver cannot be read, so nothing can be said of the other one.
        """
        shown = snapshot(self.reference, wanted)
        if shown.unreadable is not None:
            raise NoCleanRunError(f"without any fault, a read raises {shown.unreadable}")
        return shown

    def fresh(self) -> Workspace:
        """Make an empty workspace for a copy of the files."""
        return self._fresh(self._stack)

    def go_on_in(self, workspace: Workspace) -> None:
        """Open the saver under test again, on the copy in a workspace."""
        self._now.workspace = workspace
        self._now.closing = self._stack.enter_context(ExitStack())
        self._now.driver = self._driver_of(workspace, self._now.closing)

    def reopen(self) -> None:
        """Close the saver that fails, and open another one on its store."""
        self._now.closing.close()
        self._now.driver = self._driver_of(self.workspace, self._now.closing)

    @property
    def unrelated(self) -> tuple[SettledCall, ...]:
        """Calls that write to a thread that no program names."""
        version: Callable[..., Any] = self.reference.saver.get_next_version
        return Calls(lambda current: version(current, None)).settle(unrelated(UNRELATED))

    @property
    def databases(self) -> list[str]:
        """The files of the workspace for which the saver has open connections."""
        injector = self.bench.injector
        if injector.engine_unavailable is not None or self._open is None:
            return []
        opened_to = {os.path.realpath(one.path) for one in injector.watch.connections if one.path}
        return sorted(path for path in opened_to if path.startswith(self._folder))

    @property
    def write_locked(self) -> bool:
        """Return whether nobody else can write, once no thread is at work any more: one that works
        in the background holds the lock for a moment.
        """
        if not any(map(write_locked, self.databases)):
            return False
        at_rest(_AT_REST_WITHIN_S)
        return any(map(write_locked, self.databases))

    def commit_elsewhere(self) -> None:
        """Have another connection commit to each of the files."""
        for path in self.databases:
            commit_elsewhere(path)

    @property
    def database_names(self) -> tuple[str, ...]:
        """The files with open connections, relative to the workspace."""
        return tuple(path.removeprefix(self._folder) for path in self.databases)

    @property
    def _folder(self) -> str:
        return f"{os.path.realpath(self.workspace.path)}/"
