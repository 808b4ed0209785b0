"""The contents of a trial, and the moment of the kill, as data."""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import Any

Json = Any
"""None, a bool, int, float or str, or a list or string-keyed mapping of these."""


Body = Callable[..., Json] | str
"""A function at the top of a module, or its name as 'module:function' if it is not imported
here.
"""


class Start(StrEnum):
    """The ways to make the process that runs a body."""

    LIKE_THE_REST = "forked where that is possible"
    FRESH = "a fresh interpreter"


_BODY = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


@dataclass(frozen=True, slots=True)
class KillAt:
    """The moment at which SIGKILL strikes. Make it by ``KillAt.place`` or ``KillAt.random``."""

    at_place: int | None = None
    after_s: float | None = None

    @classmethod
    def place(cls, number: int) -> "KillAt":
        """Kill when the body reaches its ``number``-th place (``Acks.reached`` counts from 1)."""
        if number < 1:
            raise ValueError(f"a kill place is counted from 1, got {number}")
        return cls(at_place=number)

    @classmethod
    def random(cls, seed: int, *, window_s: float) -> "KillAt":
        """Kill at a random instant, which ``seed`` chooses.

        It lies in the ``window_s`` seconds after the body begins; the duration of a clean trial is
        a good window. A body that ends earlier is not killed.
        """
        if not window_s > 0:
            raise ValueError(f"the window of a random kill is above 0 seconds, got {window_s}")
        return cls(after_s=Random(seed).uniform(0, window_s))


@dataclass(frozen=True, slots=True)
class Writer:
    """A process of a trial that runs a body.

    ``body`` is called with an ``Acks`` and ``arguments``, and returns JSON. Without ``kill`` it
    runs to its end.
    """

    body: Body
    arguments: Mapping[str, Json] = field(default_factory=dict)
    kill: KillAt | None = None

    def __post_init__(self) -> None:
        body_name(self.body)


def body_name(body: Body) -> str:
    """Return 'module:function', by which another process finds a body.

    Raises:
        ValueError: the text is not of that form, or the function cannot be found by its name.
    """
    if isinstance(body, str):
        if not _BODY.fullmatch(body):
            raise ValueError(f"a body is named as 'module:function', got {body!r}")
        return body
    name = f"{body.__module__}:{body.__qualname__}"
    found: Any = sys.modules.get(body.__module__)
    for part in body.__qualname__.split("."):
        found = getattr(found, part, None)
    if found is not body or body.__module__ == "__main__":
        raise ValueError(f"a body is a function of a module that can be imported, got {name}")
    return name
