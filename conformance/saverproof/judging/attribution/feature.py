"""Features of programs: values, fields, metadata keys, and relations between steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from saverproof.contracts.tables import channels, identity, isolation
from saverproof.programs.model.metadata import merged
from saverproof.programs.steps.definitions import PLAIN, Extras, Program, Put, PutWrites, Step
from saverproof.programs.trait import Trait
from saverproof.programs.values import CATALOGUE, Value

NEVER_BEHIND_A_FEATURE = frozenset(
    {identity.INPUTS_UNTOUCHED.id, isolation.WORKSPACES.id, channels.VERSIONS_INCREASE.id}
)
"""Contracts whose breach is not blamed on a feature, unless the feature is limited to them by
``only_for``.
"""

Kind = type[Put] | type[PutWrites]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Feature(Trait):
    """A trait by which contracts are told apart. ``touches`` tells whether a step has it.

    ``evident`` is True if a single step can show the feature, so that judging the step is evidence.
    ``only_for`` limits it to breaches of these contracts. ``never_for`` are contracts that cover
    the feature themselves. ``facts`` limits it to differences of these kinds.

    A feature without a contract stands for a relation between two steps that is the subject of the
    breach's own contract. If the breach stays without the relation, that contract was blamed
    wrongly.
    """

    touches: Callable[[Step], bool]
    evident: bool = True
    only_for: frozenset[str] = frozenset()
    never_for: frozenset[str] = frozenset()
    facts: frozenset[str] = frozenset()
    parts: tuple[Feature, ...] = ()
    """Features that this one is made of, if they can be taken out one by one."""

    # Features are compared by identity: several have the same contract.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def may_be_behind(self, contract: str) -> bool:
        """Return whether to ask about the feature when this contract is broken."""
        if contract in self.never_for:
            return False
        if not self.only_for:
            return contract not in NEVER_BEHIND_A_FEATURE
        return contract in self.only_for


def _values(step: Step) -> list[Value]:
    if isinstance(step, Put):
        return [value for _, value in step.changes if value is not None]
    return [value for _, value in step.writes] if isinstance(step, PutWrites) else []


def values_of(
    contract: str,
    kind: Kind,
    wanted: Callable[[str], bool],
    *facts: str,
    never_for: frozenset[str] = frozenset(),
) -> Feature:
    """Return the feature of having values of certain groups; without it, texts replace them.

    Each kind of value is a part, since a saver may lose one kind and refuse another for other
    reasons.
    """
    names = frozenset(name for name, each in CATALOGUE.items() if wanted(each.group))
    whole = replace(_values_of_kinds(contract, kind, names, *facts), never_for=never_for)
    parts = tuple(
        replace(_values_of_kinds(contract, kind, frozenset({name}), *facts), never_for=never_for)
        for name in sorted(names)
    )
    return replace(whole, parts=parts)


def _values_of_kinds(contract: str, kind: Kind, names: frozenset[str], *facts: str) -> Feature:
    def touches(step: Step) -> bool:
        return isinstance(step, kind) and any(value.kind in names for value in _values(step))

    def plain(value: Value | None) -> Value | None:
        if value is None or value.kind not in names:
            return value
        return Value("text", f"{value.kind} {value.seed}")

    def change(step: Step) -> Step:
        if isinstance(step, Put) and kind is Put:
            return replace(step, changes=tuple((n, plain(v)) for n, v in step.changes))
        if isinstance(step, PutWrites) and kind is PutWrites:
            return replace(step, writes=tuple((n, plain(v) or v) for n, v in step.writes))
        return step

    return Feature(contract, _each(change), touches=touches, facts=frozenset(facts))


def _each(change: Callable[[Any], Step]) -> Callable[[Program], Program]:
    return lambda program: tuple(map(change, program))


def field_of(contract: str, name: str, plain: Any) -> Feature:
    """Return the feature of having a value other than ``plain`` in a field of a step."""

    def touches(step: Step) -> bool:
        return bool(getattr(step, name, plain) != plain)

    def change(step: Any) -> Step:
        changed: Step = replace(step, **{name: plain}) if touches(step) else step
        return changed

    return Feature(contract, _each(change), touches=touches)


def extras_of(contract: str, name: str) -> Feature:
    """Return the feature of having one field in the extras of a config."""

    def touches(step: Step) -> bool:
        return bool(getattr(getattr(step, "extras", PLAIN), name))

    def change(step: Any) -> Step:
        if not touches(step):
            return step  # type: ignore[no-any-return]
        extras: Extras = replace(step.extras, **{name: getattr(PLAIN, name)})
        changed: Step = replace(step, extras=PLAIN if extras == PLAIN else extras)
        if isinstance(changed, Put) and name != "loop":
            # The entry joins the metadata, so give it there: a saver may lose it there as well.
            joins = merged(
                changed.metadata or {}, replace(PLAIN, **{name: getattr(step.extras, name)})
            )
            changed = replace(changed, metadata={**joins, **(changed.metadata or {})})
        return changed

    return Feature(contract, _each(change), touches=touches)


def metadata_keys(
    contract: str,
    wanted: Callable[[str], bool],
    *never_for: str,
    only_for: frozenset[str] = frozenset(),
) -> Feature:
    """Return the feature of having certain metadata keys; without it, these keys are left out."""

    def touches(step: Step) -> bool:
        return isinstance(step, Put) and any(map(wanted, step.metadata or {}))

    def change(step: Step) -> Step:
        if not isinstance(step, Put) or not step.metadata:
            return step
        kept = {key: value for key, value in step.metadata.items() if not wanted(key)}
        return replace(step, metadata=kept)

    never = frozenset(never_for)
    return Feature(contract, _each(change), touches=touches, only_for=only_for, never_for=never)


def between(
    contract: str,
    touches: Callable[[Step], bool],
    without: Callable[[Program], Program],
    *only_for: str,
    facts: frozenset[str] = frozenset(),
) -> Feature:
    """Return a feature that lies in a relation between steps, so that no step alone shows it."""
    return Feature(
        contract, without, touches=touches, evident=False, only_for=frozenset(only_for), facts=facts
    )
