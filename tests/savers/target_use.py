"""A target, opened by its function and by the text for its scripts: both find the same store."""

import ast
import asyncio
from contextlib import AbstractContextManager
from typing import Any

from saverproof import Capability, Target, Workspace
from tests.savers.helpers import at, make, number_of


def assert_same_store(target: Target, workspace: Workspace) -> None:
    """Put one checkpoint by the function, then another by the text, and list them."""
    assert asyncio.run(enter(target(workspace), 1)) == [1]
    assert target.opening is not None
    *before, last = ast.parse(target.opening).body
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {"path": str(workspace.path), "dsn": workspace.dsn}
    exec("\n".join(map(ast.unparse, before)), names)
    again = asyncio.run(enter(eval(ast.unparse(last), names), 2))
    keeps = target.durable and Capability.HISTORY not in target.capabilities
    assert again == ([2, 1] if keeps else [2])


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
