"""Kill -9 shows what a program promised and did not keep."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from saverproof_faults.io import available
from saverproof_faults.kill import (
    DiedBy,
    Harness,
    HarnessError,
    KillAt,
    KillMissed,
    Writer,
)
from saverproof_faults.kill.plan import body_name

HERE = str(Path(__file__).parent)

needs_shim = pytest.mark.skipif(available() is not None, reason=str(available()))


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    with Harness(imports=["kill_bodies"], path=[HERE, *sys.path]) as harness:
        yield harness


def flaws(harness: Harness, body: str) -> set[str]:
    """What `body` broke when it was killed at each of its places."""
    with harness.folder() as folder:
        places = harness.trial(body, {"path": str(folder / "a.db")}).places
    found = set()
    for place in range(1, places + 1):
        with harness.folder() as folder:
            arguments = {"path": str(folder / "a.db")}
            result = harness.trial(body, arguments, kill=KillAt.place(place)).require_kill()
            seen = harness.look("kill_bodies:read", arguments).value
        assert seen["check"] == "ok"
        if not set(result.acknowledged) <= set(seen["whole"]) | set(seen["torn"]):
            found.add("lost")
        if seen["torn"]:
            found.add("torn")
    return found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("kill_bodies:write", set()),
        pytest.param("kill_bodies:write_counting_io", set(), marks=needs_shim),
        ("kill_bodies:write_lazily", {"lost"}),
        ("kill_bodies:write_rows", {"torn"}),
        # The page cache outlives the process: only a power cut shows this one.
        ("kill_bodies:write_unsynced", set()),
    ],
)
def test_each_place_is_one_to_die_at(harness: Harness, body: str, found: set[str]) -> None:
    assert harness.reason is None
    assert flaws(harness, body) == found


def test_a_random_instant_falls_anywhere_in_the_window(harness: Harness) -> None:
    reached = set()
    for seed in range(12):
        kill = KillAt.random(seed, window_s=0.05)
        result = harness.trial("kill_bodies:spin", kill=kill, deadline_s=60).require_kill()
        reached.add(result.places)
    assert len(reached) > 6


def test_a_body_that_ends_before_the_instant_was_not_killed(harness: Harness) -> None:
    result = harness.trial("kill_bodies:return_much", kill=KillAt(after_s=60.0))
    assert result.died_by is DiedBy.FINISHED


def test_a_seed_chooses_the_instant() -> None:
    assert KillAt.random(4, window_s=0.1) == KillAt.random(4, window_s=0.1)
    assert KillAt.random(4, window_s=0.1) != KillAt.random(5, window_s=0.1)


def test_marks_and_places_outlive_the_process(harness: Harness) -> None:
    with harness.folder() as folder:
        arguments = {"path": str(folder / "a.db")}
        result = harness.trial("kill_bodies:write", arguments, kill=KillAt.place(13))
    assert result.require_kill() is result
    assert result.places == 13
    assert len(result.started) == len(result.acknowledged) + 1 == 3
    assert result.in_flight == (2,)
    assert result.value is None


def test_marks_of_one_trial_are_gone_in_the_next(harness: Harness) -> None:
    with harness.folder() as folder:
        harness.trial("kill_bodies:write", {"path": str(folder / "a.db")})
    result = harness.trial("kill_bodies:raise_oserror")
    assert (result.started, result.acknowledged, result.places) == ((1,), (), 0)


def test_a_kill_that_never_came_is_no_result(harness: Harness) -> None:
    with harness.folder() as folder:
        arguments = {"path": str(folder / "a.db")}
        result = harness.trial("kill_bodies:write", arguments, kill=KillAt.place(10_000))
    assert result.died_by is DiedBy.FINISHED
    with pytest.raises(KillMissed, match="the process ended by returning"):
        result.require_kill()


def test_a_fresh_interpreter_sees_the_same(harness: Harness) -> None:
    with harness.folder() as folder:
        arguments = {"path": str(folder / "a.db")}
        harness.trial("kill_bodies:write", arguments, kill=KillAt.place(30)).require_kill()
        fresh = harness.look_afresh("kill_bodies:read", arguments)
        assert fresh.died_by is DiedBy.FINISHED
        assert fresh.value == harness.look("kill_bodies:read", arguments).value


def test_a_survivor_goes_on_when_the_other_writer_is_killed(harness: Harness) -> None:
    for place in (5, 15, 25):
        with harness.folder() as folder:
            arguments = {"path": str(folder / "a.db")}
            # Two writers that create one store at once may find it locked.
            harness.look("kill_bodies:read", arguments)
            killed, survivor = harness.together(
                [
                    Writer("kill_bodies:write", arguments, KillAt.place(place)),
                    Writer("kill_bodies:write_until_alone", arguments),
                ],
                deadline_s=30,
            )
            seen = harness.look("kill_bodies:read", arguments).value
        killed.require_kill()
        assert survivor.died_by is DiedBy.FINISHED, survivor.ending()
        assert seen["survivor"] == list(survivor.acknowledged) == list(range(1000, 1005))
        assert set(killed.acknowledged) <= set(seen["whole"])
        assert not seen["torn"]


def test_results_can_be_told_as_json(harness: Harness) -> None:
    assert len(json.dumps(harness.trial("kill_bodies:return_much").value)) > 1_000_000


def test_a_body_is_named_by_module_and_function(harness: Harness) -> None:
    with pytest.raises(ValueError, match=r"'module:function', got 'kill_bodies\.write'"):
        harness.trial("kill_bodies.write")


def test_a_function_is_named_as_another_process_finds_it() -> None:
    def local() -> None: ...

    assert body_name(json.dumps) == "json:dumps"
    with pytest.raises(ValueError, match=r"that can be imported, got .*<locals>\.local"):
        body_name(local)


@pytest.mark.parametrize("number", [0, -1])
def test_a_place_is_counted_from_one(number: int) -> None:
    with pytest.raises(ValueError, match="counted from 1"):
        KillAt.place(number)


def test_a_window_is_above_zero() -> None:
    with pytest.raises(ValueError, match="above 0 seconds"):
        KillAt.random(1, window_s=0)


def test_a_closed_harness_says_so() -> None:
    with Harness() as harness:
        pass
    with pytest.raises(HarnessError, match="not open"):
        harness.trial("kill_bodies:write")


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"no folder for trials can be made: .*missing"):
        Harness(scratch=tmp_path / "missing").__enter__()


def test_a_module_that_cannot_be_imported_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="importing no_such_module failed: ModuleNotFoundError"):
        Harness(imports=["no_such_module"], scratch=tmp_path).__enter__()
    assert not list(tmp_path.iterdir())
