"""Programs as they are made: legal, the same for the same seed, and using all that a theme has."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.wrong_savers.registry import opener

from saverproof import Target
from saverproof.families.machines.explaining.trials import ProgramRun, Trials
from saverproof.families.machines.registry import FUNCTIONAL_FAMILIES, MACHINES
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.programs.generating import next_step
from saverproof.programs.legality import objection
from saverproof.programs.model.store import Model
from saverproof.programs.steps.codec import from_json, to_json
from saverproof.programs.steps.definitions import DeleteForRuns, Program, Put, PutWrites
from saverproof.programs.theme import Theme
from saverproof.programs.values import Value
from saverproof.savers.targets.event_loop import EventLoop

RIGHT = Target(name="right", open=opener(ReferenceSaver))
MADE = [
    pytest.param(theme, id=f"{family}-{theme.name}")
    for family in FUNCTIONAL_FAMILIES
    for theme in MACHINES[family].themes
    if theme.script is None
]


def made(theme: Theme, folder: Path, programs: int) -> list[ProgramRun]:
    """What the random driver makes of a theme."""
    with EventLoop() as loop:
        trials = Trials(RIGHT, folder, loop, ("sync",))
        return [trials.make(theme.with_name_set(n), Random(f"seed {n}")) for n in range(programs)]


@pytest.mark.parametrize("theme", MADE)
def test_a_right_saver_breaks_nothing(theme: Theme, tmp_path: Path) -> None:
    runs = made(theme, tmp_path, 5)
    assert [run.breaches for run in runs] == [()] * 5


@pytest.mark.parametrize("theme", MADE)
def test_programs_are_the_same_for_the_same_seed(theme: Theme, tmp_path: Path) -> None:
    def programs() -> list[Program]:
        return [run.program for run in made(theme, tmp_path, 2)]

    assert programs() == programs()


@pytest.mark.parametrize("theme", MADE)
def test_programs_survive_the_way_through_json(theme: Theme, tmp_path: Path) -> None:
    for run in made(theme, tmp_path, 3):
        assert from_json(to_json(run.program)) == run.program


@pytest.mark.parametrize("theme", MADE)
def test_no_maker_of_a_theme_is_idle(theme: Theme, tmp_path: Path) -> None:
    idle = set(theme.weights)

    def watched(maker):  # type: ignore[no-untyped-def]
        def make(model: Model, choose: Random, theme: Theme):  # type: ignore[no-untyped-def]
            step = maker(model, choose, theme)
            if step is not None and objection(step, model) is None:
                idle.discard(maker)
            return step

        return make

    weights = {watched(maker): weight for maker, weight in theme.weights.items()}
    made(Theme(**{**_fields(theme), "weights": weights}), tmp_path, 12)
    assert idle == set()


def _fields(theme: Theme) -> dict[str, object]:
    return {name: getattr(theme, name) for name in theme.__slots__}


def test_a_step_is_always_found() -> None:
    theme = Theme("nothing to do", {lambda model, choose, theme: None: 1})
    assert isinstance(next_step(Model(), Random(0), theme), Put)


def _counting(updates: int, supersteps: int) -> dict[str, Any]:
    return {"counters_since_delta_snapshot": {"log": [updates, supersteps]}}


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (Put("a", "", 1, parent=1), "no ancestor of itself"),
        (Put("a", "", 1, parent=2), None),
        (Put("a", "", 2, copy_of=9), "needs its source"),
        (Put("a", "", 1, metadata=_counting(1, 1)), "has a version"),
        (Put("a", "", 1, metadata=_counting(0, 1)), "has a version"),
        (Put("a", "", 1, changes=(("log", None),), metadata=_counting(0, 0)), "counted once"),
        (Put("a", "", 1, changes=(("log", None),), metadata=_counting(1, 1)), None),
        (PutWrites("a", "", 1, 0, (), path="~p"), "null task"),
        (PutWrites("a", "", 1, 1, (), path="~p"), None),
    ],
)
def test_what_langgraph_never_does_is_not_legal(step: Put | PutWrites, why: str | None) -> None:
    found = objection(step, Model())
    assert (found is None) if why is None else (why in str(found))


def test_a_delta_channel_that_was_updated_may_have_its_version_from_the_parent() -> None:
    model = Model()
    model.apply(Put("a", "", 1, changes=(("log", Value("integer", 1)),)))
    assert objection(Put("a", "", 2, 1, metadata=_counting(1, 1)), model) is None
    assert objection(Put("a", "", 2, metadata=_counting(1, 1)), model) is not None


def test_no_copy_is_made_of_a_checkpoint_whose_parent_was_removed_and_put_again() -> None:
    model = Model()
    puts = (Put("a", "", 2, metadata={"run_id": "run-2"}), Put("a", "", 3, 2), Put("a", "", 1))
    copy = Put("a", "", 4, 2, copy_of=3)
    for step in puts:
        model.apply(step)
    assert objection(copy, model) is None
    for later in (DeleteForRuns(("run-2",)), Put("a", "", 2, 1)):
        model.apply(later)
    assert objection(copy, model) is not None
