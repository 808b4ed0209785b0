"""Makes saver classes with known mistakes, which otherwise resemble the saver under test."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow
from saverproof.savers.execution.driver import takes_task_path

_STORE_WRITES = ("put_writes", "aput_writes")
_PRUNES = ("prune", "aprune")
_DELETES = frozenset({"delete_thread", "adelete_thread"})


def composed(
    savers: Iterable[type[ReferenceSaver]],
    next_version: Callable[[Any, Any, None], Any] | None = None,
    prune_whole: Callable[[Any, str], None] | None = None,
) -> type[ReferenceSaver] | None:
    """Return a saver class with all of these mistakes. A mistake overrides those before it.

    ``next_version`` makes the versions, unless a mistake does. Each checkpoint then keeps its own
    values, since another may have the same versions. ``prune_whole`` prunes what is to be deleted,
    unless a mistake does. Return None if Python cannot derive one class from all of them.
    """
    bases: list[type] = []
    for saver in savers:
        if any(issubclass(base, saver) for base in bases):
            continue
        bases = [saver, *(base for base in bases if not issubclass(saver, base))]
    body: dict[str, Any] = {}
    if next_version is not None and not _overridden("get_next_version", bases):
        body["get_next_version"] = next_version
        if not _overridden("_value_key", bases):
            body["_value_key"] = _value_of_checkpoint
    if prune_whole is not None and not _overridden("_prune_whole", bases):
        body["_prune_whole"] = prune_whole
    try:
        return type("Mistaken", tuple(bases) or (ReferenceSaver,), body)
    except TypeError:
        return None


def _overridden(method: str, classes: Iterable[type]) -> bool:
    """Return whether a class overrides this method of the reference saver."""
    own = getattr(ReferenceSaver, method)
    return any(getattr(each, method, own) is not own for each in classes)


def refusing(saver: type[ReferenceSaver], refusals: Sequence[bool]) -> type[ReferenceSaver]:
    """Return a saver class that refuses prunes and deletions for runs as ``refusals`` says, in
    order.
    """
    told = iter(refusals)

    def unless_refused(
        method: Callable[..., Any], refusal: Callable[..., Exception]
    ) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            if next(told, False):
                raise refusal(*given)
            return method(*given, **named)

        return call

    refusing_methods = {
        "prune": unless_refused(saver.prune, _refusal_of_prune),
        "delete_for_runs": unless_refused(saver.delete_for_runs, _refusal_of_runs),
    }
    return type("Refusing", (saver,), refusing_methods)


def _refusal_of_prune(*_: Any) -> Exception:
    return NotImplementedError("delta channels")


def _refusal_of_runs(_: Any, run_ids: Sequence[str]) -> Exception:
    # Judging accepts both as refusals: of an empty id, and of threads with delta channels.
    return ValueError("no run") if "" in run_ids else NotImplementedError("delta channels")


def without_paths(saver: type[ReferenceSaver], methods: Collection[str]) -> type[ReferenceSaver]:
    """Return a saver class in which these methods have no parameter for a task path."""

    def without_path(method: Callable[..., Any]) -> Callable[..., Any]:
        # Other methods of the class may still hand a path on.
        def call(self: Any, config: Any, writes: Any, task_id: str, *path: str) -> Any:
            return method(self, config, writes, task_id, *path)

        return call

    body = {name: without_path(getattr(saver, name)) for name in methods}
    return type("WithoutPaths", (saver,), body) if body else saver


def lacks_paths(saver: BaseCheckpointSaver[Any]) -> frozenset[str]:
    """Return the methods of a saver that store writes and take no task path."""
    return frozenset(
        name for name in _STORE_WRITES if not takes_task_path(getattr(saver, name, None))
    )


def versions_like(saver: BaseCheckpointSaver[Any]) -> Callable[[Any, Any, None], Any] | None:
    """Return the method by which a composed saver counts versions in integers, as ``saver`` does.

    Return None for a saver with text versions: these sort and differ as the reference saver's do.
    """
    try:
        first = saver.get_next_version(None, None)
    except Exception:  # noqa: BLE001 - a saver may raise anything, and is judged for it elsewhere
        return None
    return _count_on if isinstance(first, int) else None


def prunes_like(saver: BaseCheckpointSaver[Any]) -> Callable[[Any, str], None] | None:
    """Return the method that makes a composed saver prune by ``delete_thread``, or None.

    It is returned if ``saver`` seems to prune in that way: a mistake in its deletions then shows in
    prunes, too.
    """
    methods = (getattr(type(saver), name, None) for name in _PRUNES)
    code = (getattr(inspect.unwrap(each), "__code__", None) for each in methods if each is not None)
    deletes = any(_DELETES.intersection(each.co_names) for each in code if each is not None)
    return _prune_by_deleting if deletes else None


def _prune_by_deleting(saver: ReferenceSaver, thread: str) -> None:
    saver.delete_thread(thread)


def _value_of_checkpoint(_: Any, row: CheckpointRow, channel: str, __: object) -> Hashable:
    return row.id, channel


def _count_on(_: Any, current: int | None, __: None) -> int:
    return 1 if current is None else current + 1
