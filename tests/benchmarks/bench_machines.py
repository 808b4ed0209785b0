"""Which dice catch which wrong saver, and how soon: the table of docs/machines.md.

Each wrong saver that programs can show is given to the machine of its family: to the random driver
alone, to Hypothesis alone, and to both in turn, with the same number of steps.

    PYTHONPATH=. python tests/benchmarks/bench_machines.py [--every N]
"""

import argparse
import os
import tempfile
import time
from unittest import mock

import click
from tests.conformance.machine_support import (
    caught_by_hypothesis,
    caught_by_random_driver,
    machine_of,
)
from tests.conformance.selftest_support import judged_by_programs
from tests.wrong_savers import WrongSaver

from saverproof.scripts import verification

EXAMPLES, LENGTH = 400, 50


def by_random_driver(wrong: WrongSaver) -> bool:
    """All steps made by the random driver."""
    return caught_by_random_driver(machine_of(wrong), steps=EXAMPLES * LENGTH) is not None


def by_hypothesis(wrong: WrongSaver) -> bool:
    """All steps made by Hypothesis."""
    return caught_by_hypothesis(machine_of(wrong), examples=EXAMPLES) is not None


def by_both(wrong: WrongSaver) -> bool:
    """First the random driver, then Hypothesis, as in a run of the suite."""
    machine = machine_of(wrong)
    half = EXAMPLES // 2
    return (
        caught_by_random_driver(machine, steps=half * LENGTH) is not None
        or caught_by_hypothesis(machine, examples=half) is not None
    )


DRIVERS = {"random alone": by_random_driver, "Hypothesis alone": by_hypothesis, "both": by_both}


def main() -> None:
    """Print the table, and which wrong savers each driver missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="only each N-th wrong saver")
    parser.add_argument("--driver", choices=tuple(DRIVERS), action="append")
    options = parser.parse_args()
    chosen = judged_by_programs()[:: options.every]
    click.echo("| driver | caught | of | seconds |")
    click.echo("|---|--:|--:|--:|")
    missed: dict[str, list[str]] = {}
    # A script is made and run for each violation otherwise, which takes longer than to find it.
    with mock.patch.object(verification, "complains_alone", return_value=False):
        for title in options.driver or DRIVERS:
            started = time.perf_counter()
            missed[title] = [wrong.name for wrong in chosen if not DRIVERS[title](wrong)]
            seconds = time.perf_counter() - started
            caught = len(chosen) - len(missed[title])
            click.echo(f"| {title} | {caught} | {len(chosen)} | {seconds:.0f} |")
    for title, names in missed.items():
        click.echo(f"\nmissed by {title}: {', '.join(names) or 'none'}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
