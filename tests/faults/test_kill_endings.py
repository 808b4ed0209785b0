"""However a trial's process ends, the harness tells it truly and leaves nothing of it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.kill_ends import has_ended

from saverproof_faults.kill import DiedBy, Harness, KillAt

HERE = str(Path(__file__).parent)


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    with Harness(imports=["kill_bodies"], path=[HERE, *sys.path]) as harness:
        yield harness


@pytest.mark.parametrize(
    ("body", "died_by", "line"),
    [
        ("raise_oserror", DiedBy.EXCEPTION, "an exception: OSError: disk full"),
        ("return_a_set", DiedBy.EXCEPTION, "Object of type set is not JSON serializable"),
        ("mark_beyond", DiedBy.EXCEPTION, "operations are numbered 0 to"),
        ("no_such_function", DiedBy.EXCEPTION, "has no attribute 'no_such_function'"),
        ("OPERATIONS", DiedBy.EXCEPTION, "is a int, not a function"),
        ("leave", DiedBy.EXIT, "leaving on its own with code 7"),
        ("terminate", DiedBy.SIGNAL, "SIGTERM"),
        ("kill_unplanned", DiedBy.SIGNAL, "SIGKILL"),
    ],
)
def test_an_ending_is_told(harness: Harness, body: str, died_by: DiedBy, line: str) -> None:
    result = harness.trial(f"kill_bodies:{body}")
    assert result.died_by is died_by
    assert line in result.ending()


def test_a_kill_by_somebody_else_is_not_the_planned_one(harness: Harness) -> None:
    result = harness.trial("kill_bodies:kill_unplanned", kill=KillAt.place(3))
    assert result.died_by is DiedBy.SIGNAL


def test_what_the_process_printed_is_kept(harness: Harness) -> None:
    assert harness.trial("kill_bodies:leave").output == "said before leaving\n"


def test_a_hang_ends_at_the_deadline_with_every_stack(harness: Harness) -> None:
    result = harness.trial("kill_bodies:hang_in_a_thread", deadline_s=1.0)
    assert result.died_by is DiedBy.DEADLINE
    assert result.ending() == "the process gave no answer by its deadline"
    assert "hang_in_a_thread" in result.stacks
    assert result.stacks.count("wait_for_ever") == 2


def test_a_look_that_fails_is_told(harness: Harness, tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"this is no database" * 100)
    view = harness.look("kill_bodies:read", {"path": str(tmp_path / "a.db")})
    assert view.died_by is DiedBy.EXCEPTION
    assert "file is not a database" in view.ending()


def test_a_look_that_hangs_ends_at_the_deadline(harness: Harness) -> None:
    view = harness.look("kill_bodies:wait_afresh", deadline_s=0.5)
    assert view.died_by is DiedBy.DEADLINE
    assert "wait_afresh" in view.stacks


def test_what_a_process_started_ends_with_it(harness: Harness) -> None:
    assert has_ended(harness.trial("kill_bodies:start_a_process").value, patience_s=10)


def test_the_harness_goes_on_after_any_of_them(harness: Harness) -> None:
    for body in ("leave", "kill_unplanned", "raise_oserror"):
        harness.trial(f"kill_bodies:{body}")
        assert harness.trial("kill_bodies:return_much").died_by is DiedBy.FINISHED
