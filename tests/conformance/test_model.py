"""The model by itself: what a right saver holds after each operation."""

from __future__ import annotations

from itertools import count

import pytest

from saverproof.programs.model.records import PendingWrite, Provenance
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import ListTuples, Prune, Put, PutWrites
from saverproof.programs.values import Value

ONE, TWO, THREE = (Value("integer", number) for number in (1, 2, 3))
PLACE = ("a", "", 1)


@pytest.fixture
def model() -> Model:
    return Model()


def put(model: Model, *steps: Put) -> None:
    """Put checkpoints; versions count up."""
    versions = count(1)
    for step in steps:
        model.apply(step, lambda _: next(versions))


def write(model: Model, *writes: tuple[str, Value], task: int = 0, path: str = "") -> None:
    """Put a batch of pending writes on the place."""
    model.put_writes(PutWrites(*PLACE, task, writes, path))


def shown(model: Model) -> list[tuple[int, str, Value]]:
    """The pending writes of the place."""
    return [(w.task, w.channel, w.value) for w in model.pending(PLACE)]


def values(model: Model, number: int) -> dict[str, Value | None]:
    """The channels of a checkpoint of the root namespace."""
    record = model.record(("a", "", number))
    assert record is not None
    return {name: channel.value for name, channel in record.channels.items()}


def numbers(model: Model, **asked: object) -> list[int]:
    """What a listing of thread a selects."""
    return [number for _, _, number in model.listing(ListTuples("a", "", **asked))]  # type: ignore[arg-type]


def test_a_channel_is_carried_until_it_changes(model: Model) -> None:
    first = Put("a", "", 1, changes=(("x", ONE), ("y", TWO)))
    put(model, first, Put("a", "", 2, 1, changes=(("x", THREE),)))
    assert values(model, 2) == {"x": THREE, "y": TWO}
    record = model.record(("a", "", 2))
    assert record is not None
    assert record.channels["y"].provenance is Provenance.CARRIED
    assert record.channels["y"].version < record.channels["x"].version


def test_a_dropped_channel_stays_dropped(model: Model) -> None:
    first = Put("a", "", 1, changes=(("x", ONE),))
    put(model, first, Put("a", "", 2, 1, changes=(("x", None),)), Put("a", "", 3, 2))
    assert values(model, 3) == {"x": None}


def test_a_fork_has_the_channels_of_its_parent_alone(model: Model) -> None:
    put(model, Put("a", "", 1), Put("a", "", 2, 1, changes=(("x", ONE),)), Put("a", "", 3, 1))
    assert values(model, 3) == {}


@pytest.mark.parametrize(
    "late",
    [
        pytest.param([Put("a", "", 1, changes=(("x", ONE),))], id="a parent that comes late"),
        pytest.param(
            [Put("a", "", 1), Put("a", "", 1, changes=(("x", ONE),))], id="a parent put again"
        ),
    ],
)
def test_a_version_stands_for_one_value_along_a_line(model: Model, late: list[Put]) -> None:
    child, grandchild = Put("a", "", 2, 1, changes=(("x", TWO),)), Put("a", "", 3, 2)
    for step in (child, grandchild, *late):
        model.apply(step)
    first, third = (model.record(("a", "", number)) for number in (1, 3))
    assert first is not None
    assert third is not None
    assert first.channels["x"].version != third.channels["x"].version


def test_a_copy_has_the_values_and_versions_of_its_source(model: Model) -> None:
    put(model, Put("a", "", 1, changes=(("x", ONE),)), Put("a", "", 2, copy_of=1))
    one, two = (model.record(("a", "", number)) for number in (1, 2))
    assert one is not None
    assert two is not None
    assert two.channels["x"].version == one.channels["x"].version
    assert two.channels["x"].value == ONE


def test_a_second_put_replaces_and_keeps_the_writes(model: Model) -> None:
    put(model, Put(*PLACE, changes=(("x", ONE),), metadata={"old": 1}))
    write(model, ("x", TWO))
    put(model, Put(*PLACE, changes=(("y", TWO),), metadata={"new": 1}))
    record = model.record(PLACE)
    assert record is not None
    assert values(model, 1) == {"y": TWO}
    assert record.metadata == {"new": 1}
    assert record.stale == {"old": 1}
    assert shown(model) == [(0, "x", TWO)]


def test_the_same_put_again_takes_no_new_versions(model: Model) -> None:
    step = Put(*PLACE, changes=(("x", ONE),))
    put(model, step)
    planned = model.plan_put(step, lambda _: pytest.fail("asked for a version"))
    assert planned.again
    assert planned.new_versions == {"x": 1}


def test_the_first_regular_write_of_a_place_in_the_batch_stays(model: Model) -> None:
    write(model, ("x", ONE))
    write(model, ("y", TWO), ("z", THREE))
    assert shown(model) == [(0, "x", ONE), (0, "z", THREE)]


def test_the_last_special_write_stays(model: Model) -> None:
    write(model, ("__error__", ONE))
    write(model, ("__error__", TWO), ("x", THREE))
    assert shown(model) == [(0, "__error__", TWO), (0, "x", THREE)]


def test_writes_are_sorted_by_path_then_task_then_index(model: Model) -> None:
    write(model, ("x", ONE), ("__resume__", TWO), task=1, path="b")
    write(model, ("y", THREE), task=2, path="a")
    first, *others = shown(model)
    assert first == (2, "y", THREE)
    assert others == [(1, "__resume__", TWO), (1, "x", ONE)]


def test_an_empty_batch_stores_nothing(model: Model) -> None:
    assert model.put_writes(PutWrites(*PLACE, 0, ())) == {}
    assert model.writes == {}


def test_a_listing_is_newest_first_and_before_excludes(model: Model) -> None:
    put(model, Put("a", "", 2), Put("a", "", 1), Put("a", "", 3), Put("a", "child", 4))
    assert numbers(model) == [3, 2, 1]
    assert numbers(model, before=3) == [2, 1]
    assert numbers(model, number=2) == [2]
    assert model.latest("a", "") == 3
    assert {a[2] for a in model.listing(ListTuples("a"))} == {1, 2, 3, 4}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [({"source": "loop"}, [2]), ({"n": 1}, [1]), ({"n": True}, []), ({"gone": None}, [2, 1])],
)
def test_a_filter_compares_as_json_does(
    model: Model, wanted: dict[str, object], found: list[int]
) -> None:
    put(model, Put("a", "", 1, metadata={"n": 1}), Put("a", "", 2, metadata={"source": "loop"}))
    assert numbers(model, filter=wanted) == found


def test_deleting_a_thread_forgets_writes_without_a_checkpoint_too(model: Model) -> None:
    put(model, Put("a", "", 2), Put("b", "", 1))
    write(model, ("x", ONE))
    model.delete_thread("a")
    assert list(model.addresses()) == [("b", "", 1)]
    assert model.writes == {}
    assert model.gone == {("a", "", 2): "delete_thread", PLACE: "delete_thread"}


def test_deleting_runs_leaves_the_other_runs_of_a_thread(model: Model) -> None:
    put(model, Put("a", "", 1, metadata={"run_id": "r"}), Put("a", "", 2, 1))
    write(model, ("x", ONE))
    assert model.delete_for_runs(["r"]) == [PLACE]
    assert numbers(model) == [2]
    assert model.pending(PLACE) == []
    record = model.record(("a", "", 2))
    assert record is not None
    assert record.parent_may_be_gone


def test_a_copied_thread_stands_alone(model: Model) -> None:
    put(model, Put("a", "", 1, changes=(("x", ONE),)))
    write(model, ("x", ONE))
    model.copy_thread("a", "b")
    model.delete_thread("a")
    record = model.record(("b", "", 1))
    assert record is not None
    assert record.channels["x"].value == ONE
    assert [w.value for w in model.pending(("b", "", 1))] == [ONE]


def test_children_are_those_that_are_there(model: Model) -> None:
    put(model, Put("a", "", 1), Put("a", "", 2, 1), Put("a", "", 3, 1), Put("a", "ns", 4, 1))
    model.copy_thread("a", "b")
    model.remove(("a", "", 2), "prune")
    put(model, Put("a", "", 3, 2))
    assert [*model.children(("a", "", 1))] == []
    assert [*model.children(("a", "", 2))] == [3]
    assert [*model.children(("b", "", 1))] == [2, 3]
    model.delete_thread("b")
    assert not model.has_children(("b", "", 1))
    put(model, Put("b", "", 3, 1))
    assert [*model.children(("b", "", 1))] == [3]


def test_pruning_keeps_the_latest_and_leaves_the_others_open(model: Model) -> None:
    put(model, *(Put("a", "", number) for number in (1, 2, 3)), Put("b", "", 1))
    open_ = model.prune(Prune(("a",), "keep_latest"))
    assert sorted(open_) == [("a", "", 1), ("a", "", 2)]
    model.prune(Prune(("a",), "delete"))
    assert list(model.addresses()) == [("b", "", 1)]


def test_a_write_says_what_it_replaced(model: Model) -> None:
    write(model, ("__resume__", ONE))
    write(model, ("__resume__", TWO))
    replaced: PendingWrite = model.pending(PLACE)[0]
    assert (replaced.value, replaced.earlier) == (TWO, (ONE,))
    write(model, ("__resume__", ONE))
    assert model.pending(PLACE)[0].earlier == (ONE, TWO)
