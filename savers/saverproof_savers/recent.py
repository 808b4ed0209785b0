"""Remember the checkpoints that were put last: they are mostly the parents of the next ones."""

from typing import NamedTuple

from saverproof_savers.codec import Channels

Scope = tuple[str, str]
"""thread_id, checkpoint_ns"""

_REMEMBERED = 128
"""Threads and namespaces whose last checkpoint is kept: the active ones, and not all there are."""


class StoredChannels(NamedTuple):
    """The channel map of a checkpoint, as the database holds it and decoded."""

    checkpoint_id: str
    text: str
    channels: Channels


class RecentCheckpoints:
    """The checkpoint that was put last, by thread and namespace.

    What is remembered is never trusted: a row that builds on it is added only if the database still
    holds the very same. Use it inside write transactions only, one at a time.
    """

    def __init__(self) -> None:
        self._by_scope: dict[Scope, StoredChannels] = {}

    def get(self, scope: Scope) -> StoredChannels | None:
        """Return the last checkpoint of a thread and namespace."""
        return self._by_scope.get(scope)

    def remember(self, scope: Scope, stored: StoredChannels) -> None:
        """Remember a checkpoint, and forget the oldest of too many."""
        self._by_scope.pop(scope, None)
        self._by_scope[scope] = stored
        if len(self._by_scope) > _REMEMBERED:
            del self._by_scope[next(iter(self._by_scope))]
