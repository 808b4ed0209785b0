"""Stores in another thread what a copy shows, by puts and writes, as if that thread had ended
there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from saverproof.families.concurrency.graphs.copied_graphs import Copied, ShownThread
from saverproof.families.concurrency.graphs.graph_calls import Address
from saverproof.programs.values import same
from saverproof.savers.targets.calling import Api, every


def store(api: Api, saver: Any, copied: Copied, thread: str) -> bool:
    """Store in another thread what a copy shows. Return whether the saver then shows exactly
    that.
    """
    for name, *arguments in _calls(copied, thread):
        api.call(saver, name, *arguments)
    spaces = dict.fromkeys(namespace for namespace, _ in copied.copy.tuples)
    return _alike(shown(api, saver, thread, spaces), copied.copy)


def shown(api: Api, saver: Any, thread: str, spaces: Iterable[str]) -> ShownThread:
    """Return what listings of these namespaces of a thread show."""
    return ShownThread.of(
        found
        for namespace in spaces
        for found in api.items(saver, "list", every, _config(thread, namespace))
    )


def _config(thread: str, namespace: str, id: str | None = None) -> dict[str, Any]:
    place = {"thread_id": thread, "checkpoint_ns": namespace}
    return {"configurable": place | ({"checkpoint_id": id} if id else {})}


def _calls(copied: Copied, thread: str) -> Iterator[tuple[Any, ...]]:
    tuples = copied.copy.tuples
    paths = {(call.at, call.task): call.path for call in copied.calls}
    for at, found in sorted(tuples.items(), key=lambda item: item[0][1]):
        namespace, id = at
        parent = ((found.parent_config or {}).get("configurable") or {}).get("checkpoint_id")
        older = tuples.get((namespace, parent or ""))
        before = older.checkpoint["channel_versions"] if older else {}
        versions = found.checkpoint["channel_versions"]
        new = {name: one for name, one in versions.items() if before.get(name) != one}
        config = _config(thread, namespace, parent)
        yield "put", config, found.checkpoint, found.metadata, new
        tasks = defaultdict(list)
        for task, channel, value in found.pending_writes or ():
            tasks[task].append((channel, value))
        for task, writes in tasks.items():
            path = paths.get((at, task), "")
            yield "put_writes", _config(thread, namespace, id), writes, task, path


def _alike(one: ShownThread, other: ShownThread) -> bool:
    def values(of: ShownThread) -> dict[Address, Any]:
        return {at: found.checkpoint["channel_values"] for at, found in of.tuples.items()}

    return one.writes == other.writes and same(values(one), values(other))
