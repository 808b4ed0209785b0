"""Wrong savers are caught by their family's machine under Hypothesis alone; right ones by none.

A sample; ``tests/benchmarks/bench_machines.py`` has all of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.machine_support import (
    atomicity_machine_of,
    caught_by_hypothesis,
    caught_by_random_driver,
    machine_of,
)
from tests.conformance.selftest_support import allowed
from tests.conformance.test_machines import RIGHT
from tests.wrong_savers import WRONG

from saverproof import AtomicityMachine, SaverMachine
from saverproof.families.atomicity import reporting
from saverproof.families.atomicity.trials import bench
from saverproof.families.atomicity.trials.worker import Worker
from saverproof.families.machines.registry import MACHINES
from saverproof.families.machines.suiting import suited_program
from saverproof.judging.scenes import FirstOperation
from saverproof.programs.small import checkpoint
from saverproof.programs.steps.definitions import DeleteThread
from saverproof.scripts import reproducers
from saverproof_savers.targets import sqlite

BY_NAME = {wrong.name: wrong for wrong in WRONG}
PROGRAMS = ("insert-only", "bytes-in-plain", "no-first-version")
FAULTS = ("error-swallowed", "rollback-at-the-next-begin", "closed-after-an-error")


@pytest.fixture(autouse=True)
def without_scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reproducers, "complains", lambda text, promise: False)
    monkeypatch.setattr(reporting, "long_reproducer", lambda *_, **__: "")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_wrong_saver_is_caught_by_its_familys_machine(name: str) -> None:
    broken = caught_by_hypothesis(machine_of(BY_NAME[name]), examples=300)
    assert broken is not None
    assert broken.contract in allowed(BY_NAME[name])


@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_saver_is_caught_by_faults(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "Worker", lambda *_: Worker(0.5))
    broken = caught_by_hypothesis(atomicity_machine_of(BY_NAME[name]), examples=100)
    assert broken is not None
    assert broken.contract in allowed(BY_NAME[name])


@pytest.mark.parametrize("family", MACHINES)
def test_the_reference_saver_passes_each_machine(family: str) -> None:
    machine = type("Right", (MACHINES[family],), {"target": RIGHT})
    assert caught_by_hypothesis(machine, examples=4) is None


@pytest.mark.parametrize("machine", [SaverMachine, AtomicityMachine])
def test_the_bundled_saver_passes(machine: type[SaverMachine | AtomicityMachine]) -> None:
    bundled = type("Bundled", (machine,), {"target": sqlite})
    assert caught_by_hypothesis(bundled, examples=4) is None


def test_given_programs_spare_a_saver_what_it_has_not() -> None:
    put = checkpoint("a", 1)
    assert suited_program((put, DeleteThread("a")), {"prune"}) == (put,)
    assert suited_program((put, DeleteThread("a")), {"delete_thread"}) == (put, DeleteThread("a"))
    first = FirstOperation("delete_thread", set_up=True)
    assert suited_program((first, put), {"prune"}) == (put,)
    assert suited_program((first, put), {"delete_thread"}) == (first, put)
    always = FirstOperation("put", set_up=True)
    assert suited_program((always, put), ()) == (always, put)


def test_what_a_given_program_shows_is_told_by_the_random_driver() -> None:
    machine = machine_of(BY_NAME["threads-as-paths"])
    broken = caught_by_random_driver(machine, steps=0)
    assert broken is not None
    assert broken.contract == "isolation/hostile-identifiers"
