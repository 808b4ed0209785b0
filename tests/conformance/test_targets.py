"""How an author declares a target, and how a bad one is told."""

import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from saverproof import Capability, Target, Workspace, target
from saverproof.errors import OpeningError, TargetError
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.opening import fresh_workspace, opened


@contextmanager
def in_memory(workspace: Workspace) -> Iterator[InMemorySaver]:
    yield InMemorySaver()


@pytest.fixture
def loop() -> Iterator[EventLoop]:
    with EventLoop() as loop:
        yield loop


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, "w1")


def test_a_bare_decorator_takes_the_functions_name() -> None:
    assert target(in_memory).name == "in_memory"


def test_a_decorator_with_arguments_keeps_them() -> None:
    made = target(name="my-saver", durable=False, capabilities={Capability.PRUNE: "never"})(
        in_memory
    )
    assert (made.name, made.durable, dict(made.capabilities)) == (
        "my-saver",
        False,
        {Capability.PRUNE: "never"},
    )


def test_a_target_is_still_the_authors_function(workspace: Workspace) -> None:
    with target(in_memory)(workspace) as saver:
        assert isinstance(saver, InMemorySaver)


def plain_generator(workspace: Workspace) -> Iterator[None]:
    yield None


async def async_generator(workspace: Workspace) -> AsyncIterator[None]:
    yield None


async def coroutine(workspace: Workspace) -> None: ...


@contextmanager
def no_arguments() -> Iterator[None]:
    yield None


anyhow: Any = target
"""``target`` as a caller without a type checker sees it."""


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: anyhow(plain_generator), "plain generator; put @contextmanager below"),
        (lambda: anyhow(async_generator), "put @asynccontextmanager below"),
        (lambda: anyhow(coroutine), "is an async function, expected a function decorated"),
        (lambda: anyhow(InMemorySaver), "is a class, expected a function decorated"),
        (lambda: anyhow(no_arguments), r"takes \(\).*, expected one argument, the Workspace"),
        (lambda: anyhow(name="a b")(in_memory), "name is 'a b', expected 1 to 60 ASCII"),
        (lambda: anyhow(durable="yes")(in_memory), "durable is 'yes', expected True or False"),
        (lambda: anyhow(drop=3)(in_memory), "drop is 3, expected a function"),
        (lambda: anyhow(check="x")(in_memory), "check is 'x', expected a function"),
        (lambda: anyhow(opening="")(in_memory), "opening is '', expected source text"),
        (lambda: anyhow(drivers="psycopg")(in_memory), "drivers is 'psycopg', expected a sequence"),
        (lambda: anyhow(known=1)(in_memory), "known is 1, expected the path"),
        (lambda: anyhow(capabilities={"fly": "no"})(in_memory), "capabilities is 'fly'"),
        (lambda: anyhow(capabilities={"prune": ""})(in_memory), r"\[prune\] is '', expected"),
    ],
)
def test_a_wrong_argument_is_told_in_one_line(make: Any, line: str) -> None:
    with pytest.raises(TargetError) as caught:
        make()
    assert re.search(line, caught.value.message), caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("name", ["", "A", "1a", "a" * 41, "a-b"])
def test_a_workspace_name_is_fit_for_a_database(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"Workspace\.name"):
        Workspace(tmp_path, name)


@pytest.mark.parametrize("yielded", [None, {}, 3])
def test_an_opener_without_a_saver_is_told(
    yielded: object, workspace: Workspace, loop: EventLoop
) -> None:
    @target
    @contextmanager
    def empty(workspace: Workspace) -> Iterator[object]:
        yield yielded

    with pytest.raises(OpeningError, match="expected a saver"), opened(empty, workspace, loop):
        pass


def test_an_opener_that_yields_a_class_is_told(workspace: Workspace, loop: EventLoop) -> None:
    @target
    @contextmanager
    def of_class(workspace: Workspace) -> Iterator[object]:
        yield InMemorySaver

    with (
        pytest.raises(OpeningError, match="the class InMemorySaver, expected a saver"),
        opened(of_class, workspace, loop),
    ):
        pass


@pytest.mark.parametrize("decorator", [contextmanager, asynccontextmanager])
def test_an_opener_that_yields_nothing_is_told(
    decorator: Callable[..., Any], workspace: Workspace, loop: EventLoop
) -> None:
    def returning(workspace: Workspace) -> None:
        pass

    made = target(decorator(returning))
    with (
        pytest.raises(OpeningError, match="returned None, expected it to yield the saver"),
        opened(made, workspace, loop),
    ):
        pass


def test_an_opener_that_gives_no_context_manager_is_told(
    workspace: Workspace, loop: EventLoop
) -> None:
    made = Target(name="x", open=lambda workspace: 3)  # type: ignore[arg-type,return-value]
    with (
        pytest.raises(OpeningError, match="gave an int, expected a context manager"),
        opened(made, workspace, loop),
    ):
        pass


def test_an_async_opener_is_entered_and_left_on_the_loop(
    workspace: Workspace, loop: EventLoop
) -> None:
    threads: list[str] = []

    @target
    @asynccontextmanager
    async def remembered(workspace: Workspace) -> AsyncIterator[InMemorySaver]:
        threads.append(threading.current_thread().name)
        yield InMemorySaver()
        threads.append(threading.current_thread().name)

    with opened(remembered, workspace, loop):
        pass
    assert threads == ["saverproof-loop", "saverproof-loop"]


@pytest.mark.parametrize("place", ["opening", "closing"])
def test_an_opener_that_raises_is_told_with_the_place(
    place: str, workspace: Workspace, loop: EventLoop
) -> None:
    @target
    @contextmanager
    def broken(workspace: Workspace) -> Iterator[InMemorySaver]:
        if place == "opening":
            raise RuntimeError("no\nserver")
        yield InMemorySaver()
        raise RuntimeError("no\nserver")

    with (
        pytest.raises(OpeningError, match=f"{place} raised RuntimeError: no server") as caught,
        opened(broken, workspace, loop),
    ):
        pass
    assert caught.value.stage == place


def test_an_opener_cannot_hide_what_the_block_raised(workspace: Workspace, loop: EventLoop) -> None:
    @target
    @contextmanager
    def hiding(workspace: Workspace) -> Iterator[InMemorySaver]:
        with suppress(KeyError):
            yield InMemorySaver()

    with pytest.raises(KeyError), opened(hiding, workspace, loop):
        raise KeyError("ours")


def test_a_fresh_workspace_is_private_and_leaves_nothing(tmp_path: Path) -> None:
    dropped: list[str] = []
    made = target(name="x", drop=lambda workspace: dropped.append(workspace.name))(in_memory)
    with fresh_workspace(tmp_path, made) as workspace:
        assert workspace.path.stat().st_mode & 0o777 == 0o700
        assert list(workspace.path.iterdir()) == []
        (workspace.path / "data").write_text("x")
    assert dropped == [workspace.name]
    assert list(tmp_path.iterdir()) == []
