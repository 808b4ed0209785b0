"""Hypothesis strategies for steps, built from the fields of the step classes."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

import saverproof.judging.scenes  # noqa: F401 - makes the rare kinds of step known
from saverproof.programs.steps.definitions import KINDS, Step
from saverproof.programs.values import CATALOGUE, Value

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
_VALUES = st.one_of(
    st.builds(Value, st.sampled_from(sorted(CATALOGUE)), st.integers(0, 50)),
    st.builds(Value, st.just("text"), st.text(max_size=8)),
)


def of_type(kind: Any) -> st.SearchStrategy[Any]:
    """Values of an annotated type, as the steps use them."""
    if kind is Value:
        return _VALUES
    if get_origin(kind) is tuple:
        first, *rest = get_args(kind)
        if rest == [Ellipsis]:
            return st.lists(of_type(first), max_size=3).map(tuple)
        return st.tuples(of_type(first), *map(of_type, rest))
    if get_origin(kind) in (Union, types.UnionType):
        return st.one_of([of_type(option) for option in get_args(kind)])
    if get_origin(kind) is Mapping:
        return st.dictionaries(st.text(max_size=5), _JSON, max_size=3)
    if is_dataclass(kind) and isinstance(kind, type):
        return of_fields(kind)
    plain = {str: st.text(max_size=8), int: st.integers(), type(None): st.none()}
    return plain[kind] if kind in plain else st.from_type(kind)


def of_fields(kind: type) -> st.SearchStrategy[Any]:
    """Instances of a dataclass."""
    hints = get_type_hints(kind)
    return st.builds(kind, **{field.name: of_type(hints[field.name]) for field in fields(kind)})


def steps() -> st.SearchStrategy[Step]:
    """Any step at all, legal or not."""
    return st.one_of([of_fields(kind) for kind in KINDS.values()])
