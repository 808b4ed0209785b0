"""What an author adds to the machine of faults: searched, made short and told like all else.

By night, rules and invariants by the other driver as well.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import seed, settings
from hypothesis.stateful import run_state_machine_as_test
from langgraph.checkpoint.base import empty_checkpoint

from saverproof import (
    AtomicityMachine,
    ContractBroken,
    Workspace,
    integers,
    invariant,
    rule,
    target,
)
from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.fault_rules import FaultRules
from saverproof.programs.steps.codec import to_json
from saverproof.programs.steps.definitions import CopyThread, OwnStep, Put, Step
from saverproof.programs.steps.identifiers import mint
from saverproof_faults import Event, Fault, Place, Plan
from saverproof_savers import SqliteSaver
from saverproof_savers.targets import sqlite


class Mirroring(SqliteSaver):
    """Keeps what is given in two threads, and counts."""

    counted = 0

    def mirror(self, number: int) -> None:
        """Store a checkpoint in both threads."""
        made = empty_checkpoint() | {"id": mint(number), "ts": ""}
        for name in ("a", "b"):
            self.put({"configurable": {"thread_id": name, "checkpoint_ns": ""}}, made, {}, {})

    def count(self, number: int) -> None:
        """Add to what was counted."""
        self.counted += number


@target(name="mirroring")
@contextmanager
def mirroring(workspace: Workspace) -> Iterator[Any]:
    with Mirroring.open(workspace.path / "checkpoints.db") as saver:
        yield saver


class Faulty(AtomicityMachine):
    target = mirroring
    contracts = frozenset({"atomicity/all-or-nothing"})

    @rule(number=integers(100, 900), weight=30)
    def mirror(self, number: int) -> None:
        """Both threads have it, or neither."""
        self.saver.mirror(number)
        for name in ("a", "b"):
            self.model.apply(Put(name, "", number))


class Counted(AtomicityMachine):
    target = mirroring

    @rule(number=integers(2, 5), weight=12)
    def count(self, number: int) -> None:
        """It counts."""
        self.saver.count(number)

    @invariant
    def counts_little(self) -> None:
        """No more than seven were counted."""
        assert self.saver.counted <= 7, f"{self.saver.counted} were counted"


def by_random_driver(machine: type[AtomicityMachine]) -> None:
    machine.search(programs=100)


def by_hypothesis(machine: type[AtomicityMachine]) -> None:
    # Where Hypothesis sees a CI it would take no seed.
    enough = settings(machine.TestCase.settings, database=None, derandomize=False, max_examples=400)
    run_state_machine_as_test(seed(0)(machine), settings=enough)


DRIVERS = pytest.mark.parametrize(
    "driver", [pytest.param(by_random_driver, marks=pytest.mark.nightly), by_hypothesis]
)
# Hypothesis shortens for half a minute what the driver shortens in a few seconds.
SHORTENED = pytest.mark.parametrize(
    "driver", [by_random_driver, pytest.param(by_hypothesis, marks=pytest.mark.nightly)]
)
Driver = Callable[[type[AtomicityMachine]], None]


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def broken_by(driver: Driver, machine: type[AtomicityMachine]) -> ContractBroken:
    """What a driver finds of a class of the same name, of which nothing is known yet."""
    with pytest.raises(ContractBroken) as caught:
        driver(type(machine.__name__, (machine,), {}))
    return caught.value


@SHORTENED
def test_a_rule_is_failed_and_made_short(driver: Driver) -> None:
    broken = broken_by(driver, Faulty)
    assert broken.contract == "atomicity/all-or-nothing"
    *_, last = broken.program
    assert isinstance(last, OwnStep)
    assert len(broken.program) == 1
    assert "mirror(number=100)" in str(broken)


@DRIVERS
def test_an_invariant_is_asked_after_every_step(driver: Driver) -> None:
    broken = broken_by(driver, Counted)
    assert broken.contract == "counted/counts-little"
    assert {type(step) for step in broken.program} == {OwnStep}
    # Each counts two at least, and none can be spared.
    assert len(broken.program) <= 4
    text = str(broken)
    assert "  promise   No more than seven were counted." in text
    assert "were counted" in text


def test_a_kill_inside_a_call_shows_what_is_stored_in_parts() -> None:
    only: dict[str, Any] = {"contracts": frozenset({"durability/in-flight-atomic"})}
    # A program ends with the first flaw that it shows.
    only |= {name: None for name in vars(FaultRules) if name.endswith(("fails", "refuses"))}
    broken = broken_by(by_random_driver, type("Faulty", (Faulty,), only))
    assert broken.contract == "durability/in-flight-atomic"
    assert "fault: the process is killed before the " in str(broken)
    *_, last = broken.program
    assert isinstance(last, OwnStep)


def with_faults(*steps: tuple[Step, Injection | None]) -> dict[str, Any]:
    """A program with faults, as an artefact has it."""
    return {
        "program": to_json(tuple(step for step, _ in steps)),
        "faults": {str(at): fault.as_data() for at, (_, fault) in enumerate(steps) if fault},
    }


KILLED = [
    Injection(Plan(Fault.KILL, Place(Event.STATEMENT, number)), killed=True)
    for number in range(1, 12)
]
FAILED = [Injection(Plan(Fault.RAISE, Place(Event.STATEMENT, number))) for number in range(1, 12)]
MIRRORED = OwnStep("mirror", "faulty/mirror", arguments={"number": 100})
COUNTED = OwnStep("count", "counted/count", arguments={"number": 4})


@pytest.mark.parametrize(
    ("machine", "given"),
    [
        (Faulty, tuple(with_faults((MIRRORED, failed)) for failed in FAILED)),
        # Scripts import this module by its file, and what it imports: nothing of the other tests.
        (
            type("Faulty", (Faulty,), {"contracts": frozenset({"durability/in-flight-atomic"})}),
            tuple(with_faults((MIRRORED, killed)) for killed in KILLED),
        ),
        (Counted, (with_faults((COUNTED, None), (COUNTED, None)),)),
    ],
)
def test_the_script_shows_it_alone(
    machine: type[AtomicityMachine], given: tuple[dict[str, Any], ...]
) -> None:
    with pytest.raises(ContractBroken) as caught:
        type(machine.__name__, (machine,), {"examples": given})()
    broken = caught.value
    script = Path("alone.py")
    script.write_text(broken.finding.reproducer, encoding="utf-8")
    alone = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert alone.returncode == 1
    assert alone.stderr.startswith(f"{broken.contract}: ")


def test_a_right_saver_survives_a_kill_at_each_statement() -> None:
    given = []
    for killed in KILLED:
        assert Injection.from_data(killed.as_data()) == killed
        given.append(with_faults((Put("a", "", 1), killed), (CopyThread("a", "b"), killed)))
    bundled = type("Bundled", (AtomicityMachine,), {"target": sqlite, "examples": tuple(given)})
    few = settings(bundled.TestCase.settings, database=None, max_examples=1)
    run_state_machine_as_test(bundled, settings=few)
