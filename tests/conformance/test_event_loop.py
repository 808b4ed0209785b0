"""Event loops that sync code hands coroutines to."""

import asyncio
import concurrent.futures
import inspect
import threading
from collections.abc import Callable

import pytest

from saverproof.savers.targets.event_loop import EventLoop, InlineLoop, Loop, loop_for

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(params=[EventLoop, InlineLoop])
def kind(request: pytest.FixtureRequest) -> Callable[[], Loop]:
    made: Callable[[], Loop] = request.param
    return made


async def answer() -> int:
    await asyncio.sleep(0)
    return 42


async def thread() -> int:
    return threading.get_ident()


def test_an_answer_is_given_and_an_error_raised(kind: Callable[[], Loop]) -> None:
    async def fail() -> None:
        raise KeyError("theirs")

    with kind() as loop:
        assert loop.run(answer()) == 42
        with pytest.raises(KeyError, match="theirs"):
            loop.run(fail())


def test_a_task_that_exits_does_not_end_the_loop(kind: Callable[[], Loop]) -> None:
    async def leave() -> None:
        raise SystemExit(3)

    with kind() as loop:
        with pytest.raises(SystemExit):
            loop.run(leave())
        assert loop.run(answer()) == 42


def test_a_cancelled_coroutine_is_an_error_like_any_other(kind: Callable[[], Loop]) -> None:
    async def cancelled() -> None:
        raise asyncio.CancelledError

    with kind() as loop:
        with pytest.raises(concurrent.futures.CancelledError):
            loop.run(cancelled())
        assert loop.run(answer()) == 42


def test_what_still_runs_is_cancelled_when_the_loop_is_closed(kind: Callable[[], Loop]) -> None:
    ended: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    tasks: set[asyncio.Task[None]] = set()

    async def begin() -> None:
        tasks.add(asyncio.create_task(wait()))
        await asyncio.sleep(0)

    with kind() as loop:
        loop.run(begin())
    assert ended == ["cancelled"]


@pytest.mark.parametrize("used", [False, True])
def test_a_closed_loop_leaves_no_coroutine_waiting(kind: Callable[[], Loop], used: bool) -> None:
    loop = kind()
    if used:
        loop.run(answer())
    loop.close()
    loop.close()
    coroutine = answer()
    with pytest.raises(RuntimeError, match="closed"):
        loop.run(coroutine)
    assert inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED


def test_a_loop_that_something_holds_is_blocked(kind: Callable[[], Loop]) -> None:
    held, release = threading.Event(), threading.Event()

    async def hold() -> None:
        held.set()
        release.wait()

    loop = kind()
    assert not loop.is_blocked()
    caller = threading.Thread(target=loop.run, args=(hold(),))
    caller.start()
    assert held.wait(10)
    assert loop.is_blocked()
    release.set()
    caller.join()
    assert not loop.is_blocked()
    loop.close()


def test_the_async_api_is_called_on_the_thread_that_waits() -> None:
    with loop_for("async") as inline, loop_for("sync") as apart:
        assert inline.run(thread()) == threading.get_ident()
        assert apart.run(thread()) != threading.get_ident()


def test_a_loop_that_is_not_used_starts_no_thread() -> None:
    before = threading.active_count()
    with EventLoop():
        assert threading.active_count() == before


def test_closing_an_inline_loop_that_something_holds_leaves_it_alone() -> None:
    held, release = threading.Event(), threading.Event()

    async def hold() -> None:
        held.set()
        release.wait()

    loop = InlineLoop()
    caller = threading.Thread(target=loop.run, args=(hold(),))
    caller.start()
    assert held.wait(10)
    loop.close()
    release.set()
    caller.join()
    assert loop.run(answer()) == 42
    loop.close()
