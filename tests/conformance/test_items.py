"""What the judge tells the pytest side, as JSON and back."""

import json
from dataclasses import asdict

from saverproof.families.items import Finding, Outcome, Unsettled

SEEN: Unsettled = {
    "times": 83,
    "why": "it could not be shown again",
    "steps": ["put checkpoint 1", "get it"],
    "program": [{"op": "put"}],
}


def finding(contract: str) -> Finding:
    return Finding(
        contract=contract,
        api="sync",
        phase="functional",
        summary="it is gone",
        expected="1",
        observed="nothing",
        steps=("put checkpoint 1",),
        program=[{"op": "put"}],
        reproducer="",
        needs=("a fork",),
    )


def outcome() -> Outcome:
    return Outcome(
        checked={"upsert/put-replaces": 3},
        findings=(finding("upsert/put-is-idempotent"),),
        unknown={},
        inapplicable={},
        unexercised={},
        operations=1,
        saver_s=0.0,
        total_s=0.0,
        unsettled={"upsert/put-replaces": SEEN, "ordering/writes-sorted": SEEN},
        handed=(finding("ordering/writes-sorted"),),
        hidden_by={"upsert/reput-keeps-writes": ("upsert/put-is-idempotent",)},
    )


def test_what_an_item_leaves_open_and_hands_on_goes_through_json() -> None:
    assert Outcome.from_json(json.loads(json.dumps(asdict(outcome())))) == outcome()


def test_an_outcome_without_either_is_read() -> None:
    data = asdict(outcome())
    del data["unsettled"], data["handed"], data["hidden_by"]
    read = Outcome.from_json(data)
    assert (read.unsettled, read.handed, read.hidden_by) == ({}, (), {})


def test_of_what_was_not_asked_about_only_what_is_handed_on_is_kept() -> None:
    about = outcome().about(["upsert/put-replaces"])
    assert about.unsettled == {"upsert/put-replaces": SEEN}
    assert about.findings == ()
    assert [one.contract for one in about.handed] == ["ordering/writes-sorted"]
    assert about.hidden_by == {}


def test_what_is_in_the_way_of_what_was_asked_about_is_handed_on() -> None:
    about = outcome().about(["upsert/reput-keeps-writes"])
    assert about.findings == ()
    handed = [one.contract for one in about.handed]
    assert handed == ["ordering/writes-sorted", "upsert/put-is-idempotent"]
