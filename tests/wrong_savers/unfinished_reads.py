"""Savers whose reads do not end well: they fail, are cancelled, or wait too long for an answer."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.registry import wrong

READS = "atomicity/failed-reads-raise"
USABLE = "atomicity/usable-after"
LEFT = "lifecycle/abandoned-list"
CANCELLED = "atomicity/cancelled"

T = TypeVar("T")


# -- what is failed-reads-raise -----------------------------------------------------------


@wrong(READS, "a file that is locked for too long has no checkpoints")
class LockedIsNotFound(SqliteReference):
    def get_tuple(self, config: Any) -> Any:
        try:
            return super().get_tuple(config)
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                return None
            raise


@wrong(READS, "the same in a listing")
class LockedIsNothingListed(SqliteReference):
    def list(self, config: Any, **options: Any) -> Iterator[Any]:
        try:
            yield from super().list(config, **options)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise


class InSteps(SqliteReference):
    """Lets the event loop run before each read asks the file, and once it has its answer."""

    async def asked(self, ask: Callable[[], T]) -> T:
        await asyncio.sleep(0)
        found = ask()
        await asyncio.sleep(0)
        return found

    async def aget_tuple(self, config: Any) -> Any:
        return await self.asked(lambda: self.get_tuple(config))

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[Any]:
        for found in await self.asked(lambda: [*self.list(config, **options)]):
            yield found

    async def aget_delta_channel_history(self, **asked: Any) -> Any:
        return await self.asked(lambda: self.get_delta_channel_history(**asked))


@wrong(READS, "in the async API alone: except sqlite3.Error: return None", apis=("async",))
class AsyncErrorIsNotFound(InSteps):
    async def aget_tuple(self, config: Any) -> Any:
        try:
            return await super().aget_tuple(config)
        except sqlite3.Error:
            return None


@wrong(READS, "in the async API alone: a listing ends where it fails", apis=("async",))
class AsyncListingEndsWhereItFails(InSteps):
    async def alist(self, config: Any, **options: Any) -> AsyncIterator[Any]:
        with suppress(sqlite3.Error):
            async for found in super().alist(config, **options):
                yield found


@wrong(
    READS,
    "except BaseException: a read that a time-out has cancelled has found nothing",
    apis=("async",),
)
class CancelledIsNotFound(InSteps):
    async def aget_tuple(self, config: Any) -> Any:
        try:
            return await super().aget_tuple(config)
        except asyncio.CancelledError:
            return None


@wrong(READS, "a listing that a time-out has cancelled is at its end", apis=("async",))
class CancelledListingIsEmpty(InSteps):
    async def alist(self, config: Any, **options: Any) -> AsyncIterator[Any]:
        with suppress(asyncio.CancelledError):
            async for found in super().alist(config, **options):
                yield found


# -- what is usable-after -----------------------------------------------------------------


class GatedReads(Database):
    """Readers take turns."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.gate = threading.Lock()

    @contextmanager
    def reading(self) -> Iterator[None]:
        # Waits that end, so that an exception can end this thread; long ones, which are no work.
        while not self.gate.acquire(timeout=0.3):
            continue
        with super().reading():
            yield
        self.gate.release()


@wrong(USABLE, "a read that fails keeps the readers' gate", hangs=True)
class FailedReadKeepsTheGate(SqliteReference):
    database_class = GatedReads


class ReadersCounted(Database):
    """Has room for some readers, and a reader that fails never leaves."""

    readers = 0

    @contextmanager
    def reading(self) -> Iterator[None]:
        if self.readers == 5:
            raise sqlite3.OperationalError("no connection is free")
        self.readers += 1
        with super().reading():
            yield
        self.readers -= 1


@wrong(USABLE, "reads that fail do not give their connection back: a pool of five runs out")
class FailedReadsRunOut(SqliteReference):
    database_class = ReadersCounted


@wrong(USABLE, "what could not be read is remembered as not there")
class FailureIsRemembered(SqliteReference):
    def get_tuple(self, config: Any) -> Any:
        asked = repr(config["configurable"])
        failed = self.__dict__.setdefault("failed", set())
        if asked in failed:
            return None
        try:
            return super().get_tuple(config)
        except sqlite3.Error:
            failed.add(asked)
            raise

    def put(self, *given: Any) -> Any:
        self.__dict__.pop("failed", None)
        return super().put(*given)


# -- what is abandoned-list ---------------------------------------------------------------


@wrong(LEFT, "a listing that is left keeps its connection: a pool of five runs out")
class LeftListingsRunOut(SqliteReference):
    left = 5

    def list(self, config: Any, **options: Any) -> Iterator[Any]:
        if not self.left:
            raise sqlite3.OperationalError("no connection is free")
        self.left -= 1
        yield from super().list(config, **options)
        self.left += 1


# -- what is cancelled --------------------------------------------------------------------


class GatedInSteps(InSteps):
    def _gate(self) -> asyncio.Lock:
        gate: asyncio.Lock = self.__dict__.setdefault("gate", asyncio.Lock())
        return gate


@wrong(CANCELLED, "a read that is cancelled keeps the gate", apis=("async",), hangs=True)
class CancelledReadKeepsTheGate(GatedInSteps):
    async def asked(self, ask: Callable[[], T]) -> T:
        await self._gate().acquire()
        try:
            found = await super().asked(ask)
        except Exception:
            self._gate().release()
            raise
        self._gate().release()
        return found


@wrong(CANCELLED, "a read that is cancelled leaves its view open, and is stale", apis=("async",))
class CancelledReadKeepsItsView(InSteps):
    async def asked(self, ask: Callable[[], T]) -> T:
        self.database.connection.execute("BEGIN")
        try:
            ask()
            await asyncio.sleep(0)
            found = ask()
        except Exception:
            self.database.roll_back()
            raise
        self.database.roll_back()
        return found


@wrong(
    CANCELLED, "the answer to a read that was given up is taken for the next one's", apis=("async",)
)
class AnswersComeLate(InSteps):
    async def asked(self, ask: Callable[[], T]) -> T:
        answers: list[Any] = self.__dict__.setdefault("answers", [])
        answers.append(ask())
        await asyncio.sleep(0)
        return answers.pop(0)


@wrong(CANCELLED, "each read that is cancelled costs one of five connections", apis=("async",))
class CancelledReadsRunOut(InSteps):
    used = 0

    async def asked(self, ask: Callable[[], T]) -> T:
        if self.used == 5:
            raise sqlite3.OperationalError("no connection is free")
        self.used += 1
        try:
            found = await super().asked(ask)
        except Exception:
            self.used -= 1
            raise
        self.used -= 1
        return found


@wrong(
    CANCELLED,
    "a consumer that is cancelled between two items keeps one of five connections",
    apis=("async",),
)
class CancelledConsumersRunOut(InSteps):
    used = 0

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[Any]:
        if self.used == 5:
            raise sqlite3.OperationalError("no connection is free")
        self.used += 1
        try:
            found = await self.asked(lambda: [*self.list(config, **options)])
        except BaseException:
            self.used -= 1
            raise
        for one in found:
            yield one
        self.used -= 1


@wrong(
    CANCELLED,
    "closing a listing that is not at its end waits for what only its end would tell",
    apis=("async",),
    hangs=True,
)
class ListingsWaitWhenClosed(InSteps):
    async def alist(self, config: Any, **options: Any) -> AsyncIterator[Any]:
        ended = asyncio.Event()
        try:
            async for found in super().alist(config, **options):
                yield found
        except GeneratorExit:
            await ended.wait()
            raise
        ended.set()


@wrong(
    CANCELLED, "each delta history that is cancelled costs one of five connections", apis=("async",)
)
class CancelledHistoriesRunOut(InSteps):
    used = 0

    async def aget_delta_channel_history(self, **asked: Any) -> Any:
        if self.used == 5:
            raise sqlite3.OperationalError("no connection is free")
        self.used += 1
        found = await super().aget_delta_channel_history(**asked)
        self.used -= 1
        return found
