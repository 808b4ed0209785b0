"""No connection of a store is carried over a fork.

SQLite keeps the locks that this process holds in its memory, and a child inherits what it thinks it
holds without holding it. Whatever the child opens then is not protected: the parent may take the
write-ahead log from under it, and its own writes are lost or locked out for good. So everything is
closed before the fork, and opened anew on both sides when it is needed.
"""

import os
import threading
import weakref
from typing import Protocol


class Forked(Protocol):
    """What is told of forks."""

    def before_fork(self) -> None:
        """Close what must not be carried over, and let nothing begin."""

    def after_fork_in_parent(self) -> None:
        """Go on."""

    def after_fork_in_child(self) -> None:
        """Start anew: locks may be held by threads that are not there."""


class _Stores:
    def __init__(self) -> None:
        self.known: weakref.WeakSet[Forked] = weakref.WeakSet()
        self._one_at_a_time = threading.RLock()
        self._told: list[Forked] = []

    def before(self) -> None:
        self._one_at_a_time.acquire()
        self._told = []
        for each in list(self.known):
            # Noted first: what it holds is to be let go, whatever comes of closing.
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
