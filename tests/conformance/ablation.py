"""Measures which makers of programs find what no other does: each is left out once.

``python -m tests.conformance.ablation --every 10 --jobs 2`` tries every tenth wrong saver. The
table has a row for each maker: how many wrong savers are found only with it, and what it costs
on a right saver. Below it stand their names.

The programs of known mistakes were made from these very savers, and would stand in for every
maker that is left out. So they are used only where all others together find nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import process_time
from typing import NoReturn

import click
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, plan_of
from tests.conformance.selftest_support import (
    api_of,
    facts_for,
    family_of,
    judged_by_programs,
    target_of,
)
from tests.wrong_savers import WrongSaver, opener

from saverproof.families.functional.effort import EFFORTS, ProgramEffort, ProgramMaker
from saverproof.families.functional.judging import FunctionalJudging
from saverproof.families.functional.shares import DIRECTED, HYPOTHESIS, RANDOM
from saverproof.families.machines.registry import FUNCTIONAL_FAMILIES, MACHINES
from saverproof.families.tally import Tally
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.savers.targets.target import Target

RIGHT = Target(name="right", open=opener(ReferenceSaver))
MAKERS = {maker.name.lower(): maker for maker in ProgramMaker}
"""The makers by the names that the command line has for them."""
DRAWN = {ProgramMaker.RANDOM: RANDOM, ProgramMaker.HYPOTHESIS: HYPOTHESIS}
"""The makers whose programs are counted by themselves, and the share that they are counted in."""
_BETWEEN = 20
"""Wrong savers from one sign of progress to the next: some ten seconds."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The makers that are compared, the profile whose effort they have, and the programs' seed."""

    makers: frozenset[ProgramMaker]
    profile: str = "quick"
    seed: int = 0

    @property
    def measured(self) -> list[ProgramMaker]:
        """The makers in the order in which a run uses them."""
        return [maker for maker in ProgramMaker if maker in self.makers]

    def effort(self, makers: Collection[ProgramMaker]) -> ProgramEffort:
        """The effort of the profile with some of the makers."""
        return replace(EFFORTS[self.profile], makers=frozenset(makers))


@dataclass(frozen=True, slots=True)
class Tried:
    """Whether a wrong saver is found by all makers together, and without which it is not."""

    saver: str
    found: bool
    needed: frozenset[ProgramMaker] = frozenset()


@dataclass(frozen=True, slots=True)
class Cost:
    """What a maker takes to judge a right saver in every family."""

    programs: int
    seconds: float


def tried(name: str, settings: Settings) -> Tried:
    """Give a wrong saver to the makers together, and to them without each."""
    (wrong,) = (one for one in judged_by_programs() if one.name == name)
    others = settings.makers - {ProgramMaker.MISTAKES}
    used = _finding(others, wrong, settings)
    if used is not None:
        needed = (one for one in used if _finding(others - {one}, wrong, settings) is None)
        return Tried(name, found=True, needed=frozenset(needed))
    if others == settings.makers or _finding(settings.makers, wrong, settings) is None:
        return Tried(name, found=False)
    return Tried(name, found=True, needed=frozenset({ProgramMaker.MISTAKES}))


def _finding(
    makers: Collection[ProgramMaker], wrong: WrongSaver, settings: Settings
) -> Collection[ProgramMaker] | None:
    """Return the makers whose turn came until the contract that the saver breaks was found broken,
    or more; None if it was not.

    A maker whose turn comes later changes nothing if it is left out.
    """
    family, target = family_of(wrong), target_of(wrong)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        facts = facts_for(wrong, path)
        api = api_of(wrong, family)
        plan = plan_of(target, family, api, path, seed=settings.seed, facts=facts)
        tally = Tally(plan)
        until = frozenset({wrong.breaks})
        judging = FunctionalJudging(plan, target, tally, settings.effort(makers), until=until)
        judging.run()
    found = wrong.breaks in {finding.contract for finding in tally.outcome().findings}
    return _had_a_turn(makers, judging) if found else None


def _had_a_turn(
    makers: Collection[ProgramMaker], judging: FunctionalJudging
) -> Collection[ProgramMaker]:
    """Return the makers whose programs may have been run: written ones are counted together."""
    run = judging.shares.programs
    late = {m for m, share in DRAWN.items() if not run[share]}
    written = len(MACHINES[judging.plan.family].examples)
    if ProgramMaker.ENUMERATED in makers and run[DIRECTED] <= written:
        late |= {ProgramMaker.CROSSED, ProgramMaker.SCRIPTED}
    return [maker for maker in makers if maker not in late]


def cost(maker: ProgramMaker, settings: Settings) -> Cost:
    """Judge a right saver by one maker, and take off what judging without programs takes."""
    without, _ = _timed((), settings)
    seconds, programs = _timed({maker}, settings)
    return Cost(programs, max(seconds - without, 0.0))


def _timed(makers: Collection[ProgramMaker], settings: Settings) -> tuple[float, int]:
    before = process_time()
    programs = sum(_programs_of(family, makers, settings) for family in FUNCTIONAL_FAMILIES)
    return process_time() - before, programs


def _programs_of(family: str, makers: Collection[ProgramMaker], settings: Settings) -> int:
    """Judge a family of a right saver, and return how many programs were run."""
    api = "crossed" if family == "parity" else "sync"
    with tempfile.TemporaryDirectory() as folder:
        facts = facts_from(EVERY_OPERATION)
        plan = plan_of(RIGHT, family, api, Path(folder), seed=settings.seed, facts=facts)
        judging = FunctionalJudging(plan, RIGHT, Tally(plan), settings.effort(makers))
        judging.run()
    return judging.shares.programs.total()


def table(results: Sequence[Tried], settings: Settings) -> Iterator[str]:
    """The lines of a Markdown table with a row for each maker, and the names that belong to it."""
    yield "| maker | found only with it | programs | processor s |"
    yield "|---|--:|--:|--:|"
    for maker in settings.measured:
        only = sum(maker in one.needed for one in results)
        took = cost(maker, settings)
        yield f"| {maker} | {only} | {took.programs} | {took.seconds:.1f} |"
    yield ""
    found = f"{sum(one.found for one in results)} of {len(results)} wrong savers"
    yield f"found by all together, {settings.profile} profile: {found}"
    for maker in settings.measured:
        yield f"found only with {maker}: {_names(one for one in results if maker in one.needed)}"
    yield f"missed by all: {_names(one for one in results if not one.found)}"


def _names(results: Iterable[Tried]) -> str:
    return ", ".join(one.saver for one in results) or "none"


class _Arguments(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """End with the message."""
        self.exit(2, f"{self.prog}: {message}\n")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a number from 1, got {text!r}")
    return int(text)


def _wrong_saver(text: str) -> str:
    if text not in {wrong.name for wrong in judged_by_programs()}:
        raise argparse.ArgumentTypeError(f"no wrong saver that programs find is called {text!r}")
    return text


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table."""
    parser = _Arguments(
        prog="python -m tests.conformance.ablation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "savers", nargs="*", type=_wrong_saver, metavar="SAVER", help="a wrong saver; without, all"
    )
    parser.add_argument("--every", type=_positive, default=1, help="try only each N-th of them")
    parser.add_argument(
        "--makers", nargs="+", choices=[*MAKERS], default=[*MAKERS], help="compare only these"
    )
    parser.add_argument("--profile", choices=[*EFFORTS], default="quick", help="whose effort")
    parser.add_argument("--seed", type=int, default=0, help="of the random programs")
    parser.add_argument("--jobs", type=_positive, default=1, help="processes")
    asked = parser.parse_args(arguments)
    names = asked.savers or [wrong.name for wrong in judged_by_programs()]
    settings = Settings(frozenset(MAKERS[name] for name in asked.makers), asked.profile, asked.seed)
    results = _all_tried(names[:: asked.every], settings, asked.jobs)
    click.echo("\n".join(table(results, settings)))


def _all_tried(names: Sequence[str], settings: Settings, jobs: int) -> list[Tried]:
    """Try the savers, and say on stderr how many are done."""
    results = []
    with ProcessPoolExecutor(jobs) as pool:
        for result in pool.map(partial(tried, settings=settings), names):
            results.append(result)
            if len(results) % _BETWEEN == 0:
                click.echo(f"{len(results)} of {len(names)} wrong savers", err=True)
    return results


if __name__ == "__main__":
    sys.exit(main())
