"""Features of programs: what is taken out of a program is out for good."""

from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.step_strategies import steps

from saverproof.judging.attribution.features import FEATURES
from saverproof.steps.definitions import Program


@given(program=st.lists(steps(), max_size=6).map(tuple))
def test_taking_a_feature_out_again_adds_nothing(program: Program) -> None:
    for feature in FEATURES:
        without = feature.without(program)
        again = feature.without(without)
        assert len(again) <= len(without), feature.contract
