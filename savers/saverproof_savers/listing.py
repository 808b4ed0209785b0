"""`list`, chunk by chunk: nothing is held between two items, so anything may be called there."""

from collections import deque
from collections.abc import Iterator

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol

from saverproof_savers.connection import Store
from saverproof_savers.queries import CHUNK, Queries
from saverproof_savers.reading import Scope, Several, Snapshot, read_several
from saverproof_savers.search import Key, Search

_FIRST_CHUNK = 4


class Listing:
    """The state of one listing: the keys found so far, and how many checkpoints are still due."""

    def __init__(
        self, store: Store, queries: Queries, serde: SerializerProtocol, search: Search
    ) -> None:
        self._store = store
        self._queries = queries
        self._serde = serde
        self._search = search
        self._keys: deque[Key] = deque()
        self._pages = 0
        self._last: Key | None = None
        self._exhausted = False
        self._chunk_size = _FIRST_CHUNK
        self._left = search.limit

    @property
    def is_complete(self) -> bool:
        """Whether the limit is reached."""
        return self._left is not None and self._left <= 0

    def next_chunk(self) -> list[Snapshot]:
        """The next checkpoints, still encoded; empty at the end. Each chunk is one snapshot."""
        chunk: list[Snapshot] = []
        while not chunk and not self.is_complete:
            if not self._keys:
                self._fetch_keys()
            if not self._keys:
                break
            chunk = self._fetch_chunk()
        return chunk

    def decode(self, chunk: list[Snapshot]) -> Iterator[CheckpointTuple]:
        """The checkpoints of a chunk that fit the filter, as many as the limit allows."""
        for snapshot in chunk:
            if self.is_complete:
                return
            found = snapshot.decode(self._serde, self._store.where, self._search)
            if found is not None:
                if self._left is not None:
                    self._left -= 1
                yield found

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

    def _fetch_chunk(self) -> list[Snapshot]:
        size = min(self._chunk_size, len(self._keys))
        if self._left is not None:
            size = min(size, self._left)
        self._chunk_size = CHUNK
        keys = [self._keys.popleft() for _ in range(size)]
        ids: dict[Scope, list[str]] = {}
        for checkpoint_id, thread_id, checkpoint_ns in keys:
            ids.setdefault((thread_id, checkpoint_ns), []).append(checkpoint_id)
        several = [self._several(scope, wanted) for scope, wanted in ids.items()]
        snapshots = self._store.read(
            lambda cursor: {
                each.scope: read_several(cursor, self._queries, each) for each in several
            }
        )
        # A checkpoint may have been deleted since its key was read.
        found = (snapshots[thread_id, ns].get(key) for key, thread_id, ns in keys)
        return [snapshot for snapshot in found if snapshot is not None]

    def _several(self, scope: Scope, ids: list[str]) -> Several:
        if self._search.filter:
            # Any number of others may lie between them.
            return Several.among(self._queries, scope, ids)
        return Several.between(self._queries, scope, ids[-1], ids[0])
