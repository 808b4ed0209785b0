"""What a saver keeps when it is opened again, at once or after much other work."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.wrong_savers.registry import opener

from saverproof import Target
from saverproof.families.machines.explaining.trials import Trials
from saverproof.mistakes import lifecycle, snapshots, upsert
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.programs.directed.reopened import KEPT, SET_UP_AGAIN
from saverproof.programs.steps.definitions import Program
from saverproof.savers.targets.event_loop import EventLoop
from saverproof_savers.targets import sqlite

AT_ONCE = tuple(kept.at_once() for kept in KEPT.values())
AFTER_MUCH_WORK = tuple(kept.after_much_work() for kept in KEPT.values())


class SnapshotsOfAll(snapshots.Snapshots):
    """Makes snapshots that have all there is."""

    def _lose(self, shelf: object) -> None:
        pass


def target(saver: type) -> Target:
    return Target(name=saver.__name__, open=opener(saver))


def broken(target: Target, folder: Path, programs: Iterable[Program]) -> set[str]:
    """The contracts that the programs show to be broken."""
    with EventLoop() as loop:
        trials = Trials(target, folder, loop, ("sync",))
        runs = [trials.replay(program) for program in programs]
    return {breach.contract for run in runs for breach in run.breaches}


@pytest.mark.parametrize("right", [ReferenceSaver, SnapshotsOfAll])
def test_a_right_saver_is_accused_of_nothing(right: type, tmp_path: Path) -> None:
    assert broken(target(right), tmp_path, (*AT_ONCE, *AFTER_MUCH_WORK)) == set()


def test_the_commonest_flaw_of_released_savers_is_not_in_the_way(tmp_path: Path) -> None:
    """What a program meets besides may hide what it is for, and nothing would count as held."""
    saver = target(upsert.MixedBatchIgnores)
    assert broken(saver, tmp_path, (*AT_ONCE, *AFTER_MUCH_WORK)) == set()


def test_the_bundled_saver_is_accused_of_nothing(tmp_path: Path) -> None:
    assert broken(sqlite, tmp_path, (*AT_ONCE, *AFTER_MUCH_WORK)) == set()


# Which contract is blamed in the end is the self-test's to judge.
@pytest.mark.parametrize(
    "wrong",
    [
        snapshots.SnapshotWithoutEarlyWrites,
        snapshots.SnapshotOfTheNewestWrites,
        snapshots.SnapshotWithoutPaths,
        snapshots.SnapshotNumbersWritesAnew,
        snapshots.SnapshotWithoutRuns,
    ],
)
def test_what_a_snapshot_lacks_is_missed_after_much_work(wrong: type, tmp_path: Path) -> None:
    assert not broken(target(wrong), tmp_path, AT_ONCE)
    assert broken(target(wrong), tmp_path, AFTER_MUCH_WORK)


@pytest.mark.parametrize("wrong", [snapshots.ReplaysWithoutPaths, snapshots.ReplaysWithoutNones])
def test_what_a_replay_lacks_is_missed_at_once(wrong: type, tmp_path: Path) -> None:
    assert broken(target(wrong), tmp_path, AT_ONCE)


@pytest.mark.parametrize(
    "wrong",
    [
        lifecycle.SetupDropsTables,
        lifecycle.SetupEmptiesWrites,
        lifecycle.SetupTwiceRaises,
        lifecycle.SetupMigratesAgain,
    ],
)
def test_setting_up_again_needs_no_luck_to_be_seen(wrong: type, tmp_path: Path) -> None:
    assert "lifecycle/setup-idempotent" in broken(target(wrong), tmp_path, [SET_UP_AGAIN])


@pytest.mark.parametrize("saver", [ReferenceSaver, upsert.MixedBatchIgnores])
def test_a_saver_may_be_set_up_again(saver: type, tmp_path: Path) -> None:
    assert broken(target(saver), tmp_path, [SET_UP_AGAIN]) == set()
