"""Rules of machines: those that make a step of the kit, and those that an author adds."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol, TypeVar

import hypothesis.strategies as st
from hypothesis.stateful import precondition
from hypothesis.stateful import rule as hypothesis_rule

from saverproof.machines.draws import Draw
from saverproof.model.store import Model
from saverproof.programs.theme import Maker, Theme
from saverproof.steps.definitions import OwnStep

CHOICES = st.randoms(use_true_random=True, note_method_calls=False)
"""What rules draw under Hypothesis: its choices, through the interface of ``random.Random``."""

_ADDRESS = ("thread", "namespace", "number")
_PLACES = (*_ADDRESS, "task")
_MAKER, _OWN, _INVARIANT = "saverproof_maker", "saverproof_own", "saverproof_invariant"
Function = TypeVar("Function", bound=Callable[..., Any])


class MakesSteps(Protocol):
    """A machine that takes the steps of makers."""

    def make(self, maker: Maker, choose: Random) -> None:
        """Take a step that the maker makes."""
        ...

    def asks(self, maker: Maker) -> bool:
        """Whether the programs that the machine makes now have steps of the maker."""
        ...


def step_rule(maker: Maker) -> Callable[..., None]:
    """A rule that asks a maker for a step and takes it; bind it to a class attribute.

    How often it comes is for the machine's themes to say.
    """

    def make(self: MakesSteps, choose: Random) -> None:
        self.make(maker, choose)

    make.__name__ = getattr(maker, "__name__", "make")
    make.__doc__ = maker.__doc__
    setattr(make, _MAKER, maker)
    return make


def install(machine: type, themes: Iterable[Theme]) -> None:
    """Give a class a rule of Hypothesis for each maker that its themes ask, as often as they do.

    Hypothesis takes all rules to be equally likely, so that one of more weight is there more often.
    """
    names: dict[Maker, str] = {maker: name for name, maker in kit_rules(machine).items()}
    shares: dict[Maker, int] = {}
    for theme in themes:
        most = max(theme.weights.values(), default=1)
        for maker, weight in theme.weights.items():
            share = max(round(_MOST_ALIKE * weight / most), 1)
            shares[maker] = max(shares.get(maker, 0), share)
    for inherited in [name for name in dir(machine) if name.startswith(_PREFIX)]:
        setattr(machine, inherited, None)
    for maker, share in shares.items():
        name = maker.name if isinstance(maker, OwnRule) else names.get(maker, maker.__name__)
        for number in range(share):
            # Hypothesis switches some names off in each program: not all of a rule's at once.
            alias = f"{name}_{number}" if number else name
            setattr(machine, f"{_PREFIX}{alias}", _ruled(alias, maker))


_MOST_ALIKE = 3
_PREFIX = "_ruled_"


def _ruled(name: str, maker: Maker) -> Callable[..., None]:
    def make(self: MakesSteps, choose: Random) -> None:
        __tracebackhide__ = True
        self.make(maker, choose)

    def asked(self: MakesSteps) -> bool:
        return self.asks(maker)

    make.__name__ = name
    make.__doc__ = maker.__doc__
    ruled: Callable[..., None] = precondition(asked)(hypothesis_rule(choose=CHOICES)(make))
    return ruled


@dataclass(frozen=True, slots=True, eq=False)
class OwnRule:
    """A rule that an author added: a maker of its steps, and what they do.

    ``contract`` is the id of what it demands, ``statement`` the same in words.
    """

    name: str
    body: Callable[..., Any]
    draws: Mapping[str, Draw]
    weight: int
    contract: str = ""
    statement: str = ""

    def __call__(self, model: Model, choose: Random, theme: Theme) -> OwnStep | None:
        """A step of the rule, unless there is nothing to draw for one of its arguments."""
        places: dict[str, Any] = {}
        arguments: dict[str, Any] = {}
        for name, draw in self.draws.items():
            value = draw.choose(model, choose, theme)
            if value is None:
                return None
            if draw.fields:
                values = value if len(draw.fields) > 1 else (value,)
                places |= dict(zip(draw.fields, values, strict=True))
            else:
                arguments[name] = value
        return OwnStep(self.name, self.contract, **places, arguments=arguments or None)

    def values(self, step: OwnStep) -> dict[str, Any]:
        """The arguments of the rule's body, as a step has them."""
        found: dict[str, Any] = {}
        for name, draw in self.draws.items():
            held = tuple(getattr(step, field) for field in draw.fields)
            if not held:
                found[name] = (step.arguments or {}).get(name)
            else:
                found[name] = held if len(held) > 1 else held[0]
        return found

    def objection(self, step: OwnStep, model: Model) -> str | None:
        """Why a step may not be taken now, or None if it may."""
        values = self.values(step)
        drawn = {field for draw in self.draws.values() for field in draw.fields}
        if any(getattr(step, field) is not None for field in _PLACES if field not in drawn):
            return "the rule draws no such place"
        if (step.arguments or {}).keys() - values.keys():
            return "the rule has no such argument"
        for name, draw in self.draws.items():
            if values[name] is None or not draw.legal(model, values[name]):
                return f"{name} is not what the rule draws"
        return None


@dataclass(frozen=True, slots=True)
class OwnInvariant:
    """What an author demands after every step, beside the contracts."""

    name: str
    body: Callable[..., Any]
    contract: str
    statement: str


def rule(*, weight: int = 4, **draws: Draw) -> Callable[[Function], Function]:
    """Make a method of a machine a rule of it, under the random driver and Hypothesis alike.

    The method acts on ``self.saver``. If it raises, or if anything that the saver shows differs
    afterwards from ``self.model``, the rule is broken; its docstring says what it demands.

    Args:
        weight: how often it comes, where a put has 12 and a read 6.
        draws: what each argument of the method is drawn from, such as ``integers(1, 4)``.

    Raises:
        TypeError: an argument is drawn from something else, or two name the same place.
    """
    for name, draw in draws.items():
        if not isinstance(draw, Draw):
            raise TypeError(
                f"rule: {name} is {draw!r:.80}, expected a draw of saverproof, such as "
                "integers(1, 4): the random driver cannot draw from strategies of Hypothesis"
            )
    fields = [field for draw in draws.values() for field in draw.fields]
    if len(fields) != len(set(fields)):
        raise TypeError("rule: two arguments name the same place, expected one at most")

    def mark(function: Function) -> Function:
        setattr(function, _OWN, (draws, weight))
        return function

    return mark


def invariant(function: Function) -> Function:
    """Make a method of a machine an invariant: it must not raise, after whatever step.

    It looks at ``self.saver`` and ``self.model`` and changes nothing; its docstring says what it
    demands.
    """
    setattr(function, _INVARIANT, True)
    return function


def own_rules(machine: type) -> dict[str, OwnRule]:
    """The rules that authors added to a class or to those it is derived from."""
    return {
        name: OwnRule(name, body, draws, weight, _id(machine, name), _statement(body, name))
        for name, body, (draws, weight) in _marked(machine, _OWN)
    }


def own_invariants(machine: type) -> tuple[OwnInvariant, ...]:
    """The invariants that authors added to a class or to those it is derived from."""
    return tuple(
        OwnInvariant(name, body, _id(machine, name), _statement(body, name))
        for name, body, _ in _marked(machine, _INVARIANT)
    )


def kit_rules(machine: type) -> dict[str, Maker]:
    """The rules of a class that make steps of the kit, by the names of its attributes."""
    return {name: maker for name, _, maker in _marked(machine, _MAKER)}


def _marked(machine: type, mark: str) -> Iterator[tuple[str, Any, Any]]:
    for name in dir(machine):
        function = inspect.getattr_static(machine, name)
        if hasattr(function, mark) and not name.startswith("_"):
            yield name, function, getattr(function, mark)


def _id(machine: type, name: str) -> str:
    return f"{machine.__name__.lower()}/{name.replace('_', '-')}"


def _statement(body: Callable[..., Any], name: str) -> str:
    first, *_ = (inspect.getdoc(body) or name.replace("_", " ")).split("\n\n")
    return " ".join(first.split())
