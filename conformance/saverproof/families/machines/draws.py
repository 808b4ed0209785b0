"""Draws: sources of values for an author's rule. The random driver and Hypothesis use them alike.

A draw chooses a value from the model, the driver's random choices and the theme's names. It must
have no side effects: a step keeps only the value, and only the value is shrunk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from saverproof.programs.makers.addresses import some_address
from saverproof.programs.model.store import Model
from saverproof.programs.theme import Theme


@dataclass(frozen=True, slots=True)
class Draw:
    """A source of values for one argument of an author's rule.

    ``choose`` gives a value, or None if there is none. ``legal`` tells whether a value may still be
    used after the program was shortened. ``fields`` are the fields of the step that hold the value;
    if there are none, the step holds it as an argument.
    """

    choose: Callable[[Model, Random, Theme], Any]
    legal: Callable[[Model, Any], bool]
    fields: tuple[str, ...] = ()


def integers(low: int, high: int) -> Draw:
    """Return a draw of integers from ``low`` to ``high``, both included; they shrink towards
    ``low``.
    """
    return Draw(
        lambda model, choose, theme: choose.randint(low, high),
        lambda model, value: type(value) is int and low <= value <= high,
    )


def sampled_from(options: Sequence[Any]) -> Draw:
    """Return a draw of one of these values, which must be storable as JSON."""
    known = tuple(options)
    return Draw(
        lambda model, choose, theme: choose.choice(known),
        lambda model, value: value in known,
    )


def booleans() -> Draw:
    """Return a draw of True or False."""
    return sampled_from((False, True))


threads = Draw(
    lambda model, choose, theme: choose.choice(theme.threads),
    lambda model, value: isinstance(value, str),
    ("thread",),
)
"""A draw of a thread name that the program uses. The thread may be empty."""

checkpoints = Draw(
    some_address,
    lambda model, value: model.record(value) is not None,
    ("thread", "namespace", "number"),
)
"""A draw of a stored checkpoint, as a tuple of thread, namespace and number."""

tasks = Draw(
    lambda model, choose, theme: choose.choice(theme.tasks),
    lambda model, value: isinstance(value, int),
    ("task",),
)
"""A draw of a task's number."""
