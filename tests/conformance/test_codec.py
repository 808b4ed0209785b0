"""Programs survive JSON, and what is no program is refused in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.step_strategies import of_fields, steps

from saverproof.programs.steps.codec import from_json, step_from_json, step_to_json, to_json
from saverproof.programs.steps.definitions import KINDS, IdForm, Put, PutWrites, Step
from saverproof.programs.values import Value


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_steps_of_every_class_come_back_equal(kind: type[Step]) -> None:
    @settings(max_examples=15, deadline=None, database=None)
    @given(of_fields(kind))
    def comes_back(step: Step) -> None:
        assert step_from_json(json.loads(json.dumps(step_to_json(step)))) == step

    comes_back()


@settings(max_examples=15, deadline=None, database=None)
@given(st.lists(steps(), max_size=5).map(tuple))
def test_programs_come_back_equal(program: tuple[Step, ...]) -> None:
    assert from_json(json.loads(json.dumps(to_json(program)))) == program


def test_fields_at_their_defaults_are_left_out() -> None:
    step = Put("a", "", 2, 1, changes=(("notes", Value("text", "x")), ("count", None)))
    assert step_to_json(step) == {
        "step": "Put",
        "thread": "a",
        "namespace": "",
        "number": 2,
        "parent": 1,
        "changes": [["notes", ["text", "x"]], ["count", None]],
    }


def test_enumerations_are_their_text() -> None:
    assert step_to_json(Put("a", "", 1, id_form=IdForm.EMPTY))["id_form"] == "empty"


def test_a_lone_surrogate_survives() -> None:
    step = PutWrites("\ud800", "", 1, 1, (("notes", Value("text", "\udfff")),))
    assert step_from_json(json.loads(json.dumps(step_to_json(step)))) == step


PUT = {"step": "Put", "thread": "a", "namespace": "", "number": 1}


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (None, "None"),
        ([[]], "step 1: found []"),
        ([{}], "step is None"),
        ([{"step": "Explode"}], "'Explode', expected one of Put"),
        ([{"step": "Step"}], "'Step'"),
        ([{"step": []}], "step is []"),
        ([PUT, {**PUT, "colour": 1}], "step 2: Put has a field 'colour'"),
        ([{"step": "Reopen", "thread": "a"}], "expected none"),
        ([{"step": "Put", "thread": "a", "number": 1}], "Put lacks the field 'namespace'"),
        ([{**PUT, "number": "1"}], "Put.number is '1', expected an integer"),
        ([{**PUT, "number": True}], "Put.number is True"),
        ([{**PUT, "omit_unchanged": 1}], "expected true or false"),
        ([{**PUT, "metadata": []}], "Put.metadata is [], expected an object"),
        ([{**PUT, "changes": {}}], "Put.changes is {}, expected a list"),
        ([{**PUT, "changes": [["a"]]}], "Put.changes[0] has 1 items, expected 2"),
        ([{**PUT, "changes": [["a", ["nonsense", 1]]]}], "no kind 'nonsense'"),
        ([{**PUT, "id_form": "sometimes"}], "Put.id_form: 'sometimes'"),
        ([{**PUT, "extras": {"loud": True}}], "Put.extras has a field 'loud'"),
    ],
)
def test_what_is_no_program_is_refused_in_one_line(data: Any, found: str) -> None:
    with pytest.raises(ValueError, match=r"expected|lacks|no kind|valid") as refused:
        from_json(data)
    assert found in str(refused.value)
    assert "\n" not in str(refused.value)


def test_rare_steps_are_read_by_whoever_has_imported_nothing_else() -> None:
    program = '[{"step": "TakeTurns", "number": 2}]'
    code = f"from saverproof.programs.steps.codec import from_json; print(from_json({program}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "(TakeTurns(number=2),)\n")
