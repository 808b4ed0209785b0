"""Which places are killed at: how far an operation is there, and which are never left out."""

from __future__ import annotations

from random import Random

from saverproof.families.durability.kills.kill_choice import SURE, KillPhase, chosen, phased
from saverproof.families.durability.kills.kill_places import KillPlace, PlaceKind
from saverproof.programs.small import WRITES, checkpoint


def statements(*events: tuple[str, str, str], operation: int = 0) -> list[KillPlace]:
    """Places in one operation, each its moment, its event and what stood there."""
    return [
        KillPlace(PlaceKind.STATEMENT, operation, number, event=event, moment=moment, about=about)
        for number, (moment, event, about) in enumerate(events, start=1)
    ]


ENGINE = "engine-statement"
BEGIN = [("before", ENGINE, "BEGIN"), ("after", ENGINE, "BEGIN")]
INSERT = [("before", ENGINE, "INSERT"), ("after", ENGINE, "INSERT")]
COMMIT = [("before", ENGINE, "COMMIT"), ("before", "transaction", ""), ("after", ENGINE, "COMMIT")]


def phases_of(places: list[KillPlace]) -> list[KillPhase]:
    return [one.phase for one in phased(places, WRITES)]


def test_the_phases_of_an_operation_of_one_transaction() -> None:
    found = phases_of(statements(*BEGIN, *INSERT, *COMMIT))
    assert found[0] is KillPhase.BEFORE_FIRST
    assert {*found[1:5]} == {KillPhase.BETWEEN}
    assert found[5:] == [KillPhase.IN_COMMIT, KillPhase.AFTER_COMMIT]


def test_what_lies_between_two_commits_has_a_phase_of_its_own() -> None:
    found = phases_of(statements(*INSERT, *COMMIT, *INSERT, *COMMIT))
    assert found[4:9] == [KillPhase.BETWEEN_COMMITS] * 5
    assert found[-1] is KillPhase.AFTER_COMMIT
    assert KillPhase.BETWEEN_COMMITS not in found[:4]


def test_what_makes_a_file_durable_counts_as_a_commit() -> None:
    calls = [
        KillPlace(PlaceKind.CALL, 0, number, moment=moment, about=f"the call of {name}()")
        for number, (name, moment) in enumerate(
            [("write", "before"), ("write", "after"), ("fsync", "before"), ("fsync", "after")], 1
        )
    ]
    assert phases_of(calls)[-1] is KillPhase.AFTER_COMMIT


def test_no_place_is_left_out_for_one_that_matters_less() -> None:
    places = [
        *statements(*BEGIN, *INSERT * 20, *COMMIT),
        *statements(*BEGIN, *INSERT * 20, *COMMIT, operation=1),
        *(KillPlace(PlaceKind.ACKNOWLEDGED, number) for number in (0, 1)),
    ]
    owned = [("a program", one) for one in phased(places, WRITES)]
    taken = chosen(owned, 12, Random(0))
    sure = [one for one in owned if one[1].phase in SURE]
    assert len(taken) == 12
    assert all(one in taken for one in sure)
    told = {(one.operation, one.phase) for _, one in taken}
    assert told == {(one.operation, one.phase) for _, one in owned}


def test_all_places_are_taken_where_there_are_kills_for_all() -> None:
    owned = [("a program", one) for one in phased(statements(*INSERT), WRITES)]
    assert chosen(owned, 2, Random(0)) == owned


def test_what_is_replaced_between_two_commits_is_never_left_out() -> None:
    apart = [*BEGIN, *INSERT, *COMMIT, *BEGIN, *INSERT, *COMMIT]
    places = [place for number in range(8) for place in statements(*apart, operation=number)]
    program = (*(checkpoint("a", number) for number in range(1, 8)), checkpoint("a", 3, seed=77))
    owned = [("a program", one) for one in phased(places, program)]
    for seed in range(20):
        taken = [one for _, one in chosen(owned, 6, Random(seed))]
        assert any(one.replacing and one.phase is KillPhase.BETWEEN_COMMITS for one in taken)


def test_what_follows_the_loss_of_a_file_has_a_phase_of_its_own() -> None:
    """A file that is emptied and written anew, after what was done has been saved."""
    calls = ["write log", "sync log", "truncate log", "write log", "sync log", "close log"]
    places = [
        KillPlace(PlaceKind.SYSTEM_CALL, 0, number, moment="before", about=about)
        for number, about in enumerate(calls, 1)
    ]
    found = phases_of(places)
    assert found[3] is KillPhase.AFTER_LOSS
    assert found.count(KillPhase.AFTER_LOSS) == 1
