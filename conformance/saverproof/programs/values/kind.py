"""Kinds of values, which are made from source text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any

Seed = int | str


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of value in the catalogue.

    Attributes:
        name: its key in the catalogue.
        group: the group by which it is drawn ("plain", "scalar", "container", ...).
        make: makes a new object for a seed; equal seeds give equal objects.
        source: gives a Python expression for the same object.
        imports: the import lines that the expression needs.
        forms: the number of forms; the seeds 0, 1, ... give each form once.
        distinct: whether any two seeds from 0 on give different values.
    """

    name: str
    group: str
    make: Callable[[Seed], Any]
    source: Callable[[Seed], str]
    imports: frozenset[str] = frozenset()
    forms: int = 3
    distinct: bool = True


def chosen(group: str, name: str, *expressions: str, imports: tuple[str, ...] = ()) -> Kind:
    """Return a kind whose seed chooses one of the expressions.

    In an expression `<n>` stands for the seed. If all expressions have it, any two seeds from 0 on
    give different values. Objects are made by evaluating the text that goes into a reproducer, so
    that the two cannot differ. The text comes only from this package, never from a file.
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
