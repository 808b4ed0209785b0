"""Measures how much of what is wrong with savers of many flaws a run says.

``python -m tests.crowds.measure --pairs --sample 200 --jobs 2``; it exits with 1 if a flaw is held
or lost in a green run, or if mending does not end.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice

import click

from saverproof.mistakes import MISTAKES
from tests.crowds.composing import Crowd
from tests.crowds.drawing import sets, standing_pairs
from tests.crowds.first_savers import FIRST
from tests.crowds.flawed import FlawedSaver
from tests.crowds.judging import SILENT, Told, judge
from tests.crowds.mending import Mending, mend

SETS = 20
"""Sets of a size that are drawn unless a sample is asked for."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a run said of one saver.

    Attributes:
        name: the saver.
        told: for each flaw its name, its contract, what became of it, and the reason.
        green: whether the run would end with exit 0.
        beside: contracts that are found broken, and are of no flaw of it.
        mended: how the saver was mended, if that was asked for.
        seconds: what it took.
    """

    name: str
    told: tuple[tuple[str, str, Told, str], ...]
    green: bool
    beside: tuple[str, ...]
    mended: Mending | None
    seconds: float


def measured(saver: FlawedSaver, seed: int, *, mends: bool) -> Measured:
    """Judge one saver, and mend it if that is asked for."""
    started = time.perf_counter()
    found = judge(saver, seed=seed)
    told = tuple(
        (flaw.name, flaw.contract, found.of(flaw), found.reasons.get(flaw.contract, ""))
        for flaw in saver.flaws
    )
    own = {flaw.contract for flaw in saver.flaws}
    beside = tuple(name for name in found.order if name not in own)
    mended = mend(saver, seed=seed) if mends else None
    seconds = time.perf_counter() - started
    return Measured(saver.name, told, found.green, beside, mended, seconds)


def by_names(names: tuple[str, ...], seed: int, *, mends: bool) -> Measured:
    """Measure the saver of these names: classes that are made here do not go between processes."""
    return measured(_named(names), seed, mends=mends)


def _named(names: tuple[str, ...]) -> FlawedSaver:
    if len(names) == 1:
        return next(saver for saver in FIRST if saver.name == names[0])
    known = {mistake.name: mistake for mistake in MISTAKES}
    return Crowd(tuple(known[name] for name in names))


def names_of(crowd: Crowd) -> tuple[str, ...]:
    """By which the saver is found again."""
    return tuple(mistake.name for mistake in crowd.mistakes)


def tell(what: str, found: Iterable[Measured], *, details: bool) -> bool:
    """Print what comes of savers, and the sums; gives whether nothing was lost."""
    sums: Counter[Told] = Counter()
    savers = green = mended = ended = 0
    seconds = 0.0
    for one in found:
        savers, green, seconds = savers + 1, green + one.green, seconds + one.seconds
        mended += one.mended is not None
        ended += one.mended is not None and one.mended.ended
        sums.update(told for _, _, told, _ in one.told)
        if details:
            _tell_of(one)
    flaws = sums.total()
    if not flaws:
        click.echo(f"{what}: none")
        return True
    right = sums[Told.BY_ITS_CONTRACT]
    click.echo(
        f"{what}: {savers} savers, {flaws} flaws; {right} told by their own contract "
        f"({100 * right / flaws:.1f} %), {sums[Told.HELD]} falsely held, {sums[Told.OPEN]} open, "
        f"{sums[Told.OPEN_IN_GREEN]} open in a green run; {green} runs green; "
        f"{ended} of {mended} mended to the end; {seconds:.0f} s"
    )
    return not any(sums[told] for told in SILENT) and ended == mended


def _tell_of(one: Measured) -> None:
    wrong = [each for each in one.told if each[2] is not Told.BY_ITS_CONTRACT]
    stuck = one.mended is not None and not one.mended.ended
    if not wrong and not stuck:
        return
    beside = f", and beside its flaws {', '.join(one.beside)}" if one.beside else ""
    click.echo(f"{one.name}: {'green' if one.green else 'red'}{beside}")
    for flaw, broken, told, why in wrong:
        click.echo(f"    {told}: {flaw} ({broken}) {why[:160]}")
    if one.mended is not None and stuck:
        click.echo(f"    mended {one.mended.rounds}, left {[*one.mended.left]}", nl=False)
        click.echo(f", misled by {one.mended.misled}" if one.mended.misled else "")


def main() -> None:
    """Measure what the arguments ask for."""
    parser = argparse.ArgumentParser(prog="python -m tests.crowds.measure", description=__doc__)
    kinds = ("pairs", "fives", "tens", "first")
    for kind in kinds:
        parser.add_argument(f"--{kind}", action="store_true")
    parser.add_argument("--seed", type=int, default=0, help="of drawn sets, and of the judging")
    parser.add_argument("--sample", type=int, help="how many savers of each kind")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--mend", action="store_true", help="mend each in the order of its report")
    parser.add_argument("--quiet", action="store_true", help="only the sums")
    asked = parser.parse_args()
    chosen = [kind for kind in kinds if getattr(asked, kind)] or kinds
    drawn: dict[str, Iterable[tuple[str, ...]]] = {
        "pairs": map(names_of, islice(standing_pairs(asked.seed), asked.sample)),
        "fives": map(names_of, islice(sets(5, asked.seed), asked.sample or SETS)),
        "tens": map(names_of, islice(sets(10, asked.seed), asked.sample or SETS)),
        "first": [(saver.name,) for saver in FIRST],
    }
    whole = True
    with ProcessPoolExecutor(asked.jobs) as pool:
        for kind in chosen:
            run = partial(by_names, seed=asked.seed, mends=asked.mend)
            whole &= tell(kind, pool.map(run, drawn[kind]), details=not asked.quiet)
    sys.exit(not whole)


if __name__ == "__main__":
    main()
