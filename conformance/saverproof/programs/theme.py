"""Themes: the names, values and weights of makers with which programs of one kind are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, TypeAlias

from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import Step
from saverproof.programs.values import Value

Maker: TypeAlias = "Callable[[Model, Random, Theme], Step | None]"
"""A function that makes a step for the model's state, or returns None if it has none now."""


@dataclass(frozen=True, slots=True)
class NameSet:
    """Threads and namespaces that a saver may take for one another."""

    threads: tuple[str, ...]
    namespaces: tuple[str, ...] = ("", "child")


@dataclass(frozen=True, slots=True)
class Theme:
    """A kind of program.

    ``weights`` has how often each maker is used. ``groups`` are the groups of values for channels
    and writes; ``values`` are those of them that the saver's serializer keeps, filled in before
    programs are made. ``script`` gives fixed steps instead. ``heavy`` programs take seconds.
    ``whole_store`` programs need a workspace of their own. ``missing_parents`` lets puts name
    parents that are not stored. If there are ``name_sets``, each program uses the threads and
    namespaces of one set: few names, which a saver may confuse, so that they meet.
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
        """Return the theme with one of its name sets; counting numbers go through all sets in
        turn.
        """
        if not self.name_sets:
            return self
        chosen = self.name_sets[number % len(self.name_sets)]
        return replace(self, threads=chosen.threads, namespaces=chosen.namespaces)


def draw(choose: Random, theme: Theme) -> Value:
    """Return a random value of the theme. If its kind has many values, it is probably a new one."""
    if not theme.values:
        return Value("integer", choose.randrange(100_000))
    value = choose.choice(theme.values)
    if value.kind in ("integer", "text", "list", "dict"):
        return Value(value.kind, choose.randrange(100_000))
    return value
