"""A run that later delta channels need: what its deletion may leave, and what it may not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.registry import opener

from saverproof import Target
from saverproof.families.machines.explaining.trials import Trials
from saverproof.mistakes.delta_changes import (
    ChainsOfBranchesCut,
    ChainsOfParentsAlone,
    ChainsOfRunsCut,
)
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.programs.directed.removals import DELTAS_OF_RUNS
from saverproof.savers.targets.event_loop import EventLoop
from saverproof_savers.targets import sqlite

KEEPS = "deletion/runs-keep-delta-chain"


class RefusesToCutDeltas(ReferenceSaver):
    """Refuses, as LangChain's guide recommends where nothing better is done yet."""

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        for shelf in self._all_shelves():
            if self._needed_by_others(shelf, {*self._ids_of_runs(shelf, run_ids)}):
                raise NotImplementedError("delete_for_runs: other runs' delta channels need this")
        super().delete_for_runs(run_ids)


class RefusesHalfway(RefusesToCutDeltas):
    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        for shelf in self._all_shelves():
            self._drop(shelf, [max(self._ids_of_runs(shelf, run_ids))])
        super().delete_for_runs(run_ids)


def target(saver: type) -> Target:
    return Target(name=saver.__name__, open=opener(saver))


def broken(target: Target, folder: Path) -> set[str]:
    """The contracts that the programs show to be broken."""
    with EventLoop() as loop:
        trials = Trials(target, folder, loop, ("sync", "async"))
        runs = [trials.replay(p, thorough=t) for p in DELTAS_OF_RUNS for t in (False, True)]
    return {breach.contract for run in runs for breach in run.breaches}


@pytest.mark.parametrize("right", [ReferenceSaver, RefusesToCutDeltas, SqliteReference])
def test_a_right_saver_keeps_what_is_needed_or_refuses(right: type, tmp_path: Path) -> None:
    assert broken(target(right), tmp_path) == set()


def test_the_bundled_saver_keeps_what_is_needed(tmp_path: Path) -> None:
    assert broken(sqlite, tmp_path) == set()


@pytest.mark.parametrize("wrong", [ChainsOfRunsCut, ChainsOfBranchesCut, ChainsOfParentsAlone])
def test_what_other_runs_need_is_missed(wrong: type, tmp_path: Path) -> None:
    assert broken(target(wrong), tmp_path) == {KEEPS}


def test_who_refuses_changes_nothing(tmp_path: Path) -> None:
    assert broken(target(RefusesHalfway), tmp_path) == {"deletion/runs"}
