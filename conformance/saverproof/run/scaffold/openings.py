"""The ways in which a class may be opened, by its signatures. Trying them shows which works."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from inspect import Parameter
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from saverproof.run.scaffold.arguments import Argument, arguments_for
from saverproof.run.scaffold.requests import WayToOpen

_PREFIXES = ("from_", "open", "create", "connect")
"""The beginnings of the names of class methods that open a saver."""
_MOST = 16
"""The most ways that are tried: each costs about a second."""


def ways_to_open(kind: type) -> Iterator[WayToOpen]:
    """Yield the ways worth trying, the likeliest first: class methods, then the constructor."""
    found = [way for name, opener in _openers(kind) for way in _calls(kind, name, opener)]
    yield from found[:_MOST]


def call_to_fill_in(kind: type) -> str:
    """Return a call of the constructor with ``...`` for each required argument."""
    try:
        parameters = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):
        return f"{kind.__name__}(...)"
    needed = [
        one.name
        for one in parameters
        if one.default is Parameter.empty
        and one.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    ]
    return f"{kind.__name__}({', '.join(f'{name}=...' for name in needed)})"


def _openers(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the class methods whose names suggest that they open a saver, and the class itself."""
    named = inspect.getmembers(kind, callable)
    methods = [
        (f"{kind.__name__}.{name}", method)
        for name, method in named
        if name.startswith(_PREFIXES)
        and isinstance(inspect.getattr_static(kind, name), (classmethod, staticmethod))
    ]
    # from_conn_string is the name that the official savers have given it.
    yield from sorted(methods, key=lambda one: (not one[0].endswith("from_conn_string"), one[0]))
    if not inspect.isabstract(kind):
        yield kind.__name__, kind


def _calls(kind: type, name: str, opener: Callable[..., Any]) -> Iterator[WayToOpen]:
    try:
        signature = inspect.signature(opener)
    except (TypeError, ValueError):
        return
    for chosen in arguments_for(list(signature.parameters.values())):
        call = f"{name}({', '.join(_spelled(one) for one in chosen)})"
        way = WayToOpen(
            expression=call,
            before=tuple(line for one in chosen for line in one.before),
            imports=tuple(line for one in chosen for line in one.imports),
        )
        yield from _finished(kind, opener, way, on_loop=any(one.on_loop for one in chosen))


def _spelled(argument: Argument) -> str:
    by_name = argument.parameter.kind is Parameter.KEYWORD_ONLY or argument.by_name
    return f"{argument.parameter.name}={argument.source}" if by_name else argument.source


def _finished(
    kind: type, opener: Callable[..., Any], way: WayToOpen, *, on_loop: bool
) -> Iterator[WayToOpen]:
    """Yield the ways to use what a call returns: entered, awaited, or closed at the end."""
    function = inspect.unwrap(getattr(opener, "__func__", opener))
    if inspect.isgeneratorfunction(function):
        yield _set_up(kind, replace(way, manager="sync"))
    elif inspect.isasyncgenfunction(function):
        yield _set_up(kind, replace(way, manager="async", runs_on_loop=True))
    elif inspect.iscoroutinefunction(function):
        awaited = replace(way, expression=f"await {way.expression}", runs_on_loop=True)
        yield _set_up(kind, _closed(kind, awaited))
    elif on_loop:
        yield _set_up(kind, _closed(kind, replace(way, runs_on_loop=True)))
    else:
        if hasattr(kind, "__enter__"):
            yield _set_up(kind, replace(way, manager="sync"))
        elif hasattr(kind, "__aenter__"):
            yield _set_up(kind, replace(way, manager="async", runs_on_loop=True))
        yield _set_up(kind, _closed(kind, way))
        # Some look for the running event loop when they are made.
        yield _set_up(kind, _closed(kind, replace(way, runs_on_loop=True)))


def _set_up(kind: type, way: WayToOpen) -> WayToOpen:
    names = ("asetup", "setup") if way.runs_on_loop else ("setup",)
    for name in names:
        if name not in dir(BaseCheckpointSaver) and hasattr(kind, name):
            waits = inspect.iscoroutinefunction(getattr(kind, name))
            if waits and not way.runs_on_loop:
                continue
            return replace(way, setup=f"{'await ' if waits else ''}saver.{name}()")
    return way


def _closed(kind: type, way: WayToOpen) -> WayToOpen:
    for name in ("aclose", "close") if way.runs_on_loop else ("close",):
        method = getattr(kind, name, None)
        if method is None:
            continue
        waits = inspect.iscoroutinefunction(method)
        if not waits or way.runs_on_loop:
            return replace(way, closing=f"{'await ' if waits else ''}saver.{name}()")
    return way
