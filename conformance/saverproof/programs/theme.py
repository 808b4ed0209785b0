"""What the programs of one kind are made of: names, values, and how often each step comes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, TypeAlias

from saverproof.model.store import Model
from saverproof.steps.definitions import Step
from saverproof.values import Value

Maker: TypeAlias = "Callable[[Model, Random, Theme], Step | None]"
"""Makes a step that suits the model's state, or None if this is not the moment for it."""


@dataclass(frozen=True, slots=True)
class NameSet:
    """Threads and namespaces that a saver may take for one another."""

    threads: tuple[str, ...]
    namespaces: tuple[str, ...] = ("", "child")


@dataclass(frozen=True, slots=True)
class Theme:
    """A kind of program.

    ``weights`` says how often each maker is asked; ``groups`` names the groups of values that
    channels and writes hold; ``values`` are those of them that the saver's serializer keeps,
    filled in before programs are made. ``script`` gives the steps of a fixed scene instead.
    ``heavy`` programs take seconds; ``whole_store`` ones need a workspace of their own.
    ``missing_parents`` lets puts name parents that are not there. Where there are ``name_sets``,
    each program takes the threads and namespaces of one of them: few names that a saver may
    confuse, so that they meet.
    """

    name: str
    weights: Mapping[Maker, int] = field(default_factory=dict)
    threads: tuple[str, ...] = ("a", "b")
    namespaces: tuple[str, ...] = ("", "child")
    channels: tuple[str, ...] = ("messages", "count", "notes")
    nodes: tuple[str, ...] = ("agent",)
    tasks: tuple[int, ...] = (0, 1, 2, 3)
    paths: tuple[str, ...] = ("", "~__pregel_pull, agent", "~__pregel_pull, tools")
    groups: tuple[str, ...] = ("plain",)
    values: tuple[Value, ...] = ()
    runs: tuple[str, ...] = ()
    metadata: tuple[Mapping[str, Any], ...] = ({},)
    filters: tuple[Mapping[str, Any], ...] = ({"source": "loop"}, {"step": 2})
    length: int = 60
    whole_store: bool = False
    watch_inputs: bool = False
    missing_parents: bool = False
    script: Callable[[Random], tuple[Step, ...]] | None = None
    needs: frozenset[str] = frozenset()
    heavy: bool = False
    name_sets: tuple[NameSet, ...] = ()

    def with_name_set(self, number: int) -> Theme:
        """The theme with one of its name sets: they take turns."""
        if not self.name_sets:
            return self
        chosen = self.name_sets[number % len(self.name_sets)]
        return replace(self, threads=chosen.threads, namespaces=chosen.namespaces)


def draw(choose: Random, theme: Theme) -> Value:
    """A value of the theme; of a kind with distinct values, one unlikely to have come before."""
    if not theme.values:
        return Value("integer", choose.randrange(100_000))
    value = choose.choice(theme.values)
    if value.kind in ("integer", "text", "list", "dict"):
        return Value(value.kind, choose.randrange(100_000))
    return value
