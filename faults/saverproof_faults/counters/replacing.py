"""Interceptors that surround the calls of a driver, in place of the one that fails calls."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import Any

from saverproof_faults.interceptor import INTERCEPTORS, Interceptor, Result
from saverproof_faults.kinds import Event
from saverproof_faults.places import Method


class Surrounding(Interceptor):
    """Makes each call of a driver by ``around``, or after ``before_await``, and fails none."""

    def __init__(self) -> None:
        super().__init__(lambda error: None)

    def around(self, call: Callable[[], Result]) -> Result:
        """Make a call of a synchronous driver; subclasses act before and after it."""
        return call()

    async def before_await(self) -> None:
        """Act before a call of an asynchronous driver."""

    def call(
        self,
        event: Event,
        sql: str,
        errors: ModuleType,
        run: Callable[[], Result],
        method: Method | None = None,
    ) -> Result:
        try:
            return self.around(partial(super().call, event, sql, errors, run, method))
        finally:
            # A traceback must not keep the program's cursor alive: see InterceptedCursor.
            run = None  # type: ignore[assignment]

    def batch(
        self, sql: str, rows: Iterable[Any], errors: ModuleType, run: Callable[..., Result]
    ) -> Result:
        try:
            return self.around(partial(super().batch, sql, rows, errors, run))
        finally:
            run = None  # type: ignore[assignment]

    async def await_call(
        self,
        event: Event,
        sql: str,
        errors: ModuleType,
        run: Callable[[], Awaitable[Result]],
        method: Method | None = None,
    ) -> Result:
        await self.before_await()
        return await super().await_call(event, sql, errors, run, method)

    async def await_batch(
        self,
        sql: str,
        rows: Iterable[Any],
        errors: ModuleType,
        run: Callable[[Iterable[Any]], Awaitable[Result]],
    ) -> Result:
        await self.before_await()
        return await super().await_batch(sql, rows, errors, run)


@contextmanager
def in_place_of_the_usual(interceptor: Interceptor) -> Iterator[None]:
    """Let all proxies use this interceptor within a block, in place of the usual one."""
    before = INTERCEPTORS.current
    INTERCEPTORS.current = interceptor
    try:
        yield
    finally:
        INTERCEPTORS.current = before
