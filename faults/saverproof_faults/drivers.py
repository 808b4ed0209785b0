"""Database drivers: how their calls are intercepted."""

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
    """What a database driver needs for client-side faults.

    ``name`` is how it is told apart in reports, ``modules`` are those of which one is loaded where
    it is in use. ``install`` makes every call pass ``interceptor.INTERCEPTORS.current``, and
    returns what undoes that.
    """

    @property
    def name(self) -> str: ...
    @property
    def modules(self) -> tuple[str, ...]: ...
    def install(self) -> Callable[[], None]: ...


@dataclass(frozen=True, slots=True)
class Sqlite3Driver:
    """The standard library's driver, patched by name: aiosqlite, SQLAlchemy and Django use it."""

    name: str = "sqlite3"
    modules: tuple[str, ...] = ("sqlite3",)

    def install(self) -> Callable[[], None]:
        """See Driver."""
        return patch.install()


SQLITE3 = Sqlite3Driver()

EXECUTE = "execute"
BATCH = "executemany"
PIPELINE = "pipeline"
"""How a method is called: with one statement, with a batch of rows, with statements that were
gathered before, or by an event's name.
"""


@dataclass(frozen=True, slots=True)
class ClassDriver:
    """A driver written in Python, whose methods are exchanged on its classes.

    ``methods`` maps ``"module:Class.method"`` to ``"execute"`` (statement first), ``"executemany"``
    (statement, then rows), ``"pipeline"`` (statements gathered before), or to the event that the
    call is: ``"commit"``, ``"rollback"``, ``"begin"``. ``"leave"`` is for the exit of a block that
    commits, or rolls back on an exception. Coroutine methods are awaited. ``errors`` names the
    module of the driver's exceptions, and ``operational`` the one of them that says that the
    database could not do what it was asked.

    ``refused`` is a statement that the server is sure to refuse. It is sent before an exception is
    raised for a statement, and a transaction is rolled back before one is raised for its commit:
    a server that refuses something has ended the transaction or the pipeline that it stands in, and
    a saver may rely on that. Without it nothing is sent, as for a driver whose server is far away.
    """

    name: str
    modules: tuple[str, ...]
    errors: str
    methods: Mapping[str, str] = field(hash=False)
    refused: str | None = None
    operational: str = OPERATIONAL

    def install(self) -> Callable[[], None]:
        """See Driver. Raises FaultsError for a method or an exception that it does not have."""
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
        """The module, or one that has the driver's own class by the name that plans know."""
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
            if isinstance(error, InjectedFault) and known.refused is not None:
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
            if isinstance(error, InjectedFault) and known.refused is not None:
                with _unseen(), suppress(Exception):
                    for undoing in made.undoing(original, self, event, known):
                        answer = undoing()
                        if inspect.isawaitable(answer):
                            await answer
            raise

    return method


@dataclass(slots=True)
class _Made:
    """Whether a call was made before it was failed."""

    made: bool = False

    def note(self, answer: Any) -> Any:
        """It was."""
        self.made = True
        return answer

    def undoing(
        self, original: Callable[..., Any], owner: Any, event: Event, known: Method
    ) -> Iterator[Callable[[], Any]]:
        """What a server has done to the transaction when it refused this call."""
        if event is Event.COMMIT and known.manner == EXECUTE:
            if not self.made:
                yield partial(owner.execute, "ROLLBACK")
        elif known.manner in (EXECUTE, BATCH):
            yield partial(owner.execute, known.refused)
            # In a pipeline a statement is refused only when somebody wants its rows.
            yield owner.fetchone
        elif self.made or event is Event.BEGIN:
            return
        elif known.manner == "leave":
            error = RuntimeError("refused")
            yield partial(original, owner, type(error), error, None)
        else:
            yield owner.rollback


@contextmanager
def _unseen() -> Iterator[None]:
    """What this thread calls meanwhile passes no interceptor."""
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
