"""Remember the checkpoints that were put last: they are usually the parents of the next ones."""

from typing import NamedTuple

from saverproof_savers.codec import Channels

Scope = tuple[str, str]
"""A thread and a namespace: (thread_id, checkpoint_ns)."""

_REMEMBERED = 128
"""Of how many threads and namespaces the last checkpoint is kept: enough for those that are
active.
"""


class StoredChannels(NamedTuple):
    """The channel map of a checkpoint, as the database holds it and decoded."""

    checkpoint_id: str
    text: str
    channels: Channels


class RecentCheckpoints:
    """The checkpoint that was put last, by thread and namespace.

    The database may have changed since: a row that builds on a remembered checkpoint is added only
    if the database still holds it unchanged. Use it inside write transactions only, one at a time.
    """

    def __init__(self) -> None:
        self._by_scope: dict[Scope, StoredChannels] = {}
        self._namespaces: dict[str, set[str]] = {}

    def get(self, scope: Scope) -> StoredChannels | None:
        """Return the last checkpoint of a thread and namespace."""
        return self._by_scope.get(scope)

    def remember(self, scope: Scope, stored: StoredChannels) -> None:
        """Remember a checkpoint. If there are too many, forget the oldest."""
        self._by_scope.pop(scope, None)
        self._by_scope[scope] = stored
        thread_id, namespace = scope
        self._namespaces.setdefault(thread_id, set()).add(namespace)
        if len(self._by_scope) > _REMEMBERED:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        thread_id, namespace = scope = next(iter(self._by_scope))
        del self._by_scope[scope]
        self._namespaces[thread_id].discard(namespace)
        if not self._namespaces[thread_id]:
            del self._namespaces[thread_id]

    def forget(self, thread_id: str) -> None:
        """Hold nothing more of a thread, of which something was deleted."""
        for namespace in self._namespaces.pop(thread_id, ()):
            del self._by_scope[thread_id, namespace]
