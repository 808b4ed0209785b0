"""What a script has to know of a saver beside the methods of the base class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from saverproof.scripts.own_source import OwnSource


@dataclass(frozen=True, slots=True)
class SaverMethods:
    """Which methods a saver has, and what its author has added.

    ``setup`` and ``closers`` are calls as source, such as ``saver.close()``; ``own`` are the rules
    and invariants of an author, by their ids as contracts.
    """

    takes_paths: bool = True
    setup: str = ""
    closers: tuple[str, ...] = ()
    own: Mapping[str, OwnSource] = field(default_factory=dict)
