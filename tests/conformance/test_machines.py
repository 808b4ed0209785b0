"""State machines: the public one that authors subclass, and the search with Hypothesis."""

from __future__ import annotations

import gc
import tempfile
import weakref
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random
from typing import ClassVar

import pytest
from hypothesis import Phase, seed, settings
from hypothesis.stateful import rule, run_state_machine_as_test
from tests.conformance.judging_support import EVERY_OPERATION, facts_from
from tests.conformance.selftest_support import target_of
from tests.wrong_savers import WRONG
from tests.wrong_savers.registry import opener

from saverproof import ContractBroken, SaverMachine, Target
from saverproof.families.functional.hypothesis_search import search_with_hypothesis
from saverproof.families.machines.explaining.trials import ProgramRun, Trials
from saverproof.families.machines.registry import FUNCTIONAL_FAMILIES, MACHINES
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.programs.makers import batches, checkpoints
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import DeleteThread, Put, PutWrites
from saverproof.programs.theme import Theme
from saverproof.savers.targets.event_loop import EventLoop

FEW = settings(
    max_examples=15,
    stateful_step_count=20,
    deadline=None,
    database=None,
    phases=(Phase.generate,),
)
RIGHT = Target(name="right", open=opener(ReferenceSaver))


def wrong(name: str) -> Target:
    """One of the deliberately wrong savers."""
    return target_of(next(saver for saver in WRONG if saver.name == name))


@pytest.fixture
def trials(tmp_path: Path) -> Iterator[Trials]:
    with EventLoop() as loop:
        yield Trials(RIGHT, tmp_path, loop, ("sync",))


def test_a_right_saver_passes() -> None:
    taken: list[int] = []

    class Machine(SaverMachine):
        target = RIGHT

        def teardown(self) -> None:
            super().teardown()
            taken.append(len(self.session.taken))

    run_state_machine_as_test(Machine, settings=FEW)
    assert sum(taken) > len(taken) >= FEW.max_examples


def test_a_wrong_saver_is_named_with_its_program() -> None:
    class Machine(SaverMachine):
        target = wrong("insert-only")

    with pytest.raises(ContractBroken, match="upsert/put-") as caught:
        run_state_machine_as_test(seed(0)(Machine), settings=settings(FEW, max_examples=100))
    assert "put(" in str(caught.value)
    assert caught.value.program


def test_only_the_enforced_contracts_count() -> None:
    broken: set[str] = set()

    class Machine(SaverMachine):
        target = wrong("insert-only")
        contracts = frozenset({"ordering/latest-is-greatest-id"})

        def teardown(self) -> None:
            super().teardown()
            broken.update(breach.contract for breach in self.session.breaches)

    run_state_machine_as_test(seed(0)(Machine), settings=settings(FEW, max_examples=60))
    assert broken
    assert broken.isdisjoint(Machine.contracts)


def test_rules_of_ones_own_take_steps() -> None:
    class Machine(SaverMachine):
        target = wrong("deletes-by-prefix")
        contracts = frozenset({"isolation/threads", "deletion/thread-all"})
        taken: ClassVar[list[DeleteThread]] = []

        @rule()
        def put_and_delete_another(self) -> None:
            self.take(Put("ab", "", 1))
            self.taken.append(DeleteThread("a"))
            self.take(self.taken[-1])

    with pytest.raises(ContractBroken):
        run_state_machine_as_test(seed(0)(Machine), settings=settings(FEW, max_examples=100))
    assert Machine.taken


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    class Machine(SaverMachine):
        target = wrong("insert-only")

    with pytest.raises(ContractBroken):
        run_state_machine_as_test(seed(0)(Machine), settings=settings(FEW, max_examples=100))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("family", FUNCTIONAL_FAMILIES)
def test_hypothesis_makes_every_program_of_a_saver_that_is_right(
    family: str, trials: Trials
) -> None:
    told: list[ProgramRun] = []
    able = facts_from(EVERY_OPERATION)["capabilities"]
    for theme in MACHINES[family].themes:
        if theme.script is None and theme.needs <= {*able}:
            search_with_hypothesis(MACHINES[family], trials, theme, 6, 1, told.append)
            assert len(told) >= 6
            told.clear()


def test_hypothesis_makes_every_program_of_a_saver_that_acts_by_whim(trials: Trials) -> None:
    whims = count()

    def by_whim(model: Model, choose: Random, theme: Theme) -> Put | PutWrites | None:
        # As a saver that answers otherwise each time makes the program go otherwise.
        choose.randrange(2 + next(whims))
        return checkpoints.put(model, choose, theme)

    told: list[ProgramRun] = []
    theme = Theme("whims", {by_whim: 1, batches.writes: 1}, length=10)
    search_with_hypothesis(SaverMachine, trials, theme, 30, 1, told.append)
    assert len(told) >= 30


def test_nothing_stays_of_a_search_with_hypothesis(trials: Trials) -> None:
    class Heard:
        def told(self, run: ProgramRun) -> None:
            assert run.program

    heard = Heard()
    theme = Theme("puts", {checkpoints.put: 1}, length=3)
    search_with_hypothesis(SaverMachine, trials, theme, 2, 1, heard.told)
    stays = weakref.ref(heard)
    del heard
    gc.collect()
    assert stays() is None
