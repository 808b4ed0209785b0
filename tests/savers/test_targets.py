"""The ready targets, and the text that opens each of them without the kit."""

import ast
import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from saverproof import Capability, Workspace
from saverproof_faults.servers import ServerUnavailable, dsn_for, serving
from saverproof_savers import targets
from saverproof_savers.targets import servers
from tests.savers.helpers import at, make, number_of

TARGETS = {
    target.name: target
    for module in (targets, servers)
    for target in vars(module).values()
    if type(target).__name__ == "Target"
}


def test_each_is_offered_under_its_name() -> None:
    offered = {
        point.name
        for point in entry_points(group="saverproof.targets")
        if point.value.startswith("saverproof_savers.targets")
    }
    assert offered <= set(TARGETS)
    assert {"sqlite", "memory", "langgraph-sqlite", "langgraph-sqlite-async"} <= offered


async def use(saver: Any, number: int) -> list[int]:
    """Put one checkpoint, by the API that the saver has, and list them all."""
    if type(saver).__name__.startswith(("Async", "AIO")):
        await saver.aput(at(), make(number), {}, {})
        return [number_of(each) async for each in saver.alist(at())]
    saver.put(at(), make(number), {}, {})
    return [number_of(each) for each in saver.list(at())]


async def enter(manager: Any, number: int) -> list[int]:
    if isinstance(manager, AbstractContextManager) or not hasattr(manager, "__aenter__"):
        with manager as saver:
            return await use(saver, number)
    async with manager as saver:
        return await use(saver, number)


@pytest.fixture(scope="module")
def running() -> Iterator[ExitStack]:
    """Where a server is entered that several tests use."""
    with ExitStack() as stack:
        yield stack


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning")
# aiomysql passes on what the server notes.
@pytest.mark.filterwarnings("ignore:ShallowPostgresSaver is deprecated")
@pytest.mark.filterwarnings("ignore:Table 'checkpoint_migrations' already exists")
def test_a_target_opens_the_store_that_its_opening_text_opens(
    tmp_path: Path, name: str, running: ExitStack
) -> None:
    target = TARGETS[name]
    workspace = Workspace(tmp_path, "abc")
    if target.server is not None:
        try:
            running.enter_context(serving(target.server))
        except ServerUnavailable as reason:
            pytest.skip(str(reason))
        workspace = Workspace(tmp_path, "abc", dsn_for(target.server, tmp_path))
    assert asyncio.run(enter(target(workspace), 1)) == [1]
    assert target.opening is not None
    *before, last = ast.parse(target.opening).body
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {"path": str(tmp_path), "dsn": workspace.dsn}
    exec("\n".join(map(ast.unparse, before)), names)
    again = asyncio.run(enter(eval(ast.unparse(last), names), 2))
    keeps = target.durable and Capability.HISTORY not in target.capabilities
    assert again == ([2, 1] if keeps else [2])
    if target.check is not None:
        assert target.check(workspace) == []
