"""Opens a target's saver in a workspace, and closes it."""

import inspect
import secrets
import shutil
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saverproof.errors import OpeningError, describe, kind_of
from saverproof.savers.targets.event_loop import Loop
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace
from saverproof_faults.servers import ServerError, ServerUnavailable, place

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver


@contextmanager
def opened(
    target: Target, workspace: Workspace, loop: Loop
) -> "Iterator[BaseCheckpointSaver[Any]]":
    """Open the target's saver in ``workspace``, and close it when the block ends.

    A sync context manager is entered on the calling thread, an async one on ``loop``.

    Raises:
        OpeningError: the author's function raised, gave no context manager or no saver, or closing
            raised.
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
    except (Exception, SystemExit) as error:
        said = _miscounted(manager, error) or f"opening raised {describe(error)}"
        raise OpeningError(f"target {target.name!r}: {said}") from error
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
        said = _miscounted(manager, error) or f"closing raised {describe(error)}"
        raise OpeningError(f"target {target.name!r}: {said}", stage="closing") from error


def _miscounted(manager: Any, error: BaseException) -> str | None:
    """Return what is wrong if the target's function does not yield once; else None."""
    function = getattr(manager, "gen", None)
    code = getattr(function, "gi_code", None) or getattr(function, "ag_code", None)
    # An error of a manager that the function uses has passed the function.
    passed = any(frame.f_code is code for frame, _ in traceback.walk_tb(error.__traceback__))
    return None if code is None or passed else _YIELDS.get(str(error))


_YIELDS = {
    "generator didn't yield": "the function ended without a yield, expected one, of the saver",
    "generator didn't stop": "the function yielded twice, expected one yield, of the saver",
}
"""What contextlib says of a function that does not yield once, and what an author is told."""


@contextmanager
def opened_in_stages(
    target: Target, workspace: Workspace, loop: Loop, stage: Callable[[str], None]
) -> "Iterator[BaseCheckpointSaver[Any]]":
    """Do the same as :func:`opened`, and call ``stage`` before the saver is closed, which may take
    for ever as well.
    """
    with opened(target, workspace, loop) as saver:
        yield saver
        stage("closing the saver")


async def _enter_async(manager: Any) -> Any:
    return await type(manager).__aenter__(manager)


async def _exit_async(manager: Any, exc_info: tuple[Any, ...]) -> Any:
    return await type(manager).__aexit__(manager, *exc_info)


def _manager(target: Target, workspace: Workspace) -> tuple[Any, bool]:
    try:
        manager = target.open(workspace)
    except (Exception, SystemExit) as error:
        raise OpeningError(f"target {target.name!r}: opening raised {describe(error)}") from error
    # contextlib's managers are made of any function, and fail only when they are entered.
    body = getattr(manager, "gen", manager)
    if body is None:
        raise OpeningError(
            f"target {target.name!r}: the function returned None, expected it to yield the saver"
        )
    kind = type(manager)
    if hasattr(kind, "__enter__") and hasattr(kind, "__exit__"):
        return manager, False
    if hasattr(kind, "__aenter__") and hasattr(kind, "__aexit__"):
        return manager, True
    if inspect.iscoroutine(manager):
        manager.close()
    hint = " (put @contextmanager above the function, and yield the saver)"
    raise OpeningError(
        f"target {target.name!r}: the function gave {kind_of(manager)}, expected a context manager"
        + (hint if hasattr(manager, "put") or inspect.isgenerator(manager) else "")
    )


def _check_saver(target: Target, saver: object) -> None:
    if isinstance(saver, type):
        raise OpeningError(
            f"target {target.name!r}: the function yielded the class {saver.__qualname__}, "
            "expected a saver that is made of it"
        )
    sync = hasattr(saver, "put") and hasattr(saver, "get_tuple")
    asynchronous = hasattr(saver, "aput") and hasattr(saver, "aget_tuple")
    if not sync and not asynchronous:
        raise OpeningError(
            f"target {target.name!r}: the function yielded {kind_of(saver)}, "
            "expected a saver (put and get_tuple, or aput and aget_tuple)"
        )


_MARK = "sp_"
"""What the names of workspaces begin with, also those that a server has given."""


def left_below(folder: Path) -> tuple[str, ...]:
    """Return the folders of the workspaces that were left below ``folder``, relative to it."""
    found = (path for path in folder.rglob(f"{_MARK}*") if path.is_dir())
    return tuple(sorted(path.relative_to(folder).as_posix() for path in found))


@contextmanager
def fresh_workspace(folder: Path, target: Target) -> Iterator[Workspace]:
    """Provide a new, empty, private workspace below ``folder``.

    When the block ends, the target's ``drop`` is called, and the workspace's folder and its place
    in a server, such as a database, are removed.

    Raises:
        OpeningError: the server makes no such place, or the target's ``drop`` raised.
    """
    with _name_and_dsn(target) as (name, dsn):
        path = folder / name
        path.mkdir(mode=0o700, parents=True)
        workspace = Workspace(path, name, dsn)
        try:
            yield workspace
        finally:
            try:
                drop(target, workspace)
            finally:
                # A saver's thread may still be writing here. What it leaves goes with the item's
                # own folder.
                shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _name_and_dsn(target: Target) -> Iterator[tuple[str, str]]:
    if target.server is None:
        yield f"{_MARK}{secrets.token_hex(8)}", ""
        return
    with ExitStack() as stack:
        try:
            here = stack.enter_context(place(target.server))
        except (ServerUnavailable, ServerError) as error:
            raise OpeningError(f"target {target.name!r}: {error}") from None
        yield here.name, here.dsn


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
