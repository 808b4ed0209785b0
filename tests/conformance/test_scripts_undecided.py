"""Scripts that do not come to what they are about end with 2: nothing was shown."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.reproducer_support import of_a_shut_saver, of_the_right_saver, target_of
from tests.conformance.script_runs import CANNOT_TELL, ended

from saverproof.families.atomicity.scripts.plain_fault import PlainFault
from saverproof.families.atomicity.scripts.script_faults_of_sqlite import locked
from saverproof.families.atomicity.scripts.script_program import made
from saverproof.programs.steps.definitions import Put
from saverproof.scripts.kill_script import DIE, KillScript, KillSource
from saverproof.scripts.opening import opening_of

PROGRAM = (Put("a", "", 1), Put("a", "", 2, 1))


def kill_script(death: KillSource) -> str:
    """A script of a saver that has not committed, whose process dies after both puts."""
    target = target_of("commit-every-third")
    opening = opening_of(target)
    assert opening is not None
    run = KillScript(opening, PROGRAM, "sync", target.name)
    return run.killed("durability/acknowledged-survives", death, 2, 2)


def test_only_what_a_killed_process_left_is_held_against_a_saver(tmp_path: Path) -> None:
    script = kill_script(KillSource(DIE, after=True))
    assert ended(script, tmp_path)[0] == 1
    assert ended(of_the_right_saver(script), tmp_path)[0] == 0
    assert ended(of_a_shut_saver(script), tmp_path)[0] == CANNOT_TELL


def test_a_process_that_was_not_killed_decides_nothing(tmp_path: Path) -> None:
    status, said = ended(kill_script(KillSource("pass", after=True)), tmp_path)
    assert status == CANNOT_TELL
    assert said.endswith("the process was not killed, but ended with 0\nundecided\n")


def test_a_fault_that_cannot_be_made_decides_nothing(tmp_path: Path) -> None:
    lines = ["import sqlite3", "import sys", "path = '/nowhere'"]
    fault = locked("path + '/store.db'")
    assert fault.before
    status, said = ended("\n".join([*lines, *made(fault)]), tmp_path)
    assert status == CANNOT_TELL
    assert said.startswith("undecided, for the fault could not be made: OperationalError")


def test_a_fault_that_leaves_the_store_alone_is_made_as_it_is() -> None:
    assert made(PlainFault(before=("left.append(True)",))) == ["left.append(True)"]
