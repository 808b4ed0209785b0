"""Which driver catches which wrong saver, and how soon: the tables of docs/machines.md.

Each wrong saver that programs can show is given to the machine of its family: to Hypothesis alone,
to the random driver alone, and to both in turn, with the same number of steps; each of atomicity
to the machine of faults. Then every machine is given the savers that are right.

    PYTHONPATH=. python tests/benchmarks/bench_machines.py [--every N] [--only functional]
"""

import argparse
import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import click
from tests.conformance.atomicity.test_atomicity_selftest import wrong_savers as wrong_under_faults
from tests.conformance.machine_support import (
    atomicity_machine_of,
    caught_by_hypothesis,
    machine_of,
)
from tests.conformance.selftest_support import judged_by_programs
from tests.conformance.test_machines import RIGHT

from saverproof import AtomicityMachine, ContractBroken, SaverMachine
from saverproof.families.atomicity import reporting
from saverproof.families.atomicity.trials import bench
from saverproof.families.atomicity.trials.worker import Worker
from saverproof.families.machines.registry import MACHINES
from saverproof.scripts import verification
from saverproof_savers.targets import sqlite

EXAMPLES, LENGTH = 400, 50

Machine = type[SaverMachine | AtomicityMachine]
Driver = Callable[[Machine], ContractBroken | None]


@dataclass(frozen=True)
class Trial:
    """A machine on a saver; its name is that of the saver, and of the machine where it has many."""

    name: str
    make: Callable[[], Machine]


def by_hypothesis(machine: Machine) -> ContractBroken | None:
    """All programs made by Hypothesis."""
    return caught_by_hypothesis(machine, examples=EXAMPLES)


def by_random_driver(machine: Machine, examples: int = EXAMPLES) -> ContractBroken | None:
    """As many made by the random driver."""
    try:
        if issubclass(machine, AtomicityMachine):
            machine.search(programs=examples)
        else:
            machine.search(steps=examples * LENGTH)
    except ContractBroken as broken:
        return broken
    return None


def by_both(machine: Machine) -> ContractBroken | None:
    """First the random driver, then Hypothesis, as in a run of the suite."""
    half = EXAMPLES // 2
    return by_random_driver(machine, half) or caught_by_hypothesis(machine, examples=half)


DRIVERS: dict[str, Driver] = {
    "Hypothesis alone": by_hypothesis,
    "random driver alone": by_random_driver,
    "both in turn": by_both,
}


def right_savers() -> list[Trial]:
    """Every machine on each of the savers that break nothing."""
    every = (SaverMachine, AtomicityMachine, *MACHINES.values())
    return [
        Trial(
            f"{name} in {machine.__name__}",
            lambda m=machine, t=saver: type("Right", (m,), {"target": t}),
        )
        for name, saver in {"reference": RIGHT, "sqlite": sqlite}.items()
        for machine in dict.fromkeys(every)
    ]


TABLES: dict[str, Callable[[], list[Trial]]] = {
    "functional": lambda: [Trial(w.name, partial(machine_of, w)) for w in judged_by_programs()],
    "atomicity": lambda: [
        Trial(w.name, partial(atomicity_machine_of, w)) for w in wrong_under_faults()
    ],
    "right savers": right_savers,
}


class Seen:
    """What each driver found on each saver: kept in a file, so that a long run can go on."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        lines = file.read_text().splitlines() if file is not None and file.exists() else []
        self._found = {(one["driver"], one["trial"]): one for one in map(json.loads, lines)}

    def of(self, title: str, driver: Driver, trial: Trial) -> dict[str, Any]:
        """The contract that a driver finds broken, and the seconds of processor that it took."""
        if (title, trial.name) not in self._found:
            before = sum(os.times()[:4])
            broken = driver(trial.make())
            found: dict[str, Any] = {"driver": title, "trial": trial.name}
            found["broken"] = broken and broken.contract
            found["seconds"] = round(sum(os.times()[:4]) - before, 2)
            self._found[title, trial.name] = found
            if self._file is not None:
                with self._file.open("a") as kept:
                    kept.write(json.dumps(found) + "\n")
        return self._found[title, trial.name]


def table(family: str, drivers: Sequence[str], trials: Sequence[Trial], seen: Seen) -> None:
    """Print a table with a row for each driver, and what each missed."""
    rows, ends = [], []
    for title in drivers:
        found = [seen.of(f"{family}, {title}", DRIVERS[title], trial) for trial in trials]
        missed = [one["trial"] for one in found if one["broken"] is None]
        seconds = sum(one["seconds"] for one in found)
        rows.append(f"| {title} | {len(trials) - len(missed)} | {len(trials)} | {seconds:.0f} |")
        ends.append(f"{title} found nothing in: {', '.join(missed) or 'none'}")
    heading = [f"| {family} | caught | of | seconds |", "|---|--:|--:|--:|"]
    click.echo("\n".join([*heading, *rows, "", *ends, ""]))


def main() -> None:
    """Print the tables, and which wrong savers each driver missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="only each N-th wrong saver")
    parser.add_argument("--only", choices=[*TABLES])
    parser.add_argument("--driver", choices=[*DRIVERS])
    parser.add_argument("--seen", type=Path, help="a file for what was seen, and to go on from")
    options = parser.parse_args()
    seen = Seen(options.seen and options.seen.absolute())
    drivers = [options.driver] if options.driver else [*DRIVERS]
    # A script is made and run for each violation otherwise, which takes longer than to find it.
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        mock.patch.object(verification, "complains_alone", return_value=False),
        mock.patch.object(reporting, "long_reproducer", return_value=""),
        mock.patch.object(bench, "Worker", side_effect=lambda *_: Worker(0.5)),
    ):
        for family, trials in TABLES.items():
            if options.only in (None, family):
                table(family, drivers, trials()[:: options.every], seen)


if __name__ == "__main__":
    main()
