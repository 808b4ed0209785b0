"""Savers that many use at once: what is broken is found, and nothing else."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from tests.conformance.judging_support import EVERY_OPERATION, facts_from
from tests.conformance.selftest_support import EVERY_FAMILY
from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.reference.state_file import StateFileReference
from tests.wrong_savers import WRONG, WrongSaver, opener
from tests.wrong_savers.concurrency import NoLock, WritesReadAndWrittenBack
from tests.wrong_savers.in_threads import InThreads
from tests.wrong_savers.registry import WorkspaceLike

from saverproof import target
from saverproof.capability import Capability
from saverproof.contracts.registry import contract, contracts
from saverproof.families.concurrency import history_judging, reporting
from saverproof.families.concurrency.bench import CallerBench
from saverproof.families.concurrency.contract_ids import (
    INSTANCES,
    ITERATION,
    LATE,
    LOOP,
    NOTHING,
    ORDER,
    PROCESSES,
    THREADS,
    TORN,
)
from saverproof.families.concurrency.effort import EFFORTS, SceneEffort
from saverproof.families.concurrency.family import ConcurrencyFamily
from saverproof.families.concurrency.histories import CallPlan, Played, play_at_once
from saverproof.families.concurrency.history_judging import HistoryJudging
from saverproof.families.concurrency.judging import judge_history
from saverproof.families.concurrency.record import Problem, SceneRecord
from saverproof.families.concurrency.records import CallKind, Operation, TimedCall
from saverproof.families.concurrency.workload import Able
from saverproof.families.items import Finding, ItemPlan, Outcome
from saverproof.families.tally import Tally
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.savers.facts import METHODS
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.target import Target

BUNDLED = "saverproof_savers.targets:sqlite"
MUST_AND_SHOULD = {one.id for one in contracts("concurrency")}
CONCURRENT = [wrong for wrong in WRONG if wrong.breaks.startswith("concurrency/")]
BY_NIGHT = {
    "check-then-insert",
    "writes-read-and-written-back",
    "one-cursor-for-all",
    "read-in-two-steps",
    "prune-of-all-but-the-newest-it-read",
    "prune-of-questions-by-what-was-newest",
    "copy-table-by-table",
}
"""Wrong savers whose calls tasks make by night alone: another one of their contract is caught by
tasks by day, and the code that is wrong is the one that threads run.
"""
THROUGH = [
    *(pytest.param(wrong, "sync", id=wrong.name) for wrong in CONCURRENT if wrong.breaks != LOOP),
    # What another API shows of the same code, run in threads by the loop.
    *(
        pytest.param(wrong, "async", id=f"{wrong.name}, async")
        for wrong in CONCURRENT
        if (wrong.breaks == LOOP or issubclass(wrong.saver, InThreads))
        and (EVERY_FAMILY or wrong.name not in BY_NIGHT)
    ),
]
SCENES_ALONE = SceneEffort(shared=0, instances=0, processes=0, races=0)
SHORT = SceneEffort(shared=8, instances=3, processes=2, races=2, upkeep=3, upkeep_apart=2, places=6)
UPKEEP = SceneEffort(shared=1, instances=0, processes=0, races=0, upkeep=20, places=6)
"""Four histories told the rarest mistakes in five of six tries."""
FOR = {
    "threads-lose-nothing": SceneEffort(shared=60, instances=2, processes=1, races=0),
    "no-torn-reads": SceneEffort(shared=60, instances=2, processes=1, races=0),
    "linearizable": SceneEffort(shared=60, instances=1, processes=0, races=0),
    "instances-agree": SceneEffort(shared=0, instances=1, processes=0, races=0),
    "processes-lose-nothing": SceneEffort(shared=2, instances=2, processes=2, races=2),
    "first-use-race": SceneEffort(shared=1, instances=1, processes=1, races=2),
    "iteration-does-not-block": SceneEffort(shared=4, instances=1, processes=1, races=0),
    "reads-change-nothing": SceneEffort(shared=2, instances=1, processes=1, races=0),
    "loop-goes-on": SCENES_ALONE,
    "prune-spares-live-runs": UPKEEP,
    "copy-of-one-moment": UPKEEP,
    "deletion-is-whole": UPKEEP,
    "late-writer": UPKEEP,
}
"""What catches the wrong savers of a contract, and something of everything else. It ends once they
are caught, so that more costs nothing: on a machine with much else to do, races are rarer.
"""
GRAPHS = SceneEffort(shared=1, instances=0, processes=0, races=0, upkeep=1, places=6)
"""What is held at each of its places needs no luck."""
NOTHING_MORE = SceneEffort(shared=12, instances=1, processes=1, races=0)
"""For savers that many callers show no more of than one does: every history is played."""
EXCEPT = {
    # Its callers hang where someone tidies up beside them.
    "prune-takes-locks-in-another-order": UPKEEP,
    # No calls of a history are questions or answers of a graph.
    "prune-of-questions-by-what-was-newest": GRAPHS,
    "prune-writes-answers-anew": GRAPHS,
    "copy-of-questions-first": GRAPHS,
    "copy-takes-questions-away": GRAPHS,
    "deletion-fills-tables-anew": GRAPHS,
    "runs-deleted-with-new-questions": GRAPHS,
    # A scene of its own tells it: histories would all be played, for nothing.
    "values-found-by-version-alone": SCENES_ALONE,
}
"""What catches wrong savers that another scene tells than their contract's other ones."""


def attribute_of(wrong: WrongSaver) -> str:
    return wrong.name.replace("-", "_")


def is_durable(wrong: WrongSaver) -> bool:
    in_a_file = issubclass(wrong.saver, StateFileReference)
    return in_a_file or not issubclass(wrong.saver, ReferenceSaver)


SAVERS = SimpleNamespace(
    **{
        attribute_of(wrong): target(name=wrong.name, drop=wrong.drop, durable=is_durable(wrong))(
            wrong.make
        )
        for wrong in CONCURRENT
    }
)


def judged(
    where: str,
    folder: Path,
    api: str,
    monkeypatch: Any,
    effort: SceneEffort,
    only: str | None = None,
) -> Outcome:
    module, _, attribute = where.partition(":")
    ref = TargetRef(where, module, None, attribute)
    made = load(ref)
    facts = facts_of(made)
    monkeypatch.setitem(EFFORTS, "quick", effort)
    plan = ItemPlan(ref.to_json(), facts, "concurrency", api, "quick", 0, str(folder))
    tally = Tally(plan)
    for name in tally.wanted - {only} if only else ():
        tally.rule_out(name, "not asked for")
    ConcurrencyFamily().judge(plan, made, tally)
    return tally.outcome()


def facts_of(made: Target) -> dict[str, Any]:
    return {
        "durable": made.durable,
        "capabilities": [str(capability) for capability in Capability],
        "absent": {},
        "operations": {name: list(methods) for name, methods in METHODS.items()},
        "packages": {"langgraph-checkpoint": version("langgraph-checkpoint")},
        "opens_ms": 5.0,
    }


def blamed(outcome: Outcome) -> set[str]:
    return {finding.contract for finding in outcome.findings}


def the(outcome: Outcome, name: str) -> Finding:
    return next(f for f in outcome.findings if f.contract == f"concurrency/{name}")


@pytest.mark.parametrize("api", ["sync", "async"])
def test_the_bundled_saver_holds(api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = judged(BUNDLED, tmp_path, api, monkeypatch, SHORT)
    assert (outcome.findings, outcome.unknown) == ((), {})
    assert outcome.checked.keys() == MUST_AND_SHOULD - ({LOOP} if api == "sync" else set())
    # Every workspace is gone.
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("sp_")]


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(("wrong", "api"), THROUGH)
def test_a_wrong_saver_is_caught_and_rightly_blamed(
    wrong: WrongSaver,
    api: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reporting, "reproducer", lambda *arguments: "")
    where = f"tests.conformance.test_concurrency:SAVERS.{attribute_of(wrong)}"
    effort = EXCEPT.get(wrong.name, FOR[wrong.breaks.partition("/")[2]])
    found = blamed(judged(where, tmp_path, api, monkeypatch, effort))
    allowed = {wrong.breaks, *contract(wrong.breaks).implies, *wrong.also}
    assert wrong.breaks in found, f"not caught: {wrong.note}"
    assert found <= allowed, f"blamed for {sorted(found - allowed)} as well"


def test_no_contract_is_without_a_wrong_saver() -> None:
    assert {wrong.breaks for wrong in CONCURRENT} == MUST_AND_SHOULD


def test_no_contract_has_all_its_tasks_by_night() -> None:
    in_threads = [wrong for wrong in CONCURRENT if issubclass(wrong.saver, InThreads)]
    by_day = {wrong.breaks for wrong in in_threads if wrong.name not in BY_NIGHT}
    assert by_day == {wrong.breaks for wrong in in_threads}
    assert {wrong.name for wrong in in_threads} >= BY_NIGHT


@pytest.mark.parametrize(
    ("where", "api", "blocked"),
    [("langgraph_sqlite", "sync", "in cursor: with self.lock:"),
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


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(
    ("name", "found", "behind"),
    [
        ("forgetful", set(), "pending-writes/complete"),
        ("torn", {THREADS}, "pending-writes/complete"),
        ("repeating", set(), "identity/list-selects"),
        ("repeating_and_losing", {THREADS}, "identity/list-selects"),
        ("cut_short", set(), "upsert/regular-write-first-wins"),
    ],
)
def test_a_saver_that_is_wrong_with_one_caller_too_is_judged_by_what_is_wrong_with_many(
    name: str, found: set[str], behind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporting, "reproducer", lambda *arguments: "")
    where = f"tests.conformance.test_concurrency:{name}"
    effort = FOR["threads-lose-nothing"] if found else NOTHING_MORE
    outcome = judged(where, tmp_path, "sync", monkeypatch, effort)
    # What many callers show may also be, by chance, what follows from lost work.
    assert found <= blamed(outcome) <= found | ({TORN, ORDER, PROCESSES} if found else set())
    assert {one.contract for one in outcome.handed} == {behind}
    hidden = [why for why in outcome.unexercised.values() if "one caller alone" in why]
    assert hidden or found
    assert all(f"{behind} stands in the way" in why for why in hidden)
    assert outcome.unsettled == {}


class LastWriteForgotten(SqliteReference):
    def _rows_of_batch(self, writes: Any, task_id: str, path: str) -> Any:
        return super()._rows_of_batch(writes, task_id, path)[: max(len(writes) - 1, 1)]


class LastWriteForgottenAndNoLock(LastWriteForgotten, NoLock):
    pass


class Repeating(SqliteReference):
    """Lists a checkpoint once for each task that has written to it: a JOIN without DISTINCT."""

    def list(self, config: Any, **options: Any) -> Iterator[Any]:
        for found in super().list(config, **options):
            tasks = {task for task, _, _ in found.pending_writes}
            for _ in range(max(len(tasks), 1)):
                yield found


class RepeatingAndLosing(Repeating, WritesReadAndWrittenBack):
    pass


class BatchesSentAgainAreCutShort(SqliteReference):
    """Loses the last write of a task that writes again: callers do so, the rehearsal does not."""

    def _insert_writes(self, place: tuple[str, str, str], rows: Sequence[Any]) -> None:
        mine = "FROM writes WHERE thread = ? AND ns = ? AND id = ? AND task = ?"
        tasks = {row.task_id for row in rows}
        again = [t for t in tasks if self.database.rows(f"SELECT 1 {mine}", *place, t)]
        super()._insert_writes(place, rows)
        for task in again:
            last = f"(SELECT MAX(position) {mine})"
            self.database.run(f"DELETE {mine} AND position = {last}", *place, task, *place, task)


forgetful = target(name="forgetful")(opener(LastWriteForgotten))
repeating = target(name="repeating")(opener(Repeating))
repeating_and_losing = target(name="repeating-and-losing")(opener(RepeatingAndLosing))
cut_short = target(name="cut-short")(opener(BatchesSentAgainAreCutShort))
torn = target(name="torn")(opener(LastWriteForgottenAndNoLock))


class Registering(ReferenceSaver):
    """Nothing of its store is in files; a read of an unknown thread puts a checkpoint there."""

    def get_tuple(self, config: Any) -> Any:
        found = super().get_tuple(config)
        if found is None and not config["configurable"].get("checkpoint_id"):
            super().put(config, empty_checkpoint(), {"source": "input", "step": -1}, {})
        return found


registering = target(name="registering")(opener(Registering))
elsewhere = target(name="elsewhere")(opener(ReferenceSaver))


@pytest.mark.parametrize("api", ["sync", "async"])
def test_a_store_elsewhere_is_asked_what_another_saver_shows_of_it(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporting, "reproducer", lambda *arguments: "")
    here = "tests.conformance.test_concurrency"
    outcome = judged(f"{here}:registering", tmp_path, api, monkeypatch, SCENES_ALONE, NOTHING)
    assert "another saver lists" in the(outcome, "reads-change-nothing").observed
    outcome = judged(f"{here}:elsewhere", tmp_path, api, monkeypatch, SCENES_ALONE, NOTHING)
    assert "not in files of its workspace" in outcome.unknown[NOTHING]
    assert outcome.findings == ()


@pytest.mark.parametrize(
    ("where", "slow", "at_once"),
    [
        (BUNDLED, False, {5, 2}),
        (BUNDLED, True, {1}),
        # What is not in files may be in a server, whose connections are numbered.
        ("tests.conformance.test_concurrency:elsewhere", False, {1}),
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
    listing = TimedCall(0, Operation(CallKind.LIST, 2), 0, 9, error=error)
    events = [listing, TimedCall(1, Operation(CallKind.DELETE, 2), 1, 2)] if deleting else [listing]
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


@pytest.mark.parametrize("api", ["sync", "async"])
def test_who_tidies_up_may_be_told_to_come_again(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "tests.conformance.test_concurrency:refuses"
    few = SceneEffort(shared=0, instances=0, processes=0, races=0, upkeep=5, places=6)
    outcome = judged(where, tmp_path, api, monkeypatch, few)
    assert (outcome.findings, outcome.unknown) == ((), {})
    assert any("call it again" in error for error in outcome.extra["concurrency"]["raised"])
    assert outcome.checked[LATE]


class KeepsWhatIsTrue(SqliteReference):
    """Keeps answers for as long as neither it nor anyone else has changed the database."""

    def _kept(self) -> dict[Any, Any]:
        kept: dict[Any, Any] = self.__dict__.setdefault("kept", {})
        ((version,),) = self.database.rows("PRAGMA data_version")
        own = self.database.connection.total_changes
        if kept.get("at") != (version, own):
            kept.clear()
        kept["at"] = (version, own)
        return kept

    def _find(self, config: Any) -> Any:
        asked = (self._thread_of(config), self._get_ns(config), self._asked_id(config))
        kept = self._kept()
        if asked not in kept:
            kept[asked] = super()._find(config)
        return kept[asked]


keeps_what_is_true = target(name="keeps-what-is-true")(opener(KeepsWhatIsTrue))


def opens_once(workspace: WorkspaceLike) -> AbstractContextManager[Any]:
    """Refuse a second saver beside the first, as a database with one owner does."""
    (workspace.path / "owned").touch(exist_ok=False)
    return opener(SqliteReference)(workspace)


owned = target(name="owned")(opens_once)


def locked_at_first(workspace: WorkspaceLike) -> AbstractContextManager[Any]:
    """Refuse the first opening in each process, as SQLite does while another switches to its log,
    which nobody can wait for.
    """
    met = workspace.path / f"met-{os.getpid()}"
    if not met.exists():
        met.touch()
        raise sqlite3.OperationalError("database is locked")
    return opener(SqliteReference)(workspace)


locked = target(name="locked-at-first")(locked_at_first)


@pytest.mark.usefixtures("shared_harness")
def test_a_store_that_cannot_be_opened_at_once_is_opened_a_moment_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "tests.conformance.test_concurrency:locked"
    few = SceneEffort(shared=0, instances=0, processes=2, races=0)
    outcome = judged(where, tmp_path, "sync", monkeypatch, few, only=PROCESSES)
    assert (blamed(outcome), outcome.unknown) == (set(), {})
    assert outcome.checked[PROCESSES]


class OwnedDatabase(Database):
    """Belongs to who wrote first, as long as it is open; others are refused every look."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.owner = (folder / "owner").open("a")
        self.is_owned = False

    def writing(self) -> AbstractContextManager[None]:
        fcntl.flock(self.owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.is_owned = True
        return super().writing()

    def reading(self) -> AbstractContextManager[None]:
        if not self.is_owned:
            fcntl.flock(self.owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(self.owner, fcntl.LOCK_UN)
        return super().reading()

    def close(self) -> None:
        super().close()
        self.owner.close()


class OwnedOnceWritten(SqliteReference):
    """See its database."""

    database_class = OwnedDatabase


owned_once_written = target(name="owned-once-written")(opener(OwnedOnceWritten))


class ShowsMore(SqliteReference):
    """Shows who wrote a checkpoint more of its metadata than it shows others."""

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        answer = super().put(config, checkpoint, metadata, new_versions)
        self.__dict__.setdefault("own", set()).add(checkpoint["id"])
        return answer

    def _tuple(self, row: Any, *more: Any) -> Any:
        shown = super()._tuple(row, *more)
        if row.id in self.__dict__.get("own", ()):
            return shown._replace(metadata={**shown.metadata, "by": "me"})
        return shown


shows_more = target(name="shows-more")(opener(ShowsMore))


@pytest.mark.parametrize("api", ["sync", "async"])
def test_a_cache_that_asks_whether_it_still_holds_is_right(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "tests.conformance.test_concurrency:keeps_what_is_true"
    outcome = judged(where, tmp_path, api, monkeypatch, SCENES_ALONE, INSTANCES)
    assert (outcome.findings, outcome.unknown) == ((), {})
    assert outcome.checked[INSTANCES] > 200
    axes = outcome.extra["axes"]
    assert axes["untouched"] == []
    assert axes["pairs"]["covered"] == axes["pairs"]["of"]


def test_a_store_that_one_saver_owns_has_nobody_to_agree_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "tests.conformance.test_concurrency:owned"
    outcome = judged(where, tmp_path, "sync", monkeypatch, SCENES_ALONE, INSTANCES)
    assert outcome.findings == ()
    assert "beside the first" in outcome.inapplicable[INSTANCES]


@pytest.mark.parametrize("api", ["sync", "async"])
def test_a_store_of_which_others_are_refused_every_look_is_accused_of_nothing(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "tests.conformance.test_concurrency:owned_once_written"
    outcome = judged(where, tmp_path, api, monkeypatch, SCENES_ALONE, INSTANCES)
    assert (outcome.findings, outcome.unknown) == ((), {})
    assert "beside the first" in outcome.inapplicable[INSTANCES]


def test_what_nobody_but_the_writer_is_shown_is_not_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "tests.conformance.test_concurrency:shows_more"
    outcome = judged(where, tmp_path, "sync", monkeypatch, SCENES_ALONE, INSTANCES)
    assert outcome.findings == ()
    left = outcome.unsettled[INSTANCES]
    assert "no two savers agree; get_tuple('a', '', the latest)" in left["why"]
    assert '"by"' in left["why"]
    assert left["times"]
