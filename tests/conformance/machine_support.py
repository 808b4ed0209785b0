"""The machines of the families, on deliberately wrong savers."""

from __future__ import annotations

from hypothesis import seed, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.conformance.atomicity.test_atomicity_selftest import target_of as failing
from tests.conformance.selftest_support import api_of, family_of, target_of
from tests.wrong_savers import WrongSaver

from saverproof import AtomicityMachine, ContractBroken, SaverMachine
from saverproof.families.machines.registry import MACHINES


def machine_of(wrong: WrongSaver) -> type[SaverMachine]:
    """The machine of the family whose contract a wrong saver breaks, for that contract alone."""
    family = family_of(wrong)
    api = api_of(wrong, family)

    class Machine(MACHINES[family]):  # type: ignore[misc]
        target = target_of(wrong)
        apis = ("sync", "async") if api == "crossed" else (api,)
        contracts = frozenset({wrong.breaks})

    return Machine


def atomicity_machine_of(wrong: WrongSaver) -> type[AtomicityMachine]:
    """The machine of faults on a saver that is wrong under them."""

    class Machine(AtomicityMachine):
        target = failing(wrong)
        api = "sync" if "sync" in wrong.apis else "async"

    return Machine


def caught_by_hypothesis(
    machine: type[SaverMachine | AtomicityMachine], *, examples: int = 100, start: int = 0
) -> ContractBroken | None:
    """What Hypothesis alone finds, run as any state machine is."""
    plain = settings(machine.TestCase.settings, max_examples=examples, database=None)
    seed(start)(machine)
    try:
        run_state_machine_as_test(machine, settings=plain)
    except ContractBroken as broken:
        return broken
    return None


def caught_by_random_driver(
    machine: type[SaverMachine], *, steps: int = 5_000, start: int = 0
) -> ContractBroken | None:
    """What the random driver alone finds."""
    try:
        machine.search(steps=steps, seed=start)
    except ContractBroken as broken:
        return broken
    return None
