"""Makes a saver's files and connections fail, at the system calls on them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from saverproof.savers.targets.target import Target
from saverproof_faults import Fault, FaultsError, Lasts, NotSettled, Plan
from saverproof_faults.places import NETWORK_FAULTS, STORAGE_FAULTS
from saverproof_faults.syscalls import CallFailure, CallFault, CallWatch, Extent, available

CALL_FAILURES = STORAGE_FAULTS | NETWORK_FAULTS | {Fault.STANDSTILL: CallFailure.TOLD}


class FailingStorage(Protocol):
    """A layer below a saver's files or database. It carries out one plan at a time."""

    def following(self, plan: Plan) -> AbstractContextManager[None]:
        """Fail calls by a plan, for the length of a block."""

    def has_fired(self) -> bool:
        """Return whether the current or latest plan has failed a call."""


class FailingFiles(CallWatch):
    """Counts the system calls of the saver's thread on files below an item's folder and on
    connections to servers, and makes them fail.
    """

    @contextmanager
    def following(self, plan: Plan, tells: tuple[str, ...] = ()) -> Iterator[None]:
        """Make calls fail by a plan, for the length of a block; ``tells`` is part of a
        ``CallFault``.

        Raises:
            NotSettled: the plan could not be carried out to its end, for instance because a server
                did not notice in time that a connection is gone. Its next actions are unknown.
        """
        extent = Extent.ONWARDS if plan.lasts is Lasts.ONWARDS else Extent.ONCE
        self.arm(CallFault(plan.place.index, CALL_FAILURES[plan.fault], extent, tells=tells))
        try:
            yield
        finally:
            try:
                self.disarm()
            except FaultsError as problem:
                raise NotSettled(str(problem)) from problem

    def has_fired(self) -> bool:
        """Return whether the current or latest plan has failed a call."""
        return self.report().fired > 0


def why_not_held(target: Target) -> str:
    """Return why the files of a saver without a known driver were not made to fail."""
    if not target.durable:
        return "the saver is not durable, so that it has no files that could fail"
    reason = available()
    if reason is None:
        return "it made no system call on files of its workspace, and none on a connection"
    return f"operations on its files cannot be made to fail either: {reason}"
