"""Features of programs: what is taken out of a program is out for good."""

from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.step_strategies import steps

from saverproof.contracts.tables.serialization import CONFIG_METADATA_MERGED
from saverproof.judging.attribution.features import FEATURES
from saverproof.programs.renaming import threads_for_namespaces
from saverproof.steps.definitions import Extras, Program, Put


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
