"""Which mistakes come together: all pairs of those that are near each other, and drawn sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random

from saverproof.contracts.registry import contract
from saverproof.mistakes import MISTAKES, Mistake
from saverproof.mistakes.programs import programs
from tests.crowds.composing import Crowd, composed, grown

WITHIN = ("ordering", "upsert", "identity", "filter", "deletion")
"""Families whose mistakes are tried with each other."""
OF_WRITES = frozenset(
    {
        "ordering/writes-sorted",
        "upsert/regular-write-first-wins",
        "upsert/reput-keeps-writes",
        "upsert/special-write-last-wins",
        "upsert/special-write-last-wins-mixed",
    }
)
"""Contracts of pending writes outside their own family."""


def candidates() -> list[Mistake]:
    """The known mistakes of which crowds are made: those that a short program shows alone.

    Left out are those that hang, that take seconds to reach, that only the other API has, and that
    take an operation away (the probe finds those).
    """
    return [mistake for mistake in MISTAKES if mistake.name in programs() and _can_be_met(mistake)]


def _can_be_met(mistake: Mistake) -> bool:
    family = contract(mistake.breaks).family
    there = family == "parity" or "sync" in mistake.apis
    return there and family != "interface" and not (mistake.hangs or mistake.heavy)


def pairs(seed: int | None = None) -> list[tuple[Mistake, Mistake]]:
    """All pairs of near mistakes, whether they can stand together or not; shuffled by a seed."""
    groups = [_of_pending_writes(), *(_of_family(name) for name in WITHIN)]
    found = {pair: None for group in groups for pair in combinations(group, 2)}
    drawn = list(found)
    if seed is not None:
        Random(f"pairs:{seed}").shuffle(drawn)
    return drawn


def standing_pairs(seed: int | None = None) -> Iterator[Crowd]:
    """The savers that can be made of pairs."""
    return (crowd for pair in pairs(seed) if (crowd := composed(pair)) is not None)


def sets(size: int, seed: int) -> Iterator[Crowd]:
    """Savers of so many mistakes over all functional families, one after the other without end.

    Contracts are drawn first: those with many known mistakes would be in every set.
    """
    number = 0
    while True:
        draw = Random(f"sets:{size}:{seed}:{number}")
        if (crowd := grown(_one_of_each(candidates(), draw), size)) is not None:
            yield crowd
        number += 1


def _one_of_each(mistakes: Sequence[Mistake], draw: Random) -> list[Mistake]:
    of_each: dict[str, list[Mistake]] = {}
    for mistake in mistakes:
        of_each.setdefault(mistake.breaks, []).append(mistake)
    drawn = list(map(draw.choice, of_each.values()))
    draw.shuffle(drawn)
    return drawn


def _of_family(family: str) -> list[Mistake]:
    return [each for each in candidates() if each.breaks.startswith(f"{family}/")]


def _of_pending_writes() -> list[Mistake]:
    return [
        each
        for each in candidates()
        if each.breaks in OF_WRITES or each.breaks.startswith("pending-writes/")
    ]
