"""Features of programs: what is taken out of a program is out for good."""

from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.step_strategies import steps

from saverproof.contracts.tables.serialization import CONFIG_METADATA_MERGED
from saverproof.families.machines.explaining.traits import traits
from saverproof.judging.attribution.features import FEATURES
from saverproof.programs.rewriting.renaming import threads_for_namespaces
from saverproof.programs.rewriting.rewritten import (
    ids_apart,
    never_asked_elsewhere,
    other_sides_kept,
)
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteThread,
    Extras,
    GetTuple,
    Program,
    Put,
    PutHistory,
)


@given(program=st.lists(steps(), max_size=6).map(tuple))
def test_taking_a_feature_out_again_adds_nothing(program: Program) -> None:
    for feature in FEATURES:
        without = feature.without(program)
        again = feature.without(without)
        assert len(again) <= len(without), feature.contract


def test_what_joins_the_metadata_is_given_as_such() -> None:
    extras = Extras(configurable={"user": 1, "__private": 2}, metadata={"step": 3, "tag": [4]})
    program: Program = (Put("a", "", 1, metadata={"step": 5}, extras=extras),)
    for feature in FEATURES:
        if feature.contract == CONFIG_METADATA_MERGED.id:
            program = feature.without(program)
    assert program == (Put("a", "", 1, metadata={"step": 5, "user": 1}),)


def test_only_further_namespaces_of_a_thread_get_a_thread_of_their_own() -> None:
    alone: Program = (Put("a", "child", 1), Put("a", "child", 2, 1), Put("b", "", 3))
    assert threads_for_namespaces(alone) == alone
    assert threads_for_namespaces((*alone, Put("a", "", 4))) == (*alone, Put("c", "", 4))


def test_an_id_that_is_only_asked_for_elsewhere_is_not_shared() -> None:
    asked: Program = (Put("a", "", 1), Put("a", "child", 2), GetTuple("a", "child", 1))
    assert ids_apart(asked) == asked
    assert never_asked_elsewhere(asked) == (*asked[:2], GetTuple("a", "child", 3))


def test_a_question_about_an_id_of_elsewhere_stays_one_where_ids_are_told_apart() -> None:
    shared: Program = (Put("a", "", 1), Put("a", "child", 1), GetTuple("a", "other", 1))
    assert ids_apart(shared) == (Put("a", "", 1), Put("a", "child", 2), GetTuple("a", "other", 1))
    assert ids_apart((*shared, GetTuple("a", "child", 1)))[-1] == GetTuple("a", "child", 2)


def test_a_copy_has_the_ids_of_its_source() -> None:
    copied: Program = (Put("a", "", 1), CopyThread("a", "b"), GetTuple("b", "child", 1))
    assert never_asked_elsewhere(copied) == (*copied[:2], GetTuple("b", "child", 2))
    assert never_asked_elsewhere((copied[0], copied[2])) == (copied[0], copied[2])


def test_another_thread_is_deleted_in_place_of_the_source_of_a_copy() -> None:
    copied: Program = (Put("a", "", 1), CopyThread("a", "b"), DeleteThread("a"))
    deleted = (Put("a-apart", "", 1), DeleteThread("a-apart"))
    assert other_sides_kept((*copied, GetTuple("b"))) == (*copied[:2], *deleted, GetTuple("b"))
    assert other_sides_kept((*copied, GetTuple("a"))) == (*copied, GetTuple("a"))


def test_a_key_of_metadata_is_taken_out_of_a_history_too() -> None:
    history = PutHistory("a", "", 1, 2)
    program: Program = (Put("a", "", 3, metadata={"run_id": "run-1"}), history)
    named = {trait.name: trait for trait in traits(program)}
    without = named["metadata 'run_id'"].without(program)
    assert [step.metadata for step in without if isinstance(step, Put)] == [
        {},
        {"source": "loop", "step": 1, "parents": {}},
        {"source": "loop", "step": 2, "parents": {}},
    ]


def test_a_key_of_metadata_is_taken_out_of_the_config_too() -> None:
    extras = Extras(configurable={"run_id": "run-1"}, metadata={"run_id": "run-2", "tag": 1})
    put = Put("a", "", 1, extras=extras)
    named = {trait.name: trait for trait in traits((put,))}
    assert named["metadata 'run_id'"].without((put,)) == (
        Put("a", "", 1, extras=Extras(configurable={}, metadata={"tag": 1})),
    )


def test_what_a_history_alone_notes_is_a_trait_of_it() -> None:
    named = {trait.name: trait for trait in traits((PutHistory("a", "", 1, 2),))}
    assert {"metadata 'run_id'", "metadata 'step'"} <= named.keys()
