"""Prepares a store in a known state once, and copies it for each trial."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from saverproof.errors import NoCleanRunError, describe
from saverproof.families.atomicity.scenarios import ELSEWHERE, UNRELATED, FaultScenario
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.atomicity.trials.worker import call_quietly
from saverproof.programs.small import unrelated
from saverproof.programs.steps.definitions import CopyThread
from saverproof.savers.execution.copied_files import copy_files
from saverproof.savers.execution.driver import ApiDriver, driver_of
from saverproof.savers.execution.own_ids import ids_for
from saverproof.savers.execution.settled_calls import Calls, Key, SettledCall, perform
from saverproof.savers.execution.sqlite_files import sqlite_files
from saverproof.savers.execution.view import Snapshot, Wanted, latest_key, snapshot
from saverproof.savers.targets.opening import fresh_workspace, opened
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace


def made(driver: ApiDriver, calls: tuple[SettledCall, ...]) -> None:
    """Make calls that lead to a starting state.

    Raises:
        NoCleanRunError: the saver refused a call.
    """
    for call in calls:
        error = call_quietly(partial(perform, driver, call))
        if error is not None:
            name = type(call.step).__name__
            raise NoCleanRunError(f"the starting state: {name} raised {describe(error)}")


@dataclass(frozen=True, slots=True)
class ScenarioCalls:
    """A scenario's calls with arguments that are settled once, and are the same in every trial."""

    start: tuple[SettledCall, ...]
    operation: SettledCall
    unrelated: tuple[SettledCall, ...]
    elsewhere: tuple[SettledCall, ...]

    @classmethod
    def of(cls, scenario: FaultScenario, saver: Any) -> ScenarioCalls:
        """Settle the calls with the saver's own versions."""
        calls = Calls(lambda current: saver.get_next_version(current, None))
        start = calls.settle(scenario.start)
        (operation,) = calls.settle((scenario.step,))
        return cls(
            start,
            operation,
            calls.settle(unrelated(UNRELATED)),
            calls.settle(unrelated(ELSEWHERE)),
        )

    @property
    def puts(self) -> tuple[SettledCall, ...]:
        """Return the calls that store a checkpoint, parents first."""
        return tuple(call for call in (*self.start, self.operation) if call.key is not None)


@dataclass(frozen=True, slots=True)
class PreparedStore:
    """A store in a scenario's starting state.

    ``folder`` holds the store's files, to be copied. It is None if the store is not in its
    workspace's folder, so that the calls have to be made again. ``databases`` are the files that
    Python's own SQLite has made, relative to the folder.
    """

    settled: ScenarioCalls
    folder: Path | None
    databases: tuple[str, ...]

    @property
    def keys(self) -> tuple[Key, ...]:
        """Every checkpoint of the scenario, also those of a copied thread."""
        put = [call.key for call in self.settled.puts if call.key is not None]
        step = self.settled.operation.step
        if isinstance(step, CopyThread):
            put += [(step.target, *key[1:]) for key in put if key[0] == step.source]
        return tuple(dict.fromkeys(put))

    @property
    def latest(self) -> tuple[Key, ...]:
        """The latest checkpoint of each namespace of the scenario."""
        return tuple(dict.fromkeys(latest_key(*key[:2]) for key in self.keys))


@contextmanager
def prepared(scenario: FaultScenario, bench: FaultBench) -> Iterator[PreparedStore]:
    """Make the starting state; its folder is removed when the block ends.

    Raises:
        OpeningError: the saver could not be opened or closed.
        NoCleanRunError: the saver refused a call that leads to the state.
    """
    target, opened_before = bench.target, bench.connections_opened
    with fresh_workspace(bench.folder, target) as workspace:
        with opened(target, workspace, bench.loop) as saver:
            ids = ids_for(target, workspace)
            driver = driver_of(saver, bench.api, bench.loop, ids)
            settled = ScenarioCalls.of(scenario, saver)
            made(driver, settled.start)
            before = snapshot(driver, _everything(settled))
        files = sqlite_files(workspace.path)
        databases = tuple(path.relative_to(workspace.path).as_posix() for path in files)
        if opened_before is not None and bench.connections_opened == opened_before:
            # The saver uses another SQLite than Python's. Where two are in one process, the first
            # that closes a file drops the locks of the other, so Python's must not open the files.
            databases = ()
        if scenario.makes_the_store:
            shutil.rmtree(workspace.path)
            workspace.path.mkdir(mode=0o700)
        store = PreparedStore(settled, workspace.path, databases)
        # Data outside of the folder is not copied with the files.
        elsewhere = target.keeps_elsewhere or ids or _leads_back(workspace.path)
        if elsewhere or not _is_in_its_files(store, workspace, before, bench):
            store = PreparedStore(settled, None, databases)
        yield store


def _leads_back(folder: Path) -> bool:
    """Return whether a copy of the folder would contain links into the original."""
    links = (path.readlink() for path in folder.rglob("*") if path.is_symlink())
    return any(link.is_absolute() for link in links)


def _is_in_its_files(
    store: PreparedStore, original: Workspace, before: Snapshot, bench: FaultBench
) -> bool:
    """Return whether a saver on a copy of the files shows the same as the saver on the original.

    What was written in the background was perhaps not yet there ``before`` the saver was closed.
    """
    with placed(store, bench.target, bench.folder) as workspace:
        copied = _shown(store, workspace, bench)
    if copied == before:
        return True
    put = {call.key for call in store.settled.start if call.key is not None}
    return put <= copied.keys() and copied == _shown(store, original, bench)


def _shown(store: PreparedStore, workspace: Workspace, bench: FaultBench) -> Snapshot:
    with opened(bench.target, workspace, bench.loop) as saver:
        driver = driver_of(saver, bench.api, bench.loop)
        return snapshot(driver, _everything(store.settled))


def _everything(settled: ScenarioCalls) -> Wanted:
    keys = tuple(dict.fromkeys(call.key for call in settled.puts if call.key is not None))
    return Wanted(keys, tuple(dict.fromkeys(key[0] for key in keys)))


@contextmanager
def placed(store: PreparedStore, target: Target, folder: Path) -> Iterator[Workspace]:
    """Yield a new workspace with a copy of the store's files, if it has any."""
    with fresh_workspace(folder, target) as workspace:
        if store.folder is not None:
            copy_files(store.folder, workspace.path)
        yield workspace
