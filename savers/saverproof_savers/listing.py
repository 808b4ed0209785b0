"""List checkpoints in chunks.

Nothing is held between two items, so callers may call anything there.
"""

from collections import deque
from collections.abc import Iterator

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol

from saverproof_savers.connection import Database
from saverproof_savers.queries import CHUNK, Queries
from saverproof_savers.reading import CheckpointRows, Scope, read_several, read_stretch
from saverproof_savers.search import Key, ListCriteria

_FIRST_CHUNK = 4
"""How many checkpoints the first chunk has: callers often read no more than the newest ones."""


class ListingState:
    """The state of one listing, and how many checkpoints are still due.

    All checkpoints of one thread and namespace are read stretch by stretch. If checkpoints of
    several are mixed, or a filter leaves some out, their keys are found first.
    """

    def __init__(
        self, store: Database, queries: Queries, serde: SerializerProtocol, search: ListCriteria
    ) -> None:
        self._store = store
        self._queries = queries
        self._serde = serde
        self._search = search
        self._keys: deque[Key] = deque()
        self._pages = 0
        self._last: Key | None = None
        self._exhausted = False
        self._before = search.before
        self._chunk_size = _FIRST_CHUNK
        self._left = search.limit

    @property
    def is_complete(self) -> bool:
        """True if the limit is reached."""
        return self._left is not None and self._left <= 0

    def next_chunk(self) -> list[CheckpointRows]:
        """Return the next checkpoints, still encoded; empty at the end.

        Each chunk is one snapshot.
        """
        if self.is_complete:
            return []
        scope = self._search.whole_scope
        if scope is not None:
            return self._next_stretch(scope)
        chunk: list[CheckpointRows] = []
        while not chunk:
            if not self._keys:
                self._fetch_keys()
            if not self._keys:
                break
            chunk = self._fetch_chunk()
        return chunk

    def decode(self, chunk: list[CheckpointRows]) -> Iterator[CheckpointTuple]:
        """Yield the checkpoints of a chunk that fit the filter, as many as the limit allows."""
        for snapshot in chunk:
            if self.is_complete:
                return
            found = snapshot.decode(self._serde, self._store.where, self._search)
            if found is not None:
                if self._left is not None:
                    self._left -= 1
                yield found

    def _next_stretch(self, scope: Scope) -> list[CheckpointRows]:
        chunk = self._store.read(
            read_stretch, self._queries, scope, self._before, self._next_size()
        )
        if chunk:
            self._before = chunk[-1].row[0]
        return chunk

    def _next_size(self) -> int:
        size, self._chunk_size = self._chunk_size, CHUNK
        return size if self._left is None else min(size, self._left)

    def _fetch_keys(self) -> None:
        if self._exhausted:
            return
        sql, parameters = self._search.page_of_keys(self._queries.names, self._last, self._pages)
        rows = self._store.read(lambda cursor: cursor.execute(sql, parameters).fetchall())
        self._pages += 1
        self._exhausted = len(rows) < parameters[-1]
        if rows:
            self._last = rows[-1]
            self._keys.extend(rows)

    def _fetch_chunk(self) -> list[CheckpointRows]:
        size = min(self._next_size(), len(self._keys))
        keys = [self._keys.popleft() for _ in range(size)]
        ids: dict[Scope, list[str]] = {}
        for checkpoint_id, thread_id, checkpoint_ns in keys:
            ids.setdefault((thread_id, checkpoint_ns), []).append(checkpoint_id)
        snapshots = self._store.read(
            lambda cursor: {
                scope: read_several(cursor, self._queries, scope, wanted)
                for scope, wanted in ids.items()
            }
        )
        # A checkpoint may have been deleted since its key was read.
        found = (snapshots[thread_id, ns].get(key) for key, thread_id, ns in keys)
        return [snapshot for snapshot in found if snapshot is not None]
