"""The ``target`` decorator, by which an author declares how a saver is opened."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from types import MappingProxyType
from typing import Any, overload

from saverproof.capability import Capability
from saverproof.errors import TargetError, kind_of
from saverproof.programs.steps.definitions import Program, Step
from saverproof.savers.targets.expiry import Expiry
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.workspace import Workspace
from saverproof_faults.servers.kinds import ServerKind

ManagerOfSaver = AbstractContextManager[Any] | AbstractAsyncContextManager[Any]
Opener = Callable[[Workspace], ManagerOfSaver]
"""An author's function: it takes a workspace, and returns a context manager (sync or async) that
yields a saver.
"""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,59}")


@dataclass(frozen=True, slots=True)
class Target:
    """A saver under test: how to open it, and what its author says about it. Made by ``target``.

    Calling a target calls the author's function, so that a decorated function stays usable as it
    was.
    """

    name: str
    open: Opener
    durable: bool = True
    capabilities: Mapping[Capability, str] = field(default_factory=lambda: MappingProxyType({}))
    """Capabilities that the author declines, with the reason."""
    drop: Callable[[Workspace], object] | None = None
    check: Callable[[Workspace], list[str]] | None = None
    drivers: tuple[object, ...] = ()
    known: str | None = None
    """The path of a known-violations file, relative to the file that defines the target."""
    opening: str | None = None
    """Source text that opens the saver in a reproducer, which runs without the kit."""
    server: ServerKind | None = None
    """The kind of server in which each workspace has a place of its own, such as a database."""
    examples: tuple[str | Program, ...] = ()
    """Programs that are run first, or paths of artefacts with programs, relative to the file that
    defines the target.
    """
    expiry: Expiry | None = None
    """How long the saver keeps what nobody uses; None if what it stores does not expire."""
    ref: TargetRef | None = None

    def __post_init__(self) -> None:
        _check_name(self.name)
        _check_opener(self.name, self.open)
        for argument, value in (("drop", self.drop), ("check", self.check)):
            if value is not None and not callable(value):
                raise _wrong(self.name, argument, value, "a function of a Workspace, or None")
        if not isinstance(self.durable, bool):
            raise _wrong(self.name, "durable", self.durable, "True or False")
        if self.opening is not None and (
            not isinstance(self.opening, str) or not self.opening.strip()
        ):
            raise _wrong(self.name, "opening", self.opening, "source text, or None")
        if self.server is not None and not isinstance(self.server, ServerKind):
            raise _wrong(self.name, "server", self.server, "a server such as Postgres(), or None")
        if self.expiry is not None and not isinstance(self.expiry, Expiry):
            raise _wrong(self.name, "expiry", self.expiry, "an Expiry, or None")

    @property
    def is_pooled(self) -> bool:
        """True if a pooler stands before the target's server."""
        return self.server is not None and self.server.pooled

    @property
    def keeps_elsewhere(self) -> bool:
        """True if the saver is known to keep data outside of its workspace's folder."""
        return self.drop is not None or self.server is not None

    @property
    def programs(self) -> tuple[Program, ...]:
        """The examples that are given as steps."""
        return tuple(example for example in self.examples if not isinstance(example, str))

    def __call__(self, workspace: Workspace) -> Any:
        """Return the context manager that the author's function gives for ``workspace``."""
        return self.open(workspace)

    def at(self, ref: TargetRef) -> "Target":
        """Return the same target with the reference by which it was found."""
        return replace(self, ref=ref)


@overload
def target(name: Opener, /) -> Target: ...
@overload
def target(
    name: str | None = None,
    *,
    durable: bool = True,
    capabilities: Mapping[Capability, str] | None = None,
    drop: Callable[[Workspace], object] | None = None,
    check: Callable[[Workspace], list[str]] | None = None,
    drivers: Iterable[object] = (),
    known: str | PathLike[str] | None = None,
    opening: str | None = None,
    server: ServerKind | None = None,
    examples: Iterable[str | PathLike[str] | Program] = (),
    expiry: Expiry | None = None,
) -> Callable[[Opener], Target]: ...
def target(
    name: str | Opener | None = None,
    *,
    durable: bool = True,
    capabilities: Mapping[Capability, str] | None = None,
    drop: Callable[[Workspace], object] | None = None,
    check: Callable[[Workspace], list[str]] | None = None,
    drivers: Iterable[object] = (),
    known: str | PathLike[str] | None = None,
    opening: str | None = None,
    server: ServerKind | None = None,
    examples: Iterable[str | PathLike[str] | Program] = (),
    expiry: Expiry | None = None,
) -> Target | Callable[[Opener], Target]:
    """Make a context-manager function into a target that ``pytest --saver`` can judge.

    The function takes a ``Workspace`` and yields an open saver; it may be decorated with
    ``contextmanager`` or ``asynccontextmanager``. ``@target`` stands above that decorator, bare or
    with arguments.

    Args:
        name: what the saver is called in reports and node ids; default: the function's name.
        durable: whether what was written is still there after closing, and after the process died.
            False for savers that live in memory.
        capabilities: what the saver cannot do although it looks as if it could, each with the
            reason.
        drop: removes what the saver keeps for a workspace outside of ``workspace.path``, such as a
            database.
        check: the store's own integrity check; returns one line for each thing that is wrong.
        drivers: names of database drivers that the kit cannot see by itself, or hooks for them.
        known: a known-violations file (TOML), relative to the file that defines the target.
        opening: source text that opens the saver in a reproducer without the kit; ``path`` is the
            folder of the workspace, ``dsn`` its place in the server.
        server: the sort of server that it needs, such as ``Postgres()``: ``workspace.dsn`` is a
            place in it that is empty at first, belongs to the workspace and is removed with it.
        examples: programs that every run takes first, such as those of mended flaws: tuples of
            steps, or the paths of artefacts, relative to the file that defines the target.
        expiry: how long the saver keeps what nobody uses, and how that time is made to pass.

    Raises:
        TargetError: an argument is not what it must be; the one line names it.
    """

    def decorate(function: Opener) -> Target:
        label = _label(name, function)
        return Target(
            name=label,
            open=function,
            durable=durable,
            capabilities=_declined(label, capabilities),
            drop=drop,
            check=check,
            drivers=_drivers(label, drivers),
            known=_path(label, known),
            opening=opening,
            server=server,
            examples=_examples(label, examples),
            expiry=expiry,
        )

    if name is None or isinstance(name, str):
        return decorate
    return decorate(name)


def _label(name: object, function: Opener) -> str:
    """Return the target's name: the author's, or else that of the function."""
    label = name if isinstance(name, str) else getattr(function, "__name__", None)
    if not isinstance(label, str):
        raise _wrong("?", "name", label, "a name, because the function has none")
    return label


def _wrong(target_name: str, argument: str, found: object, expected: str) -> TargetError:
    shown = repr(found) if isinstance(found, str | int | float | None) else type(found).__name__
    return TargetError(f"target {target_name!r}: {argument} is {shown:.80}, expected {expected}")


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise _wrong(str(name), "name", name, "1 to 60 ASCII letters, digits, '_', '.' or '-'")


def _check_opener(name: str, function: object) -> None:
    expected = "a function decorated with contextmanager or asynccontextmanager"
    if inspect.isgeneratorfunction(function):
        raise TargetError(
            f"target {name!r} is a plain generator; put @contextmanager below @target"
        )
    if inspect.isasyncgenfunction(function):
        raise TargetError(
            f"target {name!r} is a plain async generator; put @asynccontextmanager below @target"
        )
    if inspect.iscoroutinefunction(function) or inspect.isclass(function) or not callable(function):
        awaited = inspect.iscoroutinefunction(function)
        kind = "an async function" if awaited else kind_of(function)
        raise TargetError(f"target {name!r} is {kind}, expected {expected}")
    try:
        inspect.signature(function).bind(object())
    except TypeError:
        found = inspect.signature(function)
        raise TargetError(
            f"target {name!r} takes {found}, expected one argument, the Workspace"
        ) from None
    except ValueError:
        # Some callables written in C have no signature to look at; calling will tell.
        return


def _declined(name: str, capabilities: object) -> Mapping[Capability, str]:
    if capabilities is None:
        return MappingProxyType({})
    if not isinstance(capabilities, Mapping):
        raise _wrong(name, "capabilities", capabilities, "a mapping of Capability to a reason")
    declined: dict[Capability, str] = {}
    for key, reason in capabilities.items():
        try:
            capability = Capability(key)
        except ValueError:
            names = ", ".join(Capability)
            raise _wrong(name, "capabilities", key, f"keys among {names}") from None
        if not isinstance(reason, str) or not reason.strip():
            raise _wrong(name, f"capabilities[{capability}]", reason, "the reason, as text")
        declined[capability] = reason.strip()
    return MappingProxyType(declined)


def _drivers(name: str, drivers: object) -> tuple[object, ...]:
    if isinstance(drivers, str) or not isinstance(drivers, Iterable):
        raise _wrong(name, "drivers", drivers, "a sequence of driver names or hooks")
    return tuple(drivers)


def _examples(name: str, examples: object) -> tuple[str | Program, ...]:
    if isinstance(examples, str | PathLike) or not isinstance(examples, Iterable):
        raise _wrong(name, "examples", examples, "a sequence of paths and programs")
    pinned: list[str | Program] = []
    for one in examples:
        if isinstance(one, str | PathLike):
            pinned.append(str(fspath(one)))
        elif isinstance(one, Iterable) and (steps := tuple(one)):
            wrong = next((step for step in steps if not isinstance(step, Step)), None)
            if wrong is not None:
                raise _wrong(
                    name, "examples", wrong, "steps (saverproof.programs.steps.definitions)"
                )
            pinned.append(steps)
        else:
            raise _wrong(name, "examples", one, "the path of an artefact, or a tuple of steps")
    return tuple(pinned)


def _path(name: str, path: object) -> str | None:
    if path is None:
        return None
    if not isinstance(path, str | PathLike):
        raise _wrong(name, "known", path, "the path of a known-violations file, or None")
    return str(fspath(path))
