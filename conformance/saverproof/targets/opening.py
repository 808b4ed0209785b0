"""Opening a target's saver in a workspace, and closing it again."""

import asyncio
import inspect
import secrets
import shutil
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from saverproof.errors import OpeningError, describe
from saverproof.targets.target import Target
from saverproof.workspace import Workspace

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

Answer = TypeVar("Answer")


class EventLoop:
    """An asyncio event loop in a daemon thread of its own, so that sync calls can come from
    another thread.
    """

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="saverproof-loop", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def run(self, coroutine: Coroutine[Any, Any, Answer]) -> Answer:
        """Run ``coroutine`` on the loop and wait for it; what it raises is raised here."""
        settled = _settled(coroutine)
        try:
            future = asyncio.run_coroutine_threadsafe(settled, self.loop)
        except RuntimeError:
            # The loop is closed: a thread that was given up came back.
            settled.close()
            coroutine.close()
            raise
        try:
            value, error = future.result()
        except BaseException:
            future.cancel()
            raise
        if error is not None:
            raise error
        return value  # type: ignore[return-value]

    def close(self) -> None:
        """Cancel what still runs, stop the loop, and end its thread. Closing twice is fine."""
        if self.loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(_cancel_all(), self.loop).result(timeout=5)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=5)
        if not self._thread.is_alive():
            self.loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


async def _settled(
    coroutine: Coroutine[Any, Any, Answer],
) -> tuple[Answer | None, BaseException | None]:
    # A SystemExit or KeyboardInterrupt that a saver raises inside a task would end the loop's
    # thread.
    try:
        return await coroutine, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - carried to the caller, who raises it
        return None, error


async def _cancel_all() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=3)
    await asyncio.get_running_loop().shutdown_asyncgens()


@contextmanager
def opened(
    target: Target, workspace: Workspace, loop: EventLoop
) -> "Iterator[BaseCheckpointSaver[Any]]":
    """Open the target's saver in ``workspace``, and close it when the block ends.

    A sync context manager is entered on the calling thread, an async one on ``loop``.

    Raises:
        OpeningError: the author's function raised, or gave no context manager, or no saver; or
            closing raised.
    """
    manager, is_async = _manager(target, workspace)

    def enter() -> Any:
        return loop.run(_enter_async(manager)) if is_async else type(manager).__enter__(manager)

    def leave(*exc_info: Any) -> None:
        if is_async:
            loop.run(_exit_async(manager, exc_info))
        else:
            type(manager).__exit__(manager, *exc_info)

    try:
        saver = enter()
    except Exception as error:
        raise OpeningError(f"target {target.name!r}: opening raised {describe(error)}") from error
    try:
        _check_saver(target, saver)
        yield saver
    except BaseException as error:
        # The author's function may hide an exception (try/except around its yield); ours must not
        # get lost.
        try:
            leave(type(error), error, error.__traceback__)
        except BaseException as second:
            if second is not error:
                raise error from second
        raise
    try:
        leave(None, None, None)
    except Exception as error:
        message = f"target {target.name!r}: closing raised {describe(error)}"
        raise OpeningError(message, stage="closing") from error


async def _enter_async(manager: Any) -> Any:
    return await type(manager).__aenter__(manager)


async def _exit_async(manager: Any, exc_info: tuple[Any, ...]) -> Any:
    return await type(manager).__aexit__(manager, *exc_info)


def _manager(target: Target, workspace: Workspace) -> tuple[Any, bool]:
    try:
        manager = target.open(workspace)
    except Exception as error:
        raise OpeningError(f"target {target.name!r}: opening raised {describe(error)}") from error
    kind = type(manager)
    if hasattr(kind, "__enter__") and hasattr(kind, "__exit__"):
        return manager, False
    if hasattr(kind, "__aenter__") and hasattr(kind, "__aexit__"):
        return manager, True
    if inspect.iscoroutine(manager):
        manager.close()
    hint = " (put @contextmanager above the function, and yield the saver)"
    raise OpeningError(
        f"target {target.name!r}: the function gave {_kind(manager)}, expected a context manager"
        + (hint if hasattr(manager, "put") or inspect.isgenerator(manager) else "")
    )


def _check_saver(target: Target, saver: object) -> None:
    sync = hasattr(saver, "put") and hasattr(saver, "get_tuple")
    asynchronous = hasattr(saver, "aput") and hasattr(saver, "aget_tuple")
    if not sync and not asynchronous:
        raise OpeningError(
            f"target {target.name!r}: the function yielded {_kind(saver)}, "
            "expected a saver (put and get_tuple, or aput and aget_tuple)"
        )


def _kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__qualname__}"


@contextmanager
def fresh_workspace(folder: Path, target: Target) -> Iterator[Workspace]:
    """A new, empty, private workspace below ``folder``; afterwards it is dropped and its folder
    removed.

    Raises:
        OpeningError: the target's ``drop`` raised.
    """
    name = f"sp_{secrets.token_hex(8)}"
    path = folder / name
    path.mkdir(mode=0o700, parents=True)
    try:
        yield Workspace(path, name)
    finally:
        try:
            drop(target, Workspace(path, name))
        finally:
            # A saver's thread may still be writing here. What it leaves goes with the item's own
            # folder.
            shutil.rmtree(path, ignore_errors=True)


def drop(target: Target, workspace: Workspace) -> None:
    """Call the target's ``drop``, if it has one.

    Raises:
        OpeningError: it raised.
    """
    if target.drop is None:
        return
    try:
        target.drop(workspace)
    except Exception as error:
        message = f"target {target.name!r}: drop raised {describe(error)}"
        raise OpeningError(message, stage="dropping") from error
