"""Rules and invariants that an author adds to a machine."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar, TypeVar

from saverproof.machines.draws import Draw
from saverproof.machines.rules import marked
from saverproof.model.store import Model
from saverproof.programs.theme import Theme
from saverproof.scripts.own_source import OwnSources, own_source
from saverproof.steps.definitions import OwnStep

_ADDRESS = ("thread", "namespace", "number")
_PLACES = (*_ADDRESS, "task")
_OWN, _INVARIANT = "saverproof_own", "saverproof_invariant"
Function = TypeVar("Function", bound=Callable[..., Any])


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
        fields = self._fields
        for name, draw in self.draws.items():
            value = draw.choose(model, choose, theme)
            if value is None:
                return None
            if name in fields:
                values = value if len(draw.fields) > 1 else (value,)
                places |= dict(zip(draw.fields, values, strict=True))
            else:
                arguments[name] = list(value) if isinstance(value, tuple) else value
        return OwnStep(self.name, self.contract, **places, arguments=arguments or None)

    @property
    def _fields(self) -> dict[str, tuple[str, ...]]:
        """The arguments that the step's own fields hold; a second of the same sort is given by
        value.
        """
        held: dict[str, tuple[str, ...]] = {}
        for name, draw in self.draws.items():
            if draw.fields and not {*draw.fields} & {f for fields in held.values() for f in fields}:
                held[name] = draw.fields
        return held

    def values(self, step: OwnStep) -> dict[str, Any]:
        """The arguments of the rule's body, as a step has them."""
        found = {name: (step.arguments or {}).get(name) for name in self.draws}
        for name, fields in self._fields.items():
            held = tuple(getattr(step, field) for field in fields)
            found[name] = held if len(held) > 1 else held[0]
        return {n: tuple(v) if isinstance(v, list) else v for n, v in found.items()}

    def objection(self, step: OwnStep, model: Model) -> str | None:
        """Why a step may not be taken now, or None if it may."""
        values = self.values(step)
        drawn = {field for fields in self._fields.values() for field in fields}
        if any(getattr(step, field) is not None for field in _PLACES if field not in drawn):
            return "the rule draws no such place"
        if (step.arguments or {}).keys() - (values.keys() - self._fields.keys()):
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
        TypeError: an argument is drawn from something else.
    """
    for name, draw in draws.items():
        if not isinstance(draw, Draw):
            raise TypeError(
                f"rule: {name} is {draw!r:.80}, expected a draw of saverproof, such as "
                "integers(1, 4): the random driver cannot draw from strategies of Hypothesis"
            )

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
        for name, body, (draws, weight) in marked(machine, _OWN)
    }


def own_invariants(machine: type) -> tuple[OwnInvariant, ...]:
    """The invariants that authors added to a class or to those it is derived from."""
    return tuple(
        OwnInvariant(name, body, _id(machine, name), _statement(body, name))
        for name, body, _ in marked(machine, _INVARIANT)
    )


def _id(machine: type, name: str) -> str:
    return f"{machine.__name__.lower()}/{name.replace('_', '-')}"


def _statement(body: Callable[..., Any], name: str) -> str:
    first, *_ = (inspect.getdoc(body) or name.replace("_", " ")).split("\n\n")
    return " ".join(first.split())


class OwnAdditions:
    """What an author has added to a class of machines, and how it is taken."""

    own_rules: ClassVar[Mapping[str, OwnRule]] = {}
    own_invariants: ClassVar[tuple[OwnInvariant, ...]] = ()

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        cls.own_rules, cls.own_invariants = own_rules(cls), own_invariants(cls)

    @property
    def model(self) -> Model:
        """What a right saver would hold now."""
        raise NotImplementedError

    def objection(self, step: OwnStep) -> str | None:
        """Why a step of the author's may not be taken now, or None if it may."""
        known = self.own_rules.get(step.rule)
        return "there is no such rule" if known is None else known.objection(step, self.model)

    def perform(self, step: OwnStep) -> object:
        """Do what the rule of a step does; raises what it raises."""
        known = self.own_rules[step.rule]
        return known.body(self, **known.values(step))

    def invariants_of_author(self) -> Iterable[tuple[str, Callable[[], object]]]:
        """The author's invariants: the id of each, and a look that raises if it is broken."""
        return [(each.contract, each.body.__get__(self)) for each in self.own_invariants]


def own_sources(machine: type[OwnAdditions]) -> OwnSources:
    """What scripts need of the author's rules and invariants."""
    added: list[OwnRule | OwnInvariant] = [*machine.own_rules.values(), *machine.own_invariants]
    functions = {each.contract: own_source(each.body) for each in added}
    return OwnSources(
        {contract: source for contract, source in functions.items() if source is not None},
        {each.contract: each.statement for each in added},
    )


def with_own(theme: Theme, added: Iterable[OwnRule]) -> Theme:
    """The theme with the rules of an author in place of those of a class it is derived from."""
    if theme.script is not None:
        return theme
    weights = {maker: w for maker, w in theme.weights.items() if not isinstance(maker, OwnRule)}
    return replace(theme, weights={**weights, **{own: own.weight for own in added}})
