"""Savers that many use at once: right ones hold, and known ones are told as what they are.

By night, more of them, and through the other API.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from tests.conformance.concurrency.concurrency_support import (
    BUNDLED,
    SCENES_ALONE,
    blamed,
    judged,
    the,
)
from tests.conformance.concurrency.concurrent_savers import SAVERS
from tests.conformance.judging_support import EVERY_OPERATION, facts_from
from tests.nights import by_night
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers import opener
from tests.wrong_savers.in_threads import InThreads

from saverproof import target
from saverproof.contracts.registry import contracts
from saverproof.families.concurrency import history_judging, reporting
from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.records import Operation, OperationKind, TimedCall
from saverproof.families.concurrency.callers.workload import Able
from saverproof.families.concurrency.contract_ids import (
    ITERATION,
    LATE,
    LOOP,
    NOTHING,
    THREADS,
)
from saverproof.families.concurrency.effort import SceneEffort
from saverproof.families.concurrency.histories.history_playing import CallPlan, Played, play_at_once
from saverproof.families.concurrency.histories.judging import judge_history
from saverproof.families.concurrency.history_judging import HistoryJudging
from saverproof.families.concurrency.record import Problem, SceneRecord
from saverproof.families.items import ItemPlan
from saverproof.families.tally import Tally
from saverproof.mistakes.reference.saver import ReferenceSaver

MUST_AND_SHOULD = {one.id for one in contracts("concurrency")}
SHORT = SceneEffort(shared=8, instances=3, processes=2, races=2, upkeep=3, upkeep_apart=2, places=6)


@pytest.mark.parametrize("api", [by_night("sync"), "async"])
def test_the_bundled_saver_holds(api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = judged(BUNDLED, tmp_path, api, monkeypatch, SHORT)
    assert (outcome.findings, outcome.unknown) == ((), {})
    assert outcome.checked.keys() == MUST_AND_SHOULD - ({LOOP} if api == "sync" else set())
    # Every workspace is gone.
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("sp_")]


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(
    ("where", "api", "blocked"),
    [by_night("langgraph_sqlite", "sync", "in cursor: with self.lock:"),
     ("langgraph_sqlite_async", "async", "in setup: async with self.lock:")],
)  # fmt: skip
def test_the_official_savers_block_while_they_list(
    where: str, api: str, blocked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saver = f"saverproof_savers.targets:{where}"
    outcome = judged(saver, tmp_path, api, monkeypatch, SCENES_ALONE)
    assert blamed(outcome) == {"concurrency/iteration-does-not-block"}
    found = the(outcome, "iteration-does-not-block")
    # Both sides: the call that waits, and the listing that it waits for.
    assert blocked in found.observed
    assert "list: yield CheckpointTuple(" in found.observed
    assert "it was answered as soon as the listing had been closed" in found.observed
    # The script was run by itself, and complained.
    assert "saverproof" not in found.reproducer.partition('"""')[2].partition("#")[0]
    assert found.reproducer


@pytest.mark.usefixtures("shared_harness")
def test_the_saver_in_memory_breaks_where_it_is_iterated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saver = "saverproof_savers.targets:memory"
    outcome = judged(saver, tmp_path, "async", monkeypatch, SCENES_ALONE)
    found = the(outcome, "iteration-does-not-block")
    assert "dictionary changed size during iteration" in found.observed
    assert found.reproducer
    assert the(outcome, "reads-change-nothing").reproducer
    assert "((None) p1001" in the(outcome, "late-writer").observed
    assert the(outcome, "late-writer").reproducer
    assert len(outcome.findings) == 3


class Registering(ReferenceSaver):
    """Nothing of its store is in files; a read of an unknown thread puts a checkpoint there."""

    def get_tuple(self, config: Any) -> Any:
        found = super().get_tuple(config)
        if found is None and not config["configurable"].get("checkpoint_id"):
            super().put(config, empty_checkpoint(), {"source": "input", "step": -1}, {})
        return found


registering = target(name="registering")(opener(Registering))
elsewhere = target(name="elsewhere")(opener(ReferenceSaver))


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize("api", ["sync", "async"])
def test_a_store_elsewhere_is_asked_what_another_saver_shows_of_it(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporting, "reproducer", lambda *arguments: "")
    here = "tests.conformance.concurrency.test_concurrency"
    outcome = judged(f"{here}:registering", tmp_path, api, monkeypatch, SCENES_ALONE, NOTHING)
    assert "another saver lists" in the(outcome, "reads-change-nothing").observed
    outcome = judged(f"{here}:elsewhere", tmp_path, api, monkeypatch, SCENES_ALONE, NOTHING)
    assert "not in files of its workspace" in outcome.unknown[NOTHING]
    assert outcome.findings == ()


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(
    ("where", "slow", "at_once"),
    [
        (BUNDLED, False, {5, 2}),
        (BUNDLED, True, {1}),
        # What is not in files may be in a server, whose connections are numbered.
        by_night("tests.conformance.concurrency.test_concurrency:elsewhere", False, {1}),
    ],
)
def test_histories_are_played_at_once_where_stores_have_nothing_in_common(
    where: str, slow: bool, at_once: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: set[int] = set()

    def counted(bench: CallerBench, scripts: Sequence[CallPlan]) -> list[Played]:
        sizes.add(len(scripts))
        return play_at_once(bench, scripts)

    monkeypatch.setattr(history_judging, "play_at_once", counted)
    if slow:
        monkeypatch.setattr(history_judging, "SLOW_CALL_MS", 0.0)
    few = SceneEffort(shared=5, instances=0, processes=2, races=0)
    judged(where, tmp_path, "sync", monkeypatch, few, only=THREADS if slow else None)
    assert sizes == at_once


@pytest.mark.parametrize("deleting", [True, False])
def test_a_listing_that_raises_between_its_items_is_accused_of_that_alone(deleting: bool) -> None:
    error = "RuntimeError: dictionary changed size during iteration"
    listing = TimedCall(0, Operation(OperationKind.LIST, 2), 0, 9, error=error)
    events = (
        [listing, TimedCall(1, Operation(OperationKind.DELETE, 2), 1, 2)] if deleting else [listing]
    )
    problems = judge_history(events, shared=True).problems
    assert len(problems) == 1
    plan = ItemPlan({}, facts_from(EVERY_OPERATION), "concurrency", "sync", "quick", 0, "")
    bench: Any = SimpleNamespace(plan=plan, target=SAVERS.no_lock)
    judging = HistoryJudging(bench, SceneRecord(Tally(plan)), Able(), SHORT)
    assert judging.of_callers(problems) == problems
    known = Problem(ITERATION, "", "", f"the next item: raised {error}")
    judging.record.saw([known], {})
    assert judging.of_callers(problems) == []


class RefusesWhatChanged(InThreads, SqliteReference):
    """Looks first, and tidies up later if nothing has changed since; else it is to be called again,
    as is a writer of a thread that was deleted.
    """

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        found = self._seen()
        with self._unchanged_since(found):
            for thread in thread_ids:
                if strategy == "delete":
                    self._delete(thread)
                else:
                    self._keep_latest(thread)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        found = self._seen()
        with self._unchanged_since(found):
            self._copy_checkpoints(source_thread_id, target_thread_id)
            self._copy_writes(source_thread_id, target_thread_id)

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        row = self._row_of(config, checkpoint, metadata)
        with self.database.writing():
            if row.parent and not self._rows("thread = ? AND ns = ?", row.thread, row.ns):
                raise LookupError("the thread was deleted")
            self._insert_checkpoint(row)
        return self._put_answer(config, row)

    def _seen(self) -> int:
        return self.database.connection.total_changes

    @contextmanager
    def _unchanged_since(self, changes: int) -> Iterator[None]:
        with self.database.writing():
            if self.database.connection.total_changes != changes:
                raise RuntimeError("another caller has changed something: call it again")
            yield


refuses = target(name="refuses-what-changed")(opener(RefusesWhatChanged))


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize("api", ["sync", by_night("async")])
def test_who_tidies_up_may_be_told_to_come_again(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "tests.conformance.concurrency.test_concurrency:refuses"
    few = SceneEffort(shared=0, instances=0, processes=0, races=0, upkeep=5, places=6)
    outcome = judged(where, tmp_path, api, monkeypatch, few)
    assert (outcome.findings, outcome.unknown) == ((), {})
    assert any("call it again" in error for error in outcome.extra["concurrency"]["raised"])
    assert outcome.checked[LATE]
