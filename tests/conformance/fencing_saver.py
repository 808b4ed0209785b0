"""A saver that refuses what a worker puts after another one has gone on with the thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from saverproof import Workspace, target
from saverproof_savers import SqliteSaver


class Fencing(SqliteSaver):
    """Knows which checkpoint was the latest of a namespace when it last put one there."""

    _latest: ClassVar[dict[Any, str]] = {}
    """Of this process."""

    def put(self, config: Any, *rest: Any) -> Any:
        at = config["configurable"]["thread_id"], config["configurable"]["checkpoint_ns"]
        found = self._found(*at)
        if found is not None and self._latest.get(at, found) != found:
            raise RuntimeError("another worker has gone on with this thread")
        answer = super().put(config, *rest)
        self._latest[at] = str(self._found(*at))
        return answer

    def _found(self, thread: str, namespace: str) -> str | None:
        at = {"thread_id": thread, "checkpoint_ns": namespace}
        found = self.get_tuple({"configurable": at})
        return None if found is None else found.checkpoint["id"]


@target
@contextmanager
def fencing(workspace: Workspace) -> Iterator[Fencing]:
    with Fencing.open(workspace.path / "checkpoints.db") as saver:
        yield saver
