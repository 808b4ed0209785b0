"""Rules and invariants that an author adds: searched, made short and told like those of the kit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import Phase, seed, settings
from hypothesis.database import InMemoryExampleDatabase
from hypothesis.stateful import run_state_machine_as_test

from saverproof import (
    ContractBroken,
    SaverMachine,
    Workspace,
    booleans,
    checkpoints,
    integers,
    invariant,
    rule,
    target,
    tasks,
    threads,
)
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import WriteRow
from saverproof.programs.steps.codec import from_json, to_json
from saverproof.programs.steps.definitions import OwnStep, Put, PutWrites
from saverproof.programs.values import Value
from saverproof.scripts import reproducers

LEAST = 3
Place = tuple[str, str, int]


class Compacting(ReferenceSaver):
    """A saver with operations of its own: both forget what they should keep."""

    def compact(self, keep: int) -> None:
        """Drop the pending writes of a checkpoint after the first ``keep``."""
        for shelf in self.store.shelves.values():
            for rows in shelf.writes.values():
                for key in list(rows)[keep:]:
                    del rows[key]


@target(name="compacting")
@contextmanager
def compacting(workspace: Workspace) -> Iterator[Any]:
    saver = Compacting.at(workspace.path)
    saver.setup()
    try:
        yield saver
    finally:
        saver.close()


class Compact(SaverMachine):
    target = compacting

    @rule(keep=integers(LEAST, 9))
    def compact(self, keep: int) -> None:
        """Making the store smaller changes nothing that is read."""
        self.saver.compact(keep)


class Bounded(SaverMachine):
    target = compacting

    @invariant
    def is_short(self) -> None:
        """A thread has at most two checkpoints."""
        for thread in self.model.threads:
            found = list(self.call("list", {"configurable": {"thread_id": thread}}))
            assert len(found) <= 2, f"{len(found)} checkpoints"


def by_random_driver(machine: type[SaverMachine]) -> None:
    machine.search(steps=4_000)


def by_hypothesis(machine: type[SaverMachine]) -> None:
    seed(0)(machine)
    enough = settings(machine.TestCase.settings, database=None, max_examples=300)
    run_state_machine_as_test(machine, settings=enough)


def derived(machine: type[SaverMachine]) -> type[SaverMachine]:
    """A class of its own, so that nothing is known of it from another test."""
    return type(machine.__name__, (machine,), {})


DRIVERS = pytest.mark.parametrize("driver", [by_random_driver, by_hypothesis])
Driver = Callable[[type[SaverMachine]], None]


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # A process for each script would take minutes; the tests of the docs run theirs.
    monkeypatch.setattr(reproducers, "complains", lambda text, promise: False)


@DRIVERS
def test_a_rule_is_searched_and_made_short(driver: Driver) -> None:
    with pytest.raises(ContractBroken) as caught:
        driver(derived(Compact))
    broken = caught.value
    assert broken.contract == "compact/compact"
    # Early writes show only when their checkpoint is put.
    (own,) = (step for step in broken.program if isinstance(step, OwnStep))
    assert own.arguments == {"keep": LEAST}
    # A checkpoint, one write more than is kept, in as many batches at most, and the rule.
    assert len(broken.program) <= 1 + LEAST + 1 + 1


def test_a_rule_is_blamed_for_what_shows_later() -> None:
    early = PutWrites("a", "", 1, 1, tuple(("notes", Value("integer", n)) for n in range(4)))
    compact = OwnStep("compact", "late/compact", arguments={"keep": LEAST})
    machine = type("Late", (Compact,), {"examples": ((early, compact, Put("a", "", 1)),)})
    with pytest.raises(ContractBroken) as caught:
        machine()
    assert caught.value.contract == "late/compact"


class WritesBackwards(Compacting):
    """Is right but for the order of writes, which the kit knows as a mistake."""

    def _ordered_writes(self, rows: Iterable[WriteRow]) -> list[WriteRow]:
        return super()._ordered_writes(rows)[::-1]


@target(name="backwards")
@contextmanager
def backwards(workspace: Workspace) -> Iterator[Any]:
    yield WritesBackwards.at(workspace.path)


class Looking(SaverMachine):
    target = backwards
    contracts = frozenset({"ordering/pages-tile"})
    looks = 0

    @rule()
    def look(self) -> None:
        """Looking at the store changes nothing."""
        type(self).looks += 1
        self.saver.get_tuple({"configurable": {"thread_id": "a"}})


@pytest.mark.parametrize(
    "driver", [by_random_driver, pytest.param(by_hypothesis, marks=pytest.mark.nightly)]
)
def test_a_rule_is_not_blamed_for_what_shows_without_it(driver: Driver) -> None:
    machine = derived(Looking)
    driver(machine)
    assert machine.looks > 0


@DRIVERS
def test_an_invariant_is_asked_after_every_step(driver: Driver) -> None:
    with pytest.raises(ContractBroken) as caught:
        driver(derived(Bounded))
    broken = caught.value
    assert broken.contract == "bounded/is-short"
    assert [type(step) for step in broken.program] == [Put] * 3


def test_a_class_names_its_invariants() -> None:
    named = Bounded.named_invariants()
    assert named["bounded/is-short"] == "A thread has at most two checkpoints."
    assert {"ordering/pages-tile", "pending-writes/same-in-list"} <= named.keys()
    few = type("Few", (Bounded,), {"contracts": frozenset({"ordering/pages-tile"})})
    assert few.named_invariants().keys() == {"ordering/pages-tile", "few/is-short"}


def test_what_is_printed_needs_no_knowledge_of_the_kit() -> None:
    with pytest.raises(ContractBroken) as caught:
        by_random_driver(derived(Compact))
    text = str(caught.value)
    assert text.startswith("compacting violates compact/compact\n")
    assert "  promise   Making the store smaller changes nothing that is read." in text
    assert f". compact(keep={LEAST})" in text
    assert "  expected  (" in text
    assert "  observed  [" in text
    assert "HypothesisRandom" not in text


def test_a_failing_program_is_kept_in_the_database_and_taken_first() -> None:
    database = InMemoryExampleDatabase()

    def run(examples: int) -> None:
        kept = settings(
            Compact.TestCase.settings,
            database=database,
            max_examples=examples,
            # Nothing is shortened: Hypothesis may take five minutes for it, and keeps what failed.
            phases=(Phase.reuse, Phase.generate),
        )
        # Of a class of the same name: as it is in the next process.
        run_state_machine_as_test(seed(0)(derived(Compact)), settings=kept)

    with pytest.raises(ContractBroken) as first:
        run(200)
    with pytest.raises(ContractBroken) as second:
        run(1)
    assert second.value.program == first.value.program


def test_programs_of_the_author_are_taken_first() -> None:
    batch = [f"c{n}" for n in range(LEAST + 1)]
    program = from_json(
        [
            {"step": "Put", "thread": "b", "namespace": "", "number": 7},
            {
                "step": "PutWrites",
                "thread": "b",
                "namespace": "",
                "number": 7,
                "task": 1,
                "writes": [[name, ["integer", 1]] for name in batch],
            },
            {
                "step": "OwnStep",
                "rule": "compact",
                "contract": "pinned/compact",
                "arguments": {"keep": LEAST},
            },
        ]
    )
    assert from_json(to_json(program)) == program
    machine = type("Pinned", (Compact,), {"examples": (program,)})
    with pytest.raises(ContractBroken):
        machine()


def test_a_rule_that_is_given_a_place_is_shrunk_with_it() -> None:
    class Placed(SaverMachine):
        target = compacting

        @rule(at=checkpoints, loud=booleans())
        def look(self, at: tuple[str, str, int], loud: bool) -> None:
            """A checkpoint that is there is no child's."""
            assert at[1] != "child" or not loud

    with pytest.raises(ContractBroken) as caught:
        by_random_driver(Placed)
    put, look = caught.value.program
    assert put == Put("a", "child", 1)
    assert look == OwnStep("look", "placed/look", "a", "child", 1, arguments={"loud": True})


@DRIVERS
def test_a_rule_may_be_given_several_places(driver: Driver) -> None:
    class Placed(SaverMachine):
        target = compacting

        @rule(thread=threads, one=checkpoints, other=checkpoints, task=tasks, weight=12)
        def link(self, thread: str, one: Place, other: Place, task: int) -> None:
            """Checkpoints of two threads are not linked."""
            assert thread in ("a", "b")
            assert None not in (self.model.record(one), self.model.record(other))
            assert one[0] == other[0], f"task {task} links {one} and {other}"

    with pytest.raises(ContractBroken) as caught:
        driver(Placed)
    *puts, link = caught.value.program
    assert [type(step) for step in puts] == [Put] * 2
    assert isinstance(link, OwnStep)
    assert from_json(to_json(caught.value.program)) == caught.value.program
    assert "link(" in str(caught.value)


def test_a_rule_may_tell_the_model_what_it_changes() -> None:
    cleared: list[str] = []

    class Clearing(SaverMachine):
        target = compacting

        @rule(thread=threads, weight=12)
        def clear(self, thread: str) -> None:
            """All of a thread goes."""
            cleared.append(thread)
            self.saver.delete_thread(thread)
            self.model.delete_thread(thread)

    Clearing.search(steps=1_000)
    assert cleared


def test_a_strategy_of_hypothesis_is_no_draw() -> None:
    with pytest.raises(TypeError, match="random driver cannot draw from strategies"):
        rule(keep=st.integers())  # type: ignore[arg-type]


def test_a_machine_without_a_target_says_so() -> None:
    with pytest.raises(Exception, match=r"Nameless\.target: found None"):
        type("Nameless", (SaverMachine,), {})()
