"""What a kind of value is, and how a value of it is made from source text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any

Seed = int | str


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of value of the catalogue.

    Attributes:
        name: key in the catalogue.
        group: what the kind is drawn with ("plain", "scalar", "container", ...).
        make: a fresh object for a seed; equal seeds give equal objects.
        source: a Python expression for the same object.
        imports: import lines that the expression needs.
        forms: how many forms the values have; the seeds 0, 1, ... show each form once.
        distinct: whether any two seeds of at least 0 give different values.
    """

    name: str
    group: str
    make: Callable[[Seed], Any]
    source: Callable[[Seed], str]
    imports: frozenset[str] = frozenset()
    forms: int = 3
    distinct: bool = True


def chosen(group: str, name: str, *expressions: str, imports: tuple[str, ...] = ()) -> Kind:
    """A kind whose seed chooses one of the expressions.

    In an expression `<n>` stands for the seed; if all expressions have it, no two seeds of at least
    0 give equal values. Objects are made by evaluating the very text that goes into a reproducer,
    so that the two cannot differ; the text comes from this package alone, never from a file.
    """

    def source(seed: Seed) -> str:
        if not isinstance(seed, int):
            raise TypeError(f"value of kind {name!r}: seed {seed!r}, expected an integer")
        return expressions[seed % len(expressions)].replace("<n>", str(seed))

    @lru_cache(maxsize=1024)
    def compiled(seed: Seed) -> CodeType:
        return compile(source(seed), f"<value {name}>", "eval")

    @lru_cache(maxsize=1)
    def namespace() -> dict[str, Any]:
        names: dict[str, Any] = {}
        exec("\n".join(imports), names)
        return names

    def make(seed: Seed) -> Any:
        return eval(compiled(seed), namespace())

    distinct = all("<n>" in expression for expression in expressions)
    return Kind(name, group, make, source, frozenset(imports), len(expressions), distinct)
