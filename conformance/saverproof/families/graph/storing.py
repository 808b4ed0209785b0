"""Watches the calls by which graphs store something in a saver."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from saverproof.families.graph.normalise import without_ids

Around = Callable[[str, Mapping[str, Any]], AbstractContextManager[object]]
"""A function that makes a context for one call, from the operation's name and its arguments by
name.
"""

_ORDER = {
    "put": ("config", "checkpoint", "metadata", "new_versions"),
    "put_writes": ("config", "writes", "task_id", "task_path"),
}


def watch(saver: Any, api: str, around: Around) -> None:
    """Make every put and put_writes of a saver object within ``around`` from now on.

    The object gets a subclass of its class. The methods keep their signatures, as LangGraph
    inspects these; copies of the object are watched, too.
    """
    kind, first = type(saver), "a" if api == "async" else ""
    methods = {
        f"{first}{name}": _watched(getattr(kind, f"{first}{name}"), name, first, around)
        for name in _ORDER
    }
    # Others find the saver's own code through its class.
    own = {"__slots__": (), "__module__": kind.__module__}
    saver.__class__ = type(kind.__name__, (kind,), own | methods)


def _watched(method: Any, name: str, first: str, around: Around) -> Any:
    def entered(given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        # By the base class's order: a saver may take them as *args.
        return around(name, {**dict(zip(_ORDER[name], given, strict=False)), **named})

    @functools.wraps(method)
    def call(saver: Any, *given: Any, **named: Any) -> Any:
        with entered(given, named):
            return method(saver, *given, **named)

    @functools.wraps(method)
    async def acall(saver: Any, *given: Any, **named: Any) -> Any:
        with entered(given, named):
            return await method(saver, *given, **named)

    return acall if first else call


class Refusals:
    """The calls that raised, in words.

    LangGraph makes these calls in the background. It reports their errors when its loop is left
    (`langgraph.pregel._executor.BackgroundExecutor.__exit__`), unless the loop already ends in
    another exception. So an error is lost if a subgraph asks a question, or if a node has failed.
    """

    def __init__(self) -> None:
        self.told: list[str] = []

    @contextmanager
    def around(self, name: str, arguments: Mapping[str, Any]) -> Iterator[None]:
        """Record what a call raises."""
        try:
            yield
        except Exception as error:
            namespace = arguments["config"]["configurable"].get("checkpoint_ns", "")
            inside = f" in namespace {without_ids(namespace)!r}" if namespace else ""
            self.told.append(f"{name}{inside} raised {without_ids(repr(error))}")
            raise
