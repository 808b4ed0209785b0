"""Which dice catch which wrong saver, and how soon: the tables of docs/machines.md.

Each wrong saver that programs can show is given to the machine of its family: to the random driver
alone, to Hypothesis alone, and to both in turn, with the same number of steps. What Hypothesis
misses it gets once more, with more steps. Then the wrong savers of atomicity are given to the
machine of faults.

    PYTHONPATH=. python tests/benchmarks/bench_machines.py [--every N] [--only faults]
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from unittest import mock

import click
from tests.conformance.machine_support import (
    atomicity_machine_of,
    caught_by_hypothesis,
    caught_by_random_driver,
    machine_of,
)
from tests.conformance.selftest_support import judged_by_programs
from tests.conformance.test_atomicity_selftest import wrong_savers as wrong_under_faults
from tests.wrong_savers import WrongSaver

from saverproof import ContractBroken
from saverproof.families.atomicity import bench, reporting
from saverproof.families.atomicity.worker import Worker
from saverproof.scripts import verification

EXAMPLES, LENGTH, MORE = 400, 50, 5

Driver = Callable[[WrongSaver], bool]


def by_random_driver(wrong: WrongSaver) -> bool:
    """All steps made by the random driver."""
    return caught_by_random_driver(machine_of(wrong), steps=EXAMPLES * LENGTH) is not None


def by_hypothesis(wrong: WrongSaver, times: int = 1) -> bool:
    """All steps made by Hypothesis."""
    return caught_by_hypothesis(machine_of(wrong), examples=times * EXAMPLES) is not None


def by_both(wrong: WrongSaver) -> bool:
    """First the random driver, then Hypothesis, as in a run of the suite."""
    machine = machine_of(wrong)
    half = EXAMPLES // 2
    return (
        caught_by_random_driver(machine, steps=half * LENGTH) is not None
        or caught_by_hypothesis(machine, examples=half) is not None
    )


def faults_by_random_driver(wrong: WrongSaver) -> bool:
    """All programs with faults made by the random driver."""
    try:
        atomicity_machine_of(wrong).search(programs=EXAMPLES)
    except ContractBroken:
        return True
    return False


def faults_by_hypothesis(wrong: WrongSaver) -> bool:
    """All programs with faults made by Hypothesis."""
    return caught_by_hypothesis(atomicity_machine_of(wrong), examples=EXAMPLES) is not None


def row(title: str, driver: Driver, chosen: Sequence[WrongSaver]) -> list[WrongSaver]:
    """Print one row of a table; gives what the driver missed."""
    started = time.perf_counter()
    missed = [wrong for wrong in chosen if not driver(wrong)]
    seconds = time.perf_counter() - started
    click.echo(f"| {title} | {len(chosen) - len(missed)} | {len(chosen)} | {seconds:.0f} |")
    return missed


def names(missed: Sequence[WrongSaver]) -> str:
    """What was missed."""
    return ", ".join(wrong.name for wrong in missed) or "none"


def programs(chosen: Sequence[WrongSaver]) -> None:
    """The table of the functional families."""
    click.echo("| functional | caught | of | seconds |\n|---|--:|--:|--:|")
    row("random driver alone", by_random_driver, chosen)
    missed = row("Hypothesis alone", by_hypothesis, chosen)
    row("both in turn", by_both, chosen)
    click.echo(f"\nmissed by Hypothesis alone: {names(missed)}\n")
    more = [wrong for wrong in missed if not by_hypothesis(wrong, MORE)]
    click.echo(f"missed by Hypothesis alone with {MORE} times the steps: {names(more)}\n")


def faults(chosen: Sequence[WrongSaver]) -> None:
    """The table of atomicity."""
    click.echo("| atomicity | caught | of | seconds |\n|---|--:|--:|--:|")
    by_random = row("random driver alone", faults_by_random_driver, chosen)
    missed = row("Hypothesis alone", faults_by_hypothesis, chosen)
    click.echo(f"\nmissed by the random driver: {names(by_random)}; by Hypothesis: {names(missed)}")


def main() -> None:
    """Print the tables, and which wrong savers each driver missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="only each N-th wrong saver")
    parser.add_argument("--only", choices=("programs", "faults"))
    options = parser.parse_args()
    # A script is made and run for each violation otherwise, which takes longer than to find it.
    with (
        mock.patch.object(verification, "complains_alone", return_value=False),
        mock.patch.object(reporting, "long_reproducer", return_value=""),
        mock.patch.object(bench, "Worker", side_effect=lambda *_: Worker(0.5)),
    ):
        if options.only != "faults":
            programs(judged_by_programs()[:: options.every])
        if options.only != "programs":
            faults(wrong_under_faults()[:: options.every])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
