"""Each step is one readable, printable line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from tests.conformance.step_strategies import of_fields

from saverproof.programs.steps.definitions import (
    KINDS,
    Extras,
    GetTuple,
    IdForm,
    ListTuples,
    Prune,
    Put,
    PutWrites,
    Reopen,
    Step,
)
from saverproof.programs.steps.describing import describe
from saverproof.programs.values import Value

ONE = Value("integer", 1)


@pytest.mark.parametrize(
    ("step", "line"),
    [
        (
            Put("a", "", 3, 2, changes=(("count", ONE), ("notes", None))),
            "put('a', '', checkpoint 3, parent 2, count=1, dropped: notes)",
        ),
        (
            Put("a", "", 1, metadata={"b": {"d": 1, "c": 2}}, node="my node", mutate_inputs=True),
            "put('a', '', checkpoint 1, metadata={'b': {'d': 1, 'c': 2}}, node 'my node'), "
            "then change what was given",
        ),
        (
            Put("a", "", 4, 2, copy_of=3),
            "put('a', '', checkpoint 4, parent 2, a copy of checkpoint 3)",
        ),
        (
            PutWrites("a", "child", 1, 2, (("it's", ONE),), path="~p"),
            "put_writes('a', 'child', checkpoint 1, task 2, [(\"it's\", 1)], path '~p')",
        ),
        (
            PutWrites("a", "", 1, 0, (), give_namespace=False),
            "put_writes('a', no namespace, checkpoint 1, task 0, [])",
        ),
        (GetTuple("a", "", 2), "get_tuple('a', '', checkpoint 2)"),
        (GetTuple("a", None), "get_tuple('a', no namespace, the latest)"),
        (GetTuple("a", "", id_form=IdForm.NONE), "get_tuple('a', '', checkpoint id None)"),
        (
            GetTuple("a", "", 1, extras=Extras(loop=True)),
            "get_tuple('a', '', checkpoint 1, config as the loop sends it)",
        ),
        (ListTuples("a", before=4, limit=2), "list('a', before=checkpoint 4, limit=2)"),
        (ListTuples(None, filter={"step": 2}), "list(None, filter={'step': 2})"),
        (Prune(("a", "b"), "delete"), "prune(['a', 'b'], strategy='delete')"),
        (Reopen(), "close the saver and open it again"),
    ],
)
def test_a_step_is_told_in_the_savers_words(step: Step, line: str) -> None:
    assert describe(step) == line


def test_names_that_look_alike_are_told_apart() -> None:
    assert describe(GetTuple("caf\u00e9")) != describe(GetTuple("cafe\u0301"))
    assert describe(GetTuple("a\n")).isascii()


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_any_step_is_one_printable_line(kind: type[Step]) -> None:
    @settings(max_examples=20, deadline=None, database=None)
    @given(of_fields(kind))
    def is_printable(step: Step) -> None:
        line = describe(step)
        assert line.isprintable()

    is_printable()
