"""An explicit wrapper for a connection that is open already, of any DB-API driver."""

import sys
from types import ModuleType, TracebackType
from typing import Any, cast

from saverproof_faults.errors import was_injected
from saverproof_faults.interceptor import INTERCEPTORS, Interceptor, event_of
from saverproof_faults.kinds import Event
from saverproof_faults.places import LEAVING


class _Forwarding:
    """A proxy with the attributes, and for ``isinstance`` the class, of the wrapped object."""

    _own = frozenset({"_wrapped", "_errors"})

    def __init__(self, wrapped: Any, errors: ModuleType) -> None:
        object.__setattr__(self, "_wrapped", wrapped)
        object.__setattr__(self, "_errors", errors)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return cast(type, type(self._wrapped))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._wrapped, name, value)

    def _control(self, event: Event, name: str, *arguments: Any) -> Any:
        true = getattr(self._wrapped, name)
        sql = LEAVING if name == "__exit__" else f"{name}()"
        interceptor = INTERCEPTORS.current
        if interceptor is None:
            return true(*arguments)
        return interceptor.call(event, sql, self._errors, lambda: true(*arguments))

    def _execute(self, name: str, *arguments: Any, **options: Any) -> Any:
        true = getattr(self._wrapped, name)
        interceptor = INTERCEPTORS.current
        if interceptor is None:
            return true(*arguments, **options)
        return self._intercepted(interceptor, name, true, *arguments, **options)

    def _intercepted(
        self, interceptor: Interceptor, name: str, true: Any, *arguments: Any, **options: Any
    ) -> Any:
        sql = str(arguments[0]) if arguments else ""
        if name == "executemany" and len(arguments) > 1:
            first, rows, *others = arguments
            return interceptor.batch(
                sql, rows, self._errors, lambda counted: true(first, counted, *others, **options)
            )
        event = Event.STATEMENT if name == "executescript" else event_of(sql)
        return interceptor.call(event, sql, self._errors, lambda: true(*arguments, **options))


class _Cursor(_Forwarding):
    def execute(self, *arguments: Any, **options: Any) -> Any:
        return self._result(self._execute("execute", *arguments, **options))

    def executemany(self, *arguments: Any, **options: Any) -> Any:
        return self._result(self._execute("executemany", *arguments, **options))

    def executescript(self, *arguments: Any, **options: Any) -> Any:
        return self._result(self._execute("executescript", *arguments, **options))

    def _result(self, result: Any) -> Any:
        return self if result is self._wrapped else result

    def __iter__(self) -> Any:
        return iter(self._wrapped)

    def __next__(self) -> Any:
        return next(self._wrapped)

    def __enter__(self) -> Any:
        self._wrapped.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> Any:
        return self._wrapped.__exit__(kind, error, trace)


class _Connection(_Forwarding):
    def cursor(self, *arguments: Any, **options: Any) -> Any:
        return _Cursor(self._wrapped.cursor(*arguments, **options), self._errors)

    def execute(self, *arguments: Any, **options: Any) -> Any:
        return _Cursor(self._execute("execute", *arguments, **options), self._errors)

    def executemany(self, *arguments: Any, **options: Any) -> Any:
        return _Cursor(self._execute("executemany", *arguments, **options), self._errors)

    def executescript(self, *arguments: Any, **options: Any) -> Any:
        return _Cursor(self._execute("executescript", *arguments, **options), self._errors)

    def commit(self) -> Any:
        return self._control(Event.COMMIT, "commit")

    def rollback(self) -> Any:
        return self._control(Event.ROLLBACK, "rollback")

    def __enter__(self) -> Any:
        self._wrapped.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> Any:
        if kind is not None:
            return self._control(Event.ROLLBACK, "__exit__", kind, error, trace)
        try:
            return self._control(Event.COMMIT, "__exit__", kind, error, trace)
        except BaseException as failure:
            if was_injected(failure):
                # Drivers roll back when a commit fails, before they let the exception out.
                self._control(
                    Event.ROLLBACK, "__exit__", type(failure), failure, failure.__traceback__
                )
            raise


def wrap(connection: Any, errors: ModuleType | None = None) -> Any:
    """Return a proxy of a connection, whose calls can be counted and failed.

    ``errors`` is the module of the driver's exceptions; by default it is the one that defines the
    connection's class. Functions written in C do not accept the proxy
    (``sqlite3.Cursor(connection)``, ``backup``): hand them the connection itself.
    """
    if errors is None:
        errors = _errors_of(connection)
    return _Connection(connection, errors)


def _errors_of(connection: Any) -> ModuleType:
    for owner in type(connection).__mro__:
        module = sys.modules.get(owner.__module__.partition(".")[0])
        if module is not None and hasattr(module, "OperationalError"):
            return module
    raise TypeError(
        f"errors: no module of {type(connection).__qualname__} has an OperationalError, name one"
    )
