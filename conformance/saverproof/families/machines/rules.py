"""Rules of machines. Each rule makes one kind of step, for the random driver and for Hypothesis."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from random import Random
from typing import Any, Protocol

from hypothesis.stateful import precondition
from hypothesis.stateful import rule as hypothesis_rule

from saverproof.families.machines.choices import SEEDS, SeededChoices
from saverproof.programs.theme import Maker, Theme

_MAKER = "saverproof_maker"


class MakesSteps(Protocol):
    """A machine that takes the steps of makers."""

    choices: SeededChoices
    theme: Theme
    """The theme of the current program."""

    def make(self, maker: Maker, choose: Random) -> None:
        """Take a step that the maker makes."""
        ...


def step_rule(maker: Maker) -> Callable[..., None]:
    """Return a rule that takes a step of ``maker``; assign it to a class attribute.

    The machine's themes set how often it is used.
    """

    def make(self: MakesSteps, choose: Random) -> None:
        self.make(maker, choose)

    make.__name__ = getattr(maker, "__name__", "make")
    make.__doc__ = maker.__doc__
    setattr(make, _MAKER, maker)
    return make


def install(machine: type, themes: Iterable[Theme], own: Mapping[str, Maker]) -> None:
    """Give a class rules of Hypothesis for the makers of its themes. Makers with more weight get
    more copies.

    ``own`` are the author's rules by name. Copies stand for weights because Hypothesis chooses all
    rules equally often.
    """
    names: dict[Maker, str] = {
        maker: name for name, maker in [*kit_rules(machine).items(), *own.items()]
    }
    copies: dict[Maker, int] = {}
    for theme in themes:
        for maker in theme.weights:
            copies[maker] = max(copies.get(maker, 0), _share(theme, maker))
    for inherited in [name for name in dir(machine) if name.startswith(_PREFIX)]:
        setattr(machine, inherited, None)
    for maker, most in copies.items():
        name = names.get(maker, "") or str(getattr(maker, "__name__", "make"))
        for number in range(most):
            # Hypothesis switches some rules off by name in each program: not all copies at once.
            alias = f"{name}_{number}" if number else name
            setattr(machine, f"{_PREFIX}{alias}", _ruled(alias, maker, number))


_MOST_COPIES = 12
"""How many copies the rule with the greatest weight gets. It is the usual weight of a put: themes
with usual weights need no scaling.
"""
_PREFIX = "_ruled_"


def _share(theme: Theme, maker: Maker) -> int:
    """Return how many copies of a maker's rule are enabled in the programs of a theme."""
    weight = theme.weights.get(maker, 0)
    most = max(_MOST_COPIES, *theme.weights.values())
    return max(round(_MOST_COPIES * weight / most), 1) if weight else 0


def _ruled(name: str, maker: Maker, number: int) -> Callable[..., None]:
    def make(self: MakesSteps, seed: int) -> None:
        __tracebackhide__ = True
        self.make(maker, self.choices.of(seed))

    def asked(self: MakesSteps) -> bool:
        return number < _share(self.theme, maker)

    make.__name__ = name
    make.__doc__ = maker.__doc__
    ruled: Callable[..., None] = precondition(asked)(hypothesis_rule(seed=SEEDS)(make))
    return ruled


def kit_rules(machine: type) -> dict[str, Maker]:
    """Return the makers of the kit's rules in a class, by the names of its attributes."""
    return {name: maker for name, _, maker in marked(machine, _MAKER)}


def marked(machine: type, mark: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield the methods of a class that carry a mark: name, function and value of the mark."""
    for name in dir(machine):
        function = inspect.getattr_static(machine, name)
        if hasattr(function, mark) and not name.startswith("_"):
            yield name, function, getattr(function, mark)
