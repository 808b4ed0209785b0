"""What a script has to know of a saver, and how it goes about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from saverproof.scripts.own_source import OwnSource


@dataclass(frozen=True, slots=True)
class Looks:
    """What a script has to know of a saver: which methods it has beside those of the base class.

    ``setup`` and ``closers`` are calls as source, such as ``saver.close()``; ``own`` are the rules
    and invariants of an author, by their ids as contracts.
    """

    takes_paths: bool = True
    setup: str = ""
    closers: tuple[str, ...] = ()
    own: Mapping[str, OwnSource] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Manner:
    """How a script goes about it.

    ``via`` says by which read the final check looks (see :mod:`saverproof.scripts.state_checks`);
    ``between`` puts reads of everything between the steps, as the kit's own run had them;
    ``flip`` lets a crossed script look by the API that wrote last.
    """

    via: str
    between: bool = False
    flip: bool = False
