"""What the rules of authors draw: values that the random driver and Hypothesis choose alike.

A draw is asked with the model, the choices of whichever driver runs, and the names of the theme. It
must not do anything else: the value is all that a step keeps of it, and all that is shrunk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from saverproof.model.store import Model
from saverproof.programs.makers.addresses import some_address
from saverproof.programs.theme import Theme


@dataclass(frozen=True, slots=True)
class Draw:
    """``choose`` gives a value, or None where there is none to choose; ``legal`` says of a value
    that was shrunk whether it may still be used. ``fields`` are the fields of the step that hold
    the value; it is an argument of its own if there are none.
    """

    choose: Callable[[Model, Random, Theme], Any]
    legal: Callable[[Model, Any], bool]
    fields: tuple[str, ...] = ()


def integers(low: int, high: int) -> Draw:
    """An integer from ``low`` to ``high``, both included; it shrinks towards ``low``."""
    return Draw(
        lambda model, choose, theme: choose.randint(low, high),
        lambda model, value: type(value) is int and low <= value <= high,
    )


def sampled_from(options: Sequence[Any]) -> Draw:
    """One of these values, which JSON can hold."""
    known = tuple(options)
    return Draw(
        lambda model, choose, theme: choose.choice(known),
        lambda model, value: value in known,
    )


def booleans() -> Draw:
    """True or False."""
    return sampled_from((False, True))


threads = Draw(
    lambda model, choose, theme: choose.choice(theme.threads),
    lambda model, value: isinstance(value, str),
    ("thread",),
)
"""The name of a thread that the program uses, whether it holds anything or not."""

checkpoints = Draw(
    some_address,
    lambda model, value: model.record(value) is not None,
    ("thread", "namespace", "number"),
)
"""A checkpoint that is there: its thread, its namespace and its number, as one tuple."""

tasks = Draw(
    lambda model, choose, theme: choose.choice(theme.tasks),
    lambda model, value: isinstance(value, int),
    ("task",),
)
"""The number of a task."""
