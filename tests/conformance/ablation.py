"""Measures which makers of programs catch what no other does: each is left out, and alone, once.

``python -m tests.conformance.ablation --every 10 --jobs 2``: of every tenth wrong saver. It prints
the table of docs/machines.md, and the wrong savers that one maker alone catches.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import process_time

import click
from tests.conformance.judging_support import plan_of
from tests.conformance.selftest_support import (
    api_of,
    facts_for,
    family_of,
    judged_by_programs,
    target_of,
)
from tests.wrong_savers import WrongSaver

from saverproof.families.functional.effort import EFFORTS, EVERY_MAKER, Maker
from saverproof.families.functional.judging import FunctionalJudging
from saverproof.families.tally import Tally

PROFILE = "default"
"""The profile that users run in CI: quick has fewer random programs, deep twenty times as many."""


@dataclass(frozen=True, slots=True)
class Arm:
    """A set of makers that is tried, under the name that the table gives it."""

    name: str
    makers: frozenset[Maker]


ARMS = (
    Arm("all", EVERY_MAKER),
    *(Arm(f"without {maker}", EVERY_MAKER - {maker}) for maker in Maker),
    *(Arm(f"{maker} alone", frozenset({maker})) for maker in Maker),
)


@dataclass(frozen=True, slots=True)
class Tried:
    """What each arm came to with one wrong saver: whether it is caught, and in how many seconds."""

    saver: str
    caught: dict[str, bool]
    seconds: dict[str, float]


def tried(name: str, seed: int) -> Tried:
    """Give a wrong saver to each arm, until the contract that it breaks is found broken."""
    (wrong,) = (one for one in judged_by_programs() if one.name == name)
    caught, seconds = {}, {}
    for arm in ARMS:
        before = process_time()
        caught[arm.name] = _catches(arm, wrong, seed)
        seconds[arm.name] = process_time() - before
    return Tried(name, caught, seconds)


def _catches(arm: Arm, wrong: WrongSaver, seed: int) -> bool:
    family, target = family_of(wrong), target_of(wrong)
    effort = replace(EFFORTS[PROFILE], makers=arm.makers)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        facts = facts_for(wrong, path)
        plan = plan_of(target, family, api_of(wrong, family), path, seed=seed, facts=facts)
        tally = Tally(plan)
        FunctionalJudging(plan, target, tally, effort, until=frozenset({wrong.breaks})).run()
    return wrong.breaks in {finding.contract for finding in tally.outcome().findings}


def table(results: list[Tried]) -> Iterator[str]:
    """The lines of a Markdown table, an arm each."""
    yield "| makers | caught | of | processor s |"
    yield "|---|--:|--:|--:|"
    for arm in ARMS:
        caught = sum(result.caught[arm.name] for result in results)
        seconds = sum(result.seconds[arm.name] for result in results)
        yield f"| {arm.name} | {caught} | {len(results)} | {seconds:.0f} |"


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance.ablation", description=__doc__
    )
    parser.add_argument(
        "--every", type=int, default=1, help="of how many wrong savers one is tried"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random programs")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    names = [wrong.name for wrong in judged_by_programs()][:: asked.every]
    with ProcessPoolExecutor(asked.jobs) as pool:
        running = pool.map(partial(tried, seed=asked.seed), names)
        with click.progressbar(running, len(names), "wrong savers") as progress:
            results = list(progress)
    click.echo("\n".join(table(results)))
    for maker in Maker:
        without = f"without {maker}"
        lost = [one.saver for one in results if one.caught["all"] and not one.caught[without]]
        click.echo(f"{maker} alone catches {', '.join(lost) or 'nothing'}")
    missed = [one.saver for one in results if not one.caught["all"]]
    click.echo(f"missed by all: {', '.join(missed) or 'none'}")


if __name__ == "__main__":
    main()
