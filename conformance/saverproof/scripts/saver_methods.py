"""The facts that a script needs about a saver's methods, besides those of the base class."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from saverproof.errors import OpeningError
from saverproof.programs.steps.definitions import Program, PutWrites
from saverproof.savers.execution.driver import takes_task_path
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.opening import fresh_workspace, opened
from saverproof.savers.targets.target import Target
from saverproof.scripts.call_source import APIS, CallSource
from saverproof.scripts.own_source import OwnSource


@dataclass(frozen=True, slots=True)
class SaverMethods:
    """The optional methods that a saver has, and the additions of its author.

    ``with_paths`` are the APIs whose put_writes has a parameter for the task path. ``setup`` and
    ``closers`` are calls as source, such as ``saver.close()``. ``own`` are the rules and invariants
    of an author, by contract id.
    """

    with_paths: frozenset[str] = frozenset(APIS)
    setup: str = ""
    closers: tuple[str, ...] = ()
    own: Mapping[str, OwnSource] = field(default_factory=dict)


def saver_methods(target: Target, program: Program, calls: CallSource) -> SaverMethods:
    """Return the facts that a script of this program needs. The saver is opened only if it needs
    any.
    """
    asks = any(
        step.calls_optional or (isinstance(step, PutWrites) and step.path) for step in program
    )
    if not asks:
        return SaverMethods()
    with (
        tempfile.TemporaryDirectory() as folder,
        EventLoop() as loop,
        fresh_workspace(Path(folder), target) as workspace,
    ):
        try:
            with opened(target, workspace, loop) as saver:
                return _methods(saver, calls)
        except OpeningError:
            return SaverMethods()


def _methods(saver: Any, calls: CallSource) -> SaverMethods:
    closers = [name for name in ("close", "aclose") if hasattr(saver, name)]
    return SaverMethods(
        frozenset(api for api in APIS if takes_task_path(getattr(saver, put_writes_of(api), None))),
        _called(saver, "setup", calls) if hasattr(saver, "setup") else "",
        tuple(_called(saver, name, calls) for name in closers),
    )


def put_writes_of(api: str) -> str:
    """Return the name of the method that writes through an API."""
    return "put_writes" if api == "sync" else "aput_writes"


def _called(saver: Any, name: str, calls: CallSource) -> str:
    """Return a call of a method without arguments, awaited if the method is async."""
    if inspect.iscoroutinefunction(getattr(saver, name)):
        return f"await saver.{name}()" if calls.in_coroutine else f"asyncio.run(saver.{name}())"
    managed = calls.in_coroutine and calls.managed
    return f"await asyncio.to_thread(saver.{name})" if managed else f"saver.{name}()"
