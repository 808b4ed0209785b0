"""Keep connections from being carried over a fork.

SQLite keeps a process's locks in the process's memory. A forked child inherits this memory, and
believes that it holds locks which it does not hold. What the child then opens is not protected: the
parent may remove the write-ahead log that the child uses, and the child's writes are lost or locked
out for good. Therefore everything is closed before a fork, and opened again on both sides when it
is needed.
"""

import os
import threading
import weakref
from typing import Protocol


class Forked(Protocol):
    """A receiver of forks."""

    def before_fork(self) -> None:
        """Close what must not be carried over, and let nothing begin."""

    def after_fork_in_parent(self) -> None:
        """Let work begin again in the parent."""

    def after_fork_in_child(self) -> None:
        """Start afresh: threads that are not in the child may hold the locks."""


class _Stores:
    def __init__(self) -> None:
        self.known: weakref.WeakSet[Forked] = weakref.WeakSet()
        self._one_at_a_time = threading.RLock()
        self._told: list[Forked] = []

    def before(self) -> None:
        self._one_at_a_time.acquire()
        self._told = []
        for each in list(self.known):
            # Note it first: what it holds must be released after the fork, even if closing fails.
            self._told.append(each)
            each.before_fork()

    def after_in_parent(self) -> None:
        for each in self._told:
            each.after_fork_in_parent()
        self._told = []
        self._one_at_a_time.release()

    def after_in_child(self) -> None:
        self._one_at_a_time = threading.RLock()
        for each in self._told:
            each.after_fork_in_child()
        self._told = []


_STORES = _Stores()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_STORES.before,
        after_in_parent=_STORES.after_in_parent,
        after_in_child=_STORES.after_in_child,
    )


def tell_of_forks(store: Forked) -> None:
    """Tell ``store`` of every fork, for as long as it lives."""
    _STORES.known.add(store)
