"""Broken contracts with one cause are one group; what to mend first is seen from their programs."""

from __future__ import annotations

from typing import Any

import pytest

from saverproof_reports.causes import also_broken, by_cause, cause_of, causes

ROOT, OTHER, THIRD = "upsert/first", "serialization/writes", "ordering/order"


def broken(name: str, **violation: Any) -> dict[str, Any]:
    """A contract with one violation."""
    plain = {"phase": "functional", "observed": "1", "steps": ["put"]}
    return {"id": name, "violations": [{**plain, **violation}]}


HELD = {"id": "identity/held", "violations": []}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {"goes_without": [ROOT]}),
        ({"also_shows": [OTHER]}, {"needs": ["special writes"]}),
        ({"also_shows": [OTHER]}, {"also_shows": [ROOT]}),
        ({"observed": "raised KeyError: 'ns'"}, {"observed": "raised KeyError: 'ns'"}),
        ({"needs": ["namespaces"]}, {"needs": ["namespaces"]}),
        ({"needs": ["a", "b"]}, {"needs": ["b", "a", "c"]}),
        ({"may_break": [OTHER]}, {}),
        ({"may_break": [OTHER], "needs": ["a"]}, {"needs": ["a", "b"]}),
    ],
)
def test_what_has_one_cause_is_one_group(first: dict[str, Any], second: dict[str, Any]) -> None:
    second = {**second, "steps": ["put", "put"]}
    (group,) = causes([HELD, broken(OTHER, **second), broken(ROOT, **first)])
    assert group["contract"] == ROOT
    assert [entry["contract"] for entry in group["also"]] == [OTHER]
    assert ROOT in group["also"][0]["why"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {}),
        # Whatever is read shows what needs nothing.
        ({}, {"also_shows": [ROOT]}),
        ({"needs": ["a"]}, {"needs": ["a", "b"]}),
        ({"needs": ["steps of kind PutWrites"]}, {"needs": ["steps of kind PutWrites"]}),
        ({"may_break": [OTHER], "needs": ["a"]}, {"needs": ["b"]}),
        ({"observed": "1"}, {"observed": "1"}),
        ({"goes_without": ["a/b"], "phase": "fault"}, {"goes_without": [ROOT]}),
    ],
)
def test_what_has_causes_of_its_own_is_in_no_group(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    assert causes([broken(ROOT, **first), broken(OTHER, **second)]) == []


@pytest.mark.parametrize("own", [{"needs": ["z", "y"]}, {"observed": "2", "needs": ["c"]}])
def test_a_contract_that_breaks_in_a_way_of_its_own_is_in_no_group(own: dict[str, Any]) -> None:
    first = broken(ROOT, needs=["a", "b"])
    second = broken(OTHER, needs=["a", "b", "c"])
    assert causes([first, second])
    second["violations"] += broken(OTHER, **own)["violations"]
    assert causes([first, second]) == []
    second["violations"][1] |= {"goes_without": [ROOT]}
    assert causes([first, second]), (
        "each is explained, one by its needs and one by what it goes without"
    )


def test_alike_programs_say_nothing_of_a_contract_with_a_mistake_of_its_own() -> None:
    first, second = broken(ROOT, needs=["a", "b"]), broken(OTHER, needs=["a", "b", "c"])
    assert causes([first, second])
    own = broken(OTHER, mistake="it forgets", mistake_of=OTHER)["violations"]
    assert causes([first, {**second, "violations": [*second["violations"], *own]}]) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # A filter needs metadata, and so does a look at what is wrong with them.
        ({}, {"goes_without": [ROOT]}),
        ({"also_shows": [OTHER]}, {"needs": ["special writes"]}),
        ({"may_break": [OTHER]}, {}),
    ],
)
def test_what_a_known_mistake_does_not_predict_does_not_follow_from_it(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    assert causes([broken(ROOT, **first), broken(OTHER, **second)])
    own = broken(ROOT, mistake="it forgets", mistake_of=ROOT, **first)
    assert causes([own, broken(OTHER, **second)]) == []


def test_what_a_mistake_of_another_contract_does_not_predict_does_not_follow_either() -> None:
    behind = broken(ROOT, mistake="it forgets", mistake_of=THIRD, may_break=[OTHER])
    assert causes([broken(ROOT, may_break=[OTHER]), broken(OTHER)])
    assert causes([behind, broken(OTHER)]) == []


def test_a_graph_that_a_known_mistake_makes_come_out_alike_is_a_consequence() -> None:
    first = broken(ROOT, mistake="it forgets", mistake_of=ROOT)
    second = broken(OTHER, phase="graph", mistakes_alike=["it drops", "it forgets"])
    (group,) = causes([second, first])
    assert group["contract"] == ROOT
    assert group["also"] == [
        {"contract": OTHER, "why": "a saver with that mistake alone shows it: it forgets"}
    ]


def test_a_graph_of_which_one_api_comes_out_otherwise_is_no_consequence() -> None:
    first = broken(ROOT, mistake="it forgets", mistake_of=ROOT)
    alike = broken(OTHER, phase="graph", mistakes_alike=["it forgets"])
    other = broken(OTHER, phase="graph", mistakes_alike=["it drops"])["violations"]
    assert causes([first, {**alike, "violations": [*alike["violations"], *other]}]) == []


def test_what_another_family_took_for_a_mistake_of_its_own_may_be_a_consequence() -> None:
    first = broken(ROOT, mistake="it forgets", mistake_of=ROOT)
    other = broken(OTHER, mistake="it drops", mistake_of=OTHER, mistakes_alike=["it forgets"])
    (group,) = causes([other, first])
    assert group["contract"] == ROOT
    assert [entry["contract"] for entry in group["also"]] == [OTHER]
    own = broken(OTHER, mistake="it drops", mistake_of=OTHER)["violations"]
    assert causes([{**other, "violations": [*other["violations"], *own]}, first]) == []


def test_a_contract_with_a_mistake_of_its_own_is_no_consequence() -> None:
    second = broken(OTHER, goes_without=[ROOT])
    own = broken(OTHER, mistake="it forgets", mistake_of=OTHER)["violations"]
    assert causes([broken(ROOT), second])
    assert causes([broken(ROOT), {**second, "violations": [*second["violations"], *own]}]) == []


def test_what_a_missing_method_raises_is_a_consequence() -> None:
    """That it is missing is seen without a program."""
    raised = broken(OTHER, mistake="list was never written", mistake_of=ROOT)
    (group,) = causes([raised, broken(ROOT, steps=[])])
    assert (group["contract"], group["also"][0]["contract"]) == (ROOT, OTHER)
    assert causes([raised, broken(ROOT)]) == []


def test_what_is_to_be_mended_first_stands_before_what_it_breaks() -> None:
    contracts = [broken(OTHER, goes_without=[ROOT]), broken(THIRD), broken(ROOT), HELD]
    judged = {"causes": causes(contracts)}
    order = [one["id"] for one in by_cause(judged, contracts)]
    assert order == [ROOT, OTHER, THIRD, HELD["id"]]
    assert [entry["contract"] for entry in also_broken(judged, ROOT)] == [OTHER]
    assert cause_of(judged, OTHER) == ROOT
    assert cause_of(judged, ROOT) is None
