"""Writes standalone scripts that count the cost of an answer in a small store and in a large
one.
"""

from __future__ import annotations

from collections.abc import Sequence

from saverproof.families.chain import Chain
from saverproof.families.cost.judging import BrokenLaw
from saverproof.families.cost.questions import Question
from saverproof.families.cost.script_counters import COUNTERS, KEPT_IN_MEMORY, loading_drivers
from saverproof.families.cost.stores import GrowingStore, doom
from saverproof.families.cost.witnesses import IN_SERVER, WITNESSES
from saverproof.savers.targets.target import Target
from saverproof.scripts.formatting import indented
from saverproof.scripts.opening import Opening, opening_of
from saverproof.scripts.plain_calls import calling, source_of, with_saver
from saverproof.scripts.script import complaint, promise_of
from saverproof.scripts.script import script as whole_script
from saverproof.scripts.verification import first_to_complain

_TRIED = 3
"""How many breaches of one contract are tried for a script: each lets two stores grow."""
_REOPENED = """
class Reopened:
    def __getattr__(self, name):
        return getattr(self.saver, name)
"""
"""A single name for whichever saver is open: the script closes and opens the saver, since only then
a server tells its work.
"""
_IMPORTS = (
    "import gc",
    "import itertools",
    "import random",
    "import struct",
    "import tracemalloc",
    "from saverproof_faults import Injector",
)


def reproducer(target: Target, broken: Sequence[BrokenLaw], api: str) -> str:
    """Return the source of a script that counts the same at two sizes; "" if no script shows the
    growth.
    """
    opening = opening_of(target)
    if opening is None:
        return ""
    # One for each thing that is counted, the worst first: some cannot be counted by plain means.
    tried = {breach.witness: breach for breach in reversed(broken) if _can_be_counted(breach)}
    texts = [
        script(breach, api, opening, target)
        for breach in sorted(tried.values(), key=lambda breach: breach.rank)[:_TRIED]
    ]
    return first_to_complain(texts, broken[0].question.contract)


def script(breach: BrokenLaw, api: str, opening: Opening, target: Target) -> str:
    """Return the source of a script."""
    question = breach.question
    large, growth = _large(breach)
    lines = [
        *calling(opening, api),
        *(loading_drivers() if breach.witness == "calls" else []),
        *_counter(breach, target).splitlines(),
        *source_of(Chain),
        *(line for one in _stores(question.store) for line in source_of(one)),
        *_definitions(question),
        "def measured(size):",
        *indented(opening.in_folder(_measured(breach, opening, api, target))),
        f"few, many = measured({breach.sizes[0]}), measured({large})",
        f'told = f"{{few:,}} at {breach.sizes[0]:,}, {{many:,}} at {large:,}"',
        f'print("{WITNESSES[breach.witness].unit.rstrip(",")}:", told)',
        f"if many > few + {max(growth // 2, WITNESSES[breach.witness].slack)}:",
        f"    {complaint(f'about as many at {large:,} as at {breach.sizes[0]:,}', '{told}')}",
    ]
    return whole_script(promise_of(question.contract), target.name, opening, lines, _IMPORTS)


def _counter(breach: BrokenLaw, target: Target) -> str:
    """Return the definition of what counts."""
    if breach.question.counts_what_is_kept and not target.durable:
        return KEPT_IN_MEMORY
    return COUNTERS.get(breach.witness, _REOPENED)


def _large(breach: BrokenLaw) -> tuple[int, int]:
    """Return the first size at which the growth is unmistakable, with that growth. It may be a
    larger size than the store was grown to: a saver that is seen to break a law is not asked
    further.
    """
    law, sizes = breach.law, breach.sizes
    unmistakable = max(2 * WITNESSES[breach.witness].slack, law.counts[0])
    grown = [(size, count - law.counts[0]) for size, count in zip(sizes, law.counts, strict=True)]
    last, growth = grown[-1]
    if law.sizes == sizes:
        grown += [
            (factor * last, growth + int(law.per_item * (factor - 1) * last)) for factor in _FURTHER
        ]
    return next((one for one in grown if one[1] > unmistakable), (last, growth))


_FURTHER = (4, 16)
"""How many times larger than its last size a store is made for a script: each takes as many times
longer.
"""


def _stores(store: type[GrowingStore]) -> list[type]:
    """Return the classes that make up a store, the plainest first."""
    return [one for one in reversed(store.__mro__) if issubclass(one, GrowingStore)]


def _definitions(question: Question) -> list[str]:
    """Return the definitions that the body of ``measured`` uses."""
    if question.counts_what_is_kept:
        return ["def cost(saver, size):", f"    {question.store.__name__}(saver).grow(size)"]
    return [*source_of(question.ask), *(source_of(doom) if question.removes else [])]


def _measured(breach: BrokenLaw, opening: Opening, api: str, target: Target) -> list[str]:
    """Return the body of ``measured``."""
    question = breach.question
    if question.counts_what_is_kept and not target.durable:
        return with_saver(
            opening,
            api,
            lambda saver: ["before = held()", f"cost({saver}, size)", "return held() - before"],
        )
    if question.counts_what_is_kept:
        if question.is_of_open_files:
            return with_saver(
                opening, api, lambda saver: [f"cost({saver}, size)", "return kept(path)"]
            )
        keeping = with_saver(opening, api, lambda saver: [f"cost({saver}, size)"])
        return [*keeping, f"return {_kept(opening)}"]
    if breach.witness in IN_SERVER:
        return _counted_by_server(breach, opening, api)
    return with_saver(opening, api, lambda saver: _counted_here(question, saver))


def _kept(opening: Opening) -> str:
    """Return an expression for the bytes that are kept in files, and in the server if there is
    one.
    """
    if not opening.server:
        return "kept(path)"
    return f"kept(path) + {opening.server}.bytes_kept(dsn_for({opening.server}, path))"


def _counted_here(question: Question, saver: str) -> list[str]:
    ask = f"{question.ask.__name__}(store, size)"
    doomed = ["doom(store)"] if question.removes else []
    return [
        f"store = {question.store.__name__}({saver})",
        "store.grow(size)",
        *doomed,
        ask,
        "amounts = []",
        "for _ in range(2):  # a store does now and then what is due for many calls",
        *indented([*doomed, "store.beside.write()", f"amounts.append(counted(lambda: {ask}))"]),
        "return min(amounts)",
    ]


def _counted_by_server(breach: BrokenLaw, opening: Opening, api: str) -> list[str]:
    question = breach.question

    def growing(saver: str) -> list[str]:
        return [
            f"current.saver = {saver}",
            f"store = {question.store.__name__}(current)",
            "store.grow(size)",
            *(["doom(store)"] if question.removes else []),
        ]

    def asking(saver: str) -> list[str]:
        return [f"current.saver = {saver}", f"{question.ask.__name__}(store, size)"]

    return [
        "current = Reopened()",
        *with_saver(opening, api, growing),
        f"with {opening.server}.work(dsn_for({opening.server}, path)) as work:",
        "    work.begin()",
        *indented(with_saver(opening, api, asking)),
        f'    return work.done()["{breach.witness}"]',
    ]


def _can_be_counted(breach: BrokenLaw) -> bool:
    return breach.witness in COUNTERS or breach.witness in IN_SERVER
