"""Standalone scripts that count what an answer costs in two stores, a small one and a large one."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence

from saverproof.families.cost.judging import Breach
from saverproof.families.cost.script_counters import COUNTERS
from saverproof.families.cost.stores import Chain, GrowingStore
from saverproof.families.cost.witnesses import WITNESSES
from saverproof.scripts.formatting import indented
from saverproof.scripts.opening import Opening, opening_of
from saverproof.scripts.script import complaint, promise_of
from saverproof.scripts.script import script as whole_script
from saverproof.scripts.verification import first_to_complain
from saverproof.targets.target import Target

_TRIED = 3
"""Breaches of one contract for which a script is tried: each lets two stores grow."""
_IMPORTS = (
    "import itertools",
    "import tracemalloc",
    "from saverproof_faults import Injector",
)
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


def reproducer(target: Target, broken: Sequence[Breach], api: str) -> str:
    """The source of a script that counts the same at two sizes; "" if none shows it."""
    opening = opening_of(target)
    if opening is None:
        return ""
    # One for each thing that is counted, the worst first: some cannot be counted by plain means.
    tried = {breach.witness: breach for breach in reversed(broken) if breach.witness in COUNTERS}
    texts = [
        script(breach, api, opening, target.name)
        for breach in sorted(tried.values(), key=lambda breach: breach.rank)[:_TRIED]
    ]
    return first_to_complain(texts, broken[0].question.contract)


def script(breach: Breach, api: str, opening: Opening, name: str) -> str:
    """The script."""
    question, law = breach.question, breach.law
    large = _large(breach)
    fewest, most = law.counts[0], law.counts[law.sizes.index(large)]
    waits = api == "async" or opening.managed
    lines = [
        *(_AWAITED.splitlines() if waits else []),
        *(_ASYNC_API.splitlines() if api == "async" else []),
        *COUNTERS[breach.witness].splitlines(),
        *_source(Chain),
        *_source(GrowingStore),
        *_source(question.store),
        *_source(question.ask),
        "def cost(saver, size):",
        f"    store = {question.store.__name__}(saver)",
        "    store.grow(size)",
        f"    {question.ask.__name__}(store, size)",
        "    store.beside.write()",
        f"    return counted(lambda: {question.ask.__name__}(store, size))",
        "def measured(size):",
        *indented(opening.in_folder(_asked(opening, api))),
        f"few, many = measured({law.sizes[0]}), measured({large})",
        f'told = f"{{few:,}} at {law.sizes[0]:,}, {{many:,}} at {large:,}"',
        f'print("{WITNESSES[breach.witness].unit}:", told)',
        f"if many > few + {(most - fewest) // 2}:",
        f"    {complaint(f'about as many at {large:,} as at {law.sizes[0]:,}', '{told}')}",
    ]
    return whole_script(promise_of(question.contract), name, opening, lines, _IMPORTS)


def _large(breach: Breach) -> int:
    """The first size at which there is growth that cannot be mistaken, else the last."""
    law = breach.law
    slack = max(2 * WITNESSES[breach.witness].slack, law.counts[0])
    plain = (
        size
        for size, count in zip(law.sizes, law.counts, strict=True)
        if count - law.counts[0] > slack
    )
    return next(plain, law.sizes[-1])


def _asked(opening: Opening, api: str) -> list[str]:
    saver = "Awaited(saver)" if api == "async" else "saver"
    if not opening.managed:
        return opening.opened([f"return cost({saver}, size)"])
    return [
        f"manager = {opening.expression}",
        "saver = run(manager.__aenter__())",
        "try:",
        f"    return cost({saver}, size)",
        "finally:",
        "    run(manager.__aexit__(None, None, None))",
    ]


def _source(thing: Callable[..., object]) -> list[str]:
    """The source of a class or function without annotations and docstrings."""
    tree = _Bare().visit(ast.parse(inspect.getsource(thing)))
    return ast.unparse(tree).splitlines()


class _Bare(ast.NodeTransformer):
    """Leaves out what a script does without."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
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


def _without_docstring(node: ast.FunctionDef | ast.ClassDef) -> list[ast.stmt]:
    return node.body[1:] if ast.get_docstring(node) is not None else node.body
