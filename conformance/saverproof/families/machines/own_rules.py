"""Rules and invariants that an author adds to a machine."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar, TypeVar

from saverproof.families.machines.draws import Draw
from saverproof.families.machines.rules import marked
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import OwnStep
from saverproof.programs.theme import Theme
from saverproof.scripts.own_source import OwnSources, own_source

_ADDRESS = ("thread", "namespace", "number")
_PLACES = (*_ADDRESS, "task")
_OWN, _INVARIANT = "saverproof_own", "saverproof_invariant"
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, eq=False)
class OwnRule:
    """A rule that an author added: it makes steps and carries them out.

    ``contract`` is the id under which it is reported, ``statement`` says in words what it demands.
    """

    name: str
    body: Callable[..., Any]
    draws: Mapping[str, Draw]
    weight: int
    contract: str = ""
    statement: str = ""

    def __call__(self, model: Model, choose: Random, theme: Theme) -> OwnStep | None:
        """Return a step of the rule, or None if there is nothing to draw for an argument."""
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
        """For each argument, the step's fields that hold it.

        Of two arguments for the same field, the second is held as a value.
        """
        held: dict[str, tuple[str, ...]] = {}
        for name, draw in self.draws.items():
            if draw.fields and not {*draw.fields} & {f for fields in held.values() for f in fields}:
                held[name] = draw.fields
        return held

    def values(self, step: OwnStep) -> dict[str, Any]:
        """Return the arguments for the rule's method, taken from a step."""
        found = {name: (step.arguments or {}).get(name) for name in self.draws}
        for name, fields in self._fields.items():
            held = tuple(getattr(step, field) for field in fields)
            found[name] = held if len(held) > 1 else held[0]
        return {n: tuple(v) if isinstance(v, list) else v for n, v in found.items()}

    def objection(self, step: OwnStep, model: Model) -> str | None:
        """Return why a step may not be taken now, or None if it may."""
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
    """A condition of the author that must hold after every step, beside the contracts."""

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
    """Make a method of a machine an invariant, which must not raise after any step.

    The method looks at ``self.saver`` and ``self.model`` and changes nothing. Its docstring says
    what it demands.
    """
    setattr(function, _INVARIANT, True)
    return function


def own_rules(machine: type) -> dict[str, OwnRule]:
    """Return the rules that authors added to a class or its base classes, by name."""
    return {
        name: OwnRule(name, body, draws, weight, _id(machine, name), _statement(body, name))
        for name, body, (draws, weight) in marked(machine, _OWN)
    }


def own_invariants(machine: type) -> tuple[OwnInvariant, ...]:
    """Return the invariants that authors added to a class or its base classes."""
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
    """The rules and invariants that an author added to a class of machines."""

    own_rules: ClassVar[Mapping[str, OwnRule]] = {}
    own_invariants: ClassVar[tuple[OwnInvariant, ...]] = ()

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        cls.own_rules, cls.own_invariants = own_rules(cls), own_invariants(cls)

    @property
    def model(self) -> Model:
        """The model: what a right saver would hold now."""
        raise NotImplementedError

    def objection(self, step: OwnStep) -> str | None:
        """Return why a step of an author's rule may not be taken now, or None if it may."""
        known = self.own_rules.get(step.rule)
        return "there is no such rule" if known is None else known.objection(step, self.model)

    def perform(self, step: OwnStep) -> object:
        """Carry out a step of an author's rule; let through what the rule raises."""
        known = self.own_rules[step.rule]
        return known.body(self, **known.values(step))

    def invariants_of_author(self) -> Iterable[tuple[str, Callable[[], object]]]:
        """Return the author's invariants: contract id, and a check that raises if it is broken."""
        return [(each.contract, each.body.__get__(self)) for each in self.own_invariants]


def own_sources(machine: type[OwnAdditions]) -> OwnSources:
    """Return the sources of the author's rules and invariants, for scripts."""
    added: list[OwnRule | OwnInvariant] = [*machine.own_rules.values(), *machine.own_invariants]
    functions = {each.contract: own_source(each.body) for each in added}
    return OwnSources(
        {contract: source for contract, source in functions.items() if source is not None},
        {each.contract: each.statement for each in added},
    )


def with_own(theme: Theme, added: Iterable[OwnRule]) -> Theme:
    """Return a theme with the author's rules; they replace rules of base classes."""
    if theme.script is not None:
        return theme
    weights = {maker: w for maker, w in theme.weights.items() if not isinstance(maker, OwnRule)}
    return replace(theme, weights={**weights, **{own: own.weight for own in added}})
