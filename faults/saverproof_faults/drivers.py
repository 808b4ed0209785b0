"""Database drivers, and how their calls are intercepted."""

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial, wraps
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

from saverproof_faults.errors import FaultsError, InjectedFault
from saverproof_faults.interceptor import INTERCEPTORS, event_of
from saverproof_faults.kinds import Event
from saverproof_faults.places import LEAVING, Method
from saverproof_faults.plan import OPERATIONAL
from saverproof_faults.reentrancy import FLAGS
from saverproof_faults.sqlite import patch


@runtime_checkable
class Driver(Protocol):
    """A database driver whose calls can be made to fail.

    ``name`` identifies it in reports. ``modules`` are module names; the driver is in use if one of
    them is loaded. ``install`` routes every call through ``interceptor.INTERCEPTORS.current``, and
    returns a function that undoes that.
    """

    @property
    def name(self) -> str: ...
    @property
    def modules(self) -> tuple[str, ...]: ...
    def install(self) -> Callable[[], None]: ...


@dataclass(frozen=True, slots=True)
class Sqlite3Driver:
    """The standard library's sqlite3, patched by name; aiosqlite, SQLAlchemy and Django use it."""

    name: str = "sqlite3"
    modules: tuple[str, ...] = ("sqlite3",)

    def install(self) -> Callable[[], None]:
        """Patch sqlite3 (see ``Driver.install``)."""
        return patch.install()


SQLITE3 = Sqlite3Driver()

EXECUTE = "execute"
BATCH = "executemany"
PIPELINE = "pipeline"
"""The way to call a driver's method that sends the statements which were gathered before. Methods
take one statement, a batch of rows, or these; other methods are named by their event.
"""


@dataclass(frozen=True, slots=True)
class ClassDriver:
    """A driver written in Python, whose methods are replaced on its classes.

    ``methods`` maps ``"module:Class.method"`` to what the method is: ``"execute"`` (statement
    first), ``"executemany"`` (statement, then rows), ``"pipeline"`` (statements gathered before),
    ``"leave"`` (the exit of a block that commits, or rolls back on an exception), or the name of an
    event: ``"commit"``, ``"rollback"``, ``"begin"``. Coroutine methods are awaited. ``errors``
    names the module of the driver's exceptions, and ``operational`` the exception that says that
    the database could not do what it was asked.

    ``refused`` is a statement that the server is sure to refuse. It is sent before an exception is
    raised for a statement; before one is raised for a commit, the transaction is rolled back. A
    real server that refuses a statement ends the transaction or pipeline that it stands in, and
    savers may rely on that. Without ``refused`` nothing is sent, as if the server were out of
    reach.
    """

    name: str
    modules: tuple[str, ...]
    errors: str
    methods: Mapping[str, str] = field(hash=False)
    refused: str | None = None
    operational: str = OPERATIONAL

    def install(self) -> Callable[[], None]:
        """Replace the driver's methods (see ``Driver.install``).

        Raises:
            FaultsError: the driver lacks one of the methods or the exception.
        """
        errors = self._exceptions()
        changed: list[tuple[type, str, Any]] = []

        def undo() -> None:
            while changed:
                owner, name, original = changed.pop()
                setattr(owner, name, original)

        try:
            for path in self.methods:
                owner, name = _owner(self.name, path)
                original = owner.__dict__.get(name)
                if original is None:
                    raise FaultsError(f"driver {self.name!r}: {path} is not defined there")
                changed.append((owner, name, original))
                setattr(owner, name, _intercepted(original, self._method(path, original), errors))
        except BaseException:
            undo()
            raise
        return undo

    def _method(self, path: str, original: Callable[..., Any]) -> Method:
        module, _, rest = path.partition(":")
        owner, _, name = rest.rpartition(".")
        awaited = inspect.iscoroutinefunction(original)
        return Method(module, owner, name, self.methods[path], self.errors, awaited, self.refused)

    def _exceptions(self) -> ModuleType:
        """Return the module of the driver's exceptions.

        A driver with another name for OperationalError gets a module that has both names.
        """
        errors = importlib.import_module(self.errors)
        found = getattr(errors, self.operational, None)
        if not (isinstance(found, type) and issubclass(found, Exception)):
            raise FaultsError(
                f"driver {self.name!r}, operational: {self.errors} has no exception "
                f"{self.operational!r}; name the one that it raises where a database refuses"
            )
        if self.operational == OPERATIONAL:
            return errors
        named = ModuleType(errors.__name__)
        named.__dict__.update({**vars(errors), OPERATIONAL: found})
        return named


def _owner(driver: str, path: str) -> tuple[type, str]:
    module, _, rest = path.partition(":")
    names, _, method = rest.rpartition(".")
    found: Any = importlib.import_module(module)
    for name in names.split("."):
        found = getattr(found, name, None)
    if not isinstance(found, type):
        raise FaultsError(f"driver {driver!r}: {path} names no class, found {found!r}")
    return found, method


def _intercepted(
    original: Callable[..., Any], known: Method, errors: ModuleType
) -> Callable[..., Any]:
    if known.awaited:
        return _intercepted_coroutine(original, known, errors)

    @wraps(original)
    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        interceptor = INTERCEPTORS.current
        if interceptor is None:
            return original(self, *arguments, **options)
        if known.manner == BATCH and len(arguments) > 1:
            sql, rows, *others = arguments
            return interceptor.batch(
                str(sql),
                rows,
                errors,
                lambda counted: original(self, sql, counted, *others, **options),
            )
        event, sql = _event(known.manner, arguments)
        made = _Made()
        try:
            return interceptor.call(
                event, sql, errors, lambda: made.note(original(self, *arguments, **options)), known
            )
        except BaseException as error:
            if _is_refusal(error) and known.refused is not None:
                with _unseen(), suppress(Exception):
                    for undoing in made.undoing(original, self, event, known):
                        undoing()
            raise

    return method


def _intercepted_coroutine(
    original: Callable[..., Any], known: Method, errors: ModuleType
) -> Callable[..., Any]:
    @wraps(original)
    async def method(self: Any, *arguments: Any, **options: Any) -> Any:
        interceptor = INTERCEPTORS.current
        if interceptor is None:
            return await original(self, *arguments, **options)
        if known.manner == BATCH and len(arguments) > 1:
            sql, rows, *others = arguments
            return await interceptor.await_batch(
                str(sql),
                rows,
                errors,
                lambda counted: original(self, sql, counted, *others, **options),
            )
        event, sql = _event(known.manner, arguments)
        made = _Made()

        async def call() -> Any:
            return made.note(await original(self, *arguments, **options))

        try:
            return await interceptor.await_call(event, sql, errors, call, known)
        except BaseException as error:
            if _is_refusal(error) and known.refused is not None:
                with _unseen(), suppress(Exception):
                    for undoing in made.undoing(original, self, event, known):
                        answer = undoing()
                        if inspect.isawaitable(answer):
                            await answer
            raise

    return method


@dataclass(slots=True)
class _Made:
    """A note of whether the driver's own method was called before the fault struck."""

    made: bool = False

    def note(self, answer: Any) -> Any:
        """Note that the method was called, and pass its answer on."""
        self.made = True
        return answer

    def undoing(
        self, original: Callable[..., Any], owner: Any, event: Event, known: Method
    ) -> Iterator[Callable[[], Any]]:
        """Return a call that has the server undo what a real refusal would undo."""
        if event is Event.COMMIT and known.manner == EXECUTE:
            if not self.made:
                yield partial(owner.execute, "ROLLBACK")
        elif known.manner in (EXECUTE, BATCH):
            yield partial(owner.execute, known.refused)
            # A server in a pipeline reports a refusal only when rows are fetched.
            yield owner.fetchone
        elif self.made or event is Event.BEGIN:
            return
        elif known.manner == "leave":
            error = RuntimeError("refused")
            yield partial(original, owner, type(error), error, None)
        else:
            yield owner.rollback


def _is_refusal(error: BaseException) -> bool:
    """Return whether an exception stands for a server that refuses. An interrupt does not."""
    return isinstance(error, InjectedFault) and isinstance(error, Exception)


@contextmanager
def _unseen() -> Iterator[None]:
    """Let the calls of this thread bypass the interceptor for the length of a block."""
    FLAGS.inside += 1
    try:
        yield
    finally:
        FLAGS.inside -= 1


def _event(manner: str, arguments: tuple[Any, ...]) -> tuple[Event, str]:
    if manner in (EXECUTE, BATCH):
        sql = arguments[0] if arguments else ""
        sql = sql.decode(errors="replace") if isinstance(sql, bytes) else str(sql)
        return event_of(sql), sql
    if manner == "leave":
        event = Event.COMMIT if not arguments or arguments[0] is None else Event.ROLLBACK
        return event, LEAVING
    event = Event.STATEMENT if manner == PIPELINE else Event(manner)
    return event, f"{manner}()"
