"""Measures how much of what is wrong with savers of many flaws a run says.

``python -m tests.crowds.measure --pairs --sample 200 --jobs 2``
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice

import click

from saverproof.mistakes import MISTAKES
from tests.crowds.composing import Crowd
from tests.crowds.drawing import sets, standing_pairs
from tests.crowds.judging import Judgement, Told, judge

SETS = 20
"""Sets of a size that are drawn unless a sample is asked for."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a run said of one saver."""

    name: str
    told: tuple[tuple[str, str, Told, str], ...]
    """Flaw, contract, what became of it, and the reason if there is one."""
    green: bool
    falsely: tuple[str, ...]
    seconds: float


def measured(saver: Crowd, seed: int) -> Measured:
    """Judge one saver."""
    found = judge(saver, seed=seed)
    told = tuple(
        (flaw.name, flaw.contract, found.of(flaw), found.reasons.get(flaw.contract, ""))
        for flaw in saver.flaws
    )
    return Measured(saver.name, told, found.green, _beside(saver, found), found.seconds)


def _beside(saver: Crowd, found: Judgement) -> tuple[str, ...]:
    """The contracts that are found broken, and are of no flaw of it."""
    own = {flaw.contract for flaw in saver.flaws}
    return tuple(name for name in found.order if name not in own)


def by_names(names: tuple[str, ...], seed: int) -> Measured:
    """Judge the saver of these mistakes: classes that are made here do not go between processes."""
    known = {mistake.name: mistake for mistake in MISTAKES}
    return measured(Crowd(tuple(known[name] for name in names)), seed)


def all_measured(crowds: Iterable[Crowd], seed: int, jobs: int) -> Iterator[Measured]:
    """Judge savers, in so many processes."""
    if jobs == 1:
        yield from (measured(crowd, seed) for crowd in crowds)
        return
    names = [tuple(mistake.name for mistake in crowd.mistakes) for crowd in crowds]
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(partial(by_names, seed=seed), names)


def tell(what: str, found: Iterable[Measured], *, details: bool) -> None:
    """Print what comes of savers, and the sums."""
    sums: Counter[Told] = Counter()
    savers = green = 0
    seconds, started = 0.0, time.perf_counter()
    for one in found:
        savers, green, seconds = savers + 1, green + one.green, seconds + one.seconds
        sums.update(told for _, _, told, _ in one.told)
        wrong = [each for each in one.told if each[2] is not Told.BY_ITS_CONTRACT]
        if details and wrong:
            click.echo(f"{one.name}: {'green' if one.green else 'red'}, beside {list(one.falsely)}")
            for flaw, broken, told, why in wrong:
                click.echo(f"    {told}: {flaw} ({broken}) {why[:160]}")
    flaws = sums.total()
    if not flaws:
        click.echo(f"{what}: none")
        return
    right = sums[Told.BY_ITS_CONTRACT]
    click.echo(
        f"{what}: {savers} savers, {flaws} flaws; {right} told by their own contract "
        f"({100 * right / flaws:.1f} %), {sums[Told.HELD]} falsely held, {sums[Told.OPEN]} open, "
        f"{sums[Told.OPEN_IN_GREEN]} open in a green run; {green} runs green; "
        f"{seconds:.0f} s of judging, {time.perf_counter() - started:.0f} s in all",
    )


def main() -> None:
    """Measure what the arguments ask for."""
    parser = argparse.ArgumentParser(prog="python -m tests.crowds.measure", description=__doc__)
    for kind in ("pairs", "fives", "tens", "first"):
        parser.add_argument(f"--{kind}", action="store_true")
    parser.add_argument("--seed", type=int, default=0, help="of drawn sets, and of the judging")
    parser.add_argument("--sample", type=int, help="how many savers of each kind")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--quiet", action="store_true", help="only the sums")
    asked = parser.parse_args()
    everything = not (asked.pairs or asked.fives or asked.tens or asked.first)
    run = partial(all_measured, seed=asked.seed, jobs=asked.jobs)
    kinds = {
        "pairs": islice(standing_pairs(asked.seed), asked.sample),
        "fives": islice(sets(5, asked.seed), asked.sample or SETS),
        "tens": islice(sets(10, asked.seed), asked.sample or SETS),
    }
    for kind, crowds in kinds.items():
        if everything or getattr(asked, kind):
            tell(kind, run(crowds), details=not asked.quiet)


if __name__ == "__main__":
    main()
