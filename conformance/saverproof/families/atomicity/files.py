"""The files of a saver that no other layer reaches: failed at the system calls on them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from saverproof.targets.target import Target
from saverproof_faults import Lasts, Plan
from saverproof_faults.places import STORAGE_FAULTS
from saverproof_faults.syscalls import CallFault, CallWatch, Extent, available


class FailingStorage(Protocol):
    """What is under a saver's files or database, and follows one plan at a time."""

    def following(self, plan: Plan) -> AbstractContextManager[None]:
        """Follow one plan for the length of a block."""

    def has_fired(self) -> bool:
        """Whether the plan that is followed, or was last, has failed a call."""


class FailingFiles(CallWatch):
    """The calls of the saver's thread on files below an item's folder: counted and failed."""

    @contextmanager
    def following(self, plan: Plan) -> Iterator[None]:
        """Follow one plan for the length of a block."""
        extent = Extent.ONWARDS if plan.lasts is Lasts.ONWARDS else Extent.ONCE
        with self.failing(CallFault(plan.place.index, STORAGE_FAULTS[plan.fault], extent)):
            yield

    def has_fired(self) -> bool:
        """Whether the plan that is followed, or was last, has failed a call."""
        return self.report().fired > 0


def why_not_held(target: Target) -> str:
    """Why the files of a saver that passes no known driver were not failed."""
    if not target.durable:
        return "the saver is not durable, so that it has no files that could fail"
    reason = available()
    if reason is None:
        return "it made no system call on files of its workspace"
    return f"its files cannot be failed either: {reason}"


def why_untried(target: Target) -> str:
    """Why no layer failed anything below a saver, and what would let one, in one clause."""
    if not target.durable:
        return "the saver keeps its data in memory, and has no storage that could fail"
    return available() or (
        "the saver made no system call on files of its workspace, and no call of a database driver "
        "that is known or that target(drivers=[...]) names"
    )
