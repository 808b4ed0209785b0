"""Scripts whose own code is sync, whatever API they call. A part of it is source of the kit."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable

from saverproof.scripts.formatting import indented
from saverproof.scripts.opening import Opening

_AWAITED = """
loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()
def run(coroutine):
    return asyncio.run_coroutine_threadsafe(coroutine, loop).result()
"""
_ASYNC_API = """
class Awaited:  # the async API under the names of the sync one
    def __init__(self, saver):
        self.saver, self.get_next_version = saver, saver.get_next_version
    def list(self, *arguments, **options):
        async def items():
            return [found async for found in self.saver.alist(*arguments, **options)]
        return run(items())
    def __getattr__(self, name):
        method = getattr(self.saver, f"a{name}")
        return lambda *arguments, **options: run(method(*arguments, **options))
"""


def calling(opening: Opening, api: str) -> list[str]:
    """Return the definitions by which a sync script calls the API: ``run`` and ``Awaited``, if
    needed.
    """
    waits = api == "async" or opening.managed
    return [
        *(_AWAITED.splitlines() if waits else []),
        *(_ASYNC_API.splitlines() if api == "async" else []),
    ]


def with_saver(opening: Opening, api: str, use: Callable[[str], list[str]]) -> list[str]:
    """Return the lines of ``use`` with the saver open. ``use`` gets the expression for the
    saver.
    """
    lines = use("Awaited(saver)" if api == "async" else "saver")
    if not opening.managed:
        return opening.opened(lines)
    return [
        f"manager = {opening.expression}",
        "saver = run(manager.__aenter__())",
        "try:",
        *indented(lines),
        "finally:",
        "    run(manager.__aexit__(None, None, None))",
    ]


def source_of(thing: Callable[..., object]) -> list[str]:
    """Return the source of a class or function without annotations and docstrings."""
    tree = _Bare().visit(ast.parse(inspect.getsource(thing)))
    return ast.unparse(tree).splitlines()


class _Bare(ast.NodeTransformer):
    """A transformer that removes annotations and docstrings."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._bare(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._bare(node)

    def _bare(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        given = node.args
        for argument in (*given.args, given.vararg, given.kwarg):
            if argument is not None:
                argument.annotation = None
        node.body = _without_docstring(node)
        self.generic_visit(node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = _without_docstring(node)
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        return ast.Assign([node.target], node.value, lineno=node.lineno)


def _without_docstring(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
) -> list[ast.stmt]:
    if ast.get_docstring(node) is None:
        return node.body
    return node.body[1:] or [ast.Pass()]
