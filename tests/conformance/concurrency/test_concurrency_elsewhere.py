"""Graphs that go on while another process tidies up, on the same store.

By night through the other API as well.
"""

from __future__ import annotations

import concurrent.futures
import fcntl
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.conformance.concurrency import concurrency_support
from tests.conformance.concurrency.upkeep_savers import (
    CopiesAnOlderMoment,
    CopiesNoWrites,
    DeletesTheRunsItFound,
)
from tests.conformance.script_runs import ended
from tests.conformance.selftest_support import EVERY_FAMILY
from tests.reference.log_file import LogFileReference
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers import opener
from tests.wrong_savers.in_threads import InThreads
from tests.wrong_savers.registry import WorkspaceLike
from tests.wrong_savers.upkeep import CopyTableByTable, DeletionInTwoTransactions
from tests.wrong_savers.upkeep_of_graphs import (
    CopyOfQuestionsFirst,
    DeletionFillsTablesAnew,
    PruneOfQuestionsByWhatWasNewest,
    RunsDeletedWithNewQuestions,
)

from saverproof import target
from saverproof.families.answer import Status
from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.records import OperationKind
from saverproof.families.concurrency.callers.schedules import is_zombie, runs_of
from saverproof.families.concurrency.children import CHILDREN
from saverproof.families.concurrency.contract_ids import COPY, PROCESSES
from saverproof.families.concurrency.family import ConcurrencyFamily
from saverproof.families.concurrency.graphs.calls_elsewhere import CallsElsewhere
from saverproof.families.concurrency.graphs.graph_scenes import _seen, beside_graphs
from saverproof.families.concurrency.graphs.graph_upkeep import UPKEEP_OF_GRAPHS
from saverproof.families.concurrency.held.holding import HoldPoint
from saverproof.families.concurrency.held.locks_seen import LockLooks
from saverproof.families.concurrency.histories.sequential_flaws import SequentialFlaws
from saverproof.families.concurrency.record import SceneRecord
from saverproof.families.concurrency.scripts.script_writing import script
from saverproof.families.items import ItemPlan
from saverproof.families.tally import Tally
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.reference import TargetRef
from saverproof.scripts.opening import opening_of

HERE = "tests.conformance.concurrency.test_concurrency_elsewhere"


def guarded(*names: str) -> Callable[[type], type]:
    """Have each of these methods keep the lock of this process from beginning to end: so nobody
    is beside it who has the same saver.
    """

    def with_lock(kind: Any) -> Any:
        def under_lock(name: str) -> Any:
            def call(self: Any, *given: Any, **named: Any) -> Any:
                with self.database.lock:
                    return getattr(kind, name)(self, *given, **named)

            return call

        return type(kind.__name__, (kind,), {name: under_lock(name) for name in names})

    return with_lock


class CopiesByNamespace(LogFileReference):
    """Lets go of the file between namespaces, and keeps the lock of its process."""

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        with self.store.lock:
            self._copied(target_thread_id, "", source_thread_id)
            with self.log.locked():
                self.catch_up()
            spaces = {one.ns for one in self._shelves_to_copy(source_thread_id)} - {""}
            for space in sorted(spaces):
                self._copied(target_thread_id, space, source_thread_id)

    def _copied(self, target: str, space: str, source: str) -> None:
        with self.log.locked():
            self.catch_up()
            self.events.clear()
            self._copy_shelf(
                self._shelf_for_writing(source, space), self._shelf_for_writing(target, space)
            )
            self.append()


class DiesOfACopy(InThreads, SqliteReference):
    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def opens_once(workspace: WorkspaceLike) -> Any:
    """Refuse a second saver beside the first, as a database with one owner does."""
    (workspace.path / "owned").touch(exist_ok=False)
    return opener(SqliteReference)(workspace)


SAVERS = SimpleNamespace(
    owned=target(name="owned")(opens_once),
    dies=target(name="dies")(opener(DiesOfACopy)),
    on_the_loop=target(name="on-the-loop")(opener(SqliteReference)),
    log=target(name="log")(opener(LogFileReference)),
    by_namespace=target(name="by-namespace")(opener(CopiesByNamespace)),
    **{
        name: target(name=name.replace("_", "-"))(opener(guarded(method)(kind)))
        for name, method, kind in (
            ("questions", "prune", PruneOfQuestionsByWhatWasNewest),
            ("table_by_table", "copy_thread", CopyTableByTable),
            ("questions_first", "copy_thread", CopyOfQuestionsFirst),
            ("tables_anew", "delete_thread", DeletionFillsTablesAnew),
            ("new_questions", "delete_for_runs", RunsDeletedWithNewQuestions),
            ("older_moment", "copy_thread", CopiesAnOlderMoment),
            ("two_transactions", "delete_thread", DeletionInTwoTransactions),
            ("runs_it_found", "delete_for_runs", DeletesTheRunsItFound),
            ("without_writes", "copy_thread", CopiesNoWrites),
        )
    },
)


def plan_for(name: str, folder: Path, api: str) -> tuple[ItemPlan, Any]:
    ref = TargetRef(f"{HERE}:SAVERS.{name}", HERE, None, f"SAVERS.{name}")
    made = load(ref)
    facts = concurrency_support.facts_of(made)
    return ItemPlan(ref.to_json(), facts, "concurrency", api, "quick", 0, str(folder)), made


@dataclass(frozen=True)
class Seen:
    """What came of graphs beside one operation."""

    met: bool
    record: SceneRecord
    behind: frozenset[str]


def seen_beside(
    kind: OperationKind, name: str, folder: Path, api: str = "sync", *, elsewhere: bool = True
) -> Seen:
    plan, made = plan_for(name, folder, api)
    record, flaws = SceneRecord(Tally(plan)), SequentialFlaws(plan, made)
    upkeep = UPKEEP_OF_GRAPHS[kind]
    with CallerBench.of(plan, made, CHILDREN) as bench:
        called = upkeep.by_another() if elsewhere else upkeep
        met = beside_graphs(bench, record, flaws, called, 3)
    return Seen(met, record, frozenset(flaws.known))


APIS = ("sync", "async")


def through(savers: Sequence[tuple[OperationKind, str]]) -> list[tuple[OperationKind, str, str]]:
    """Savers with the APIs through which they are judged: by day each through one of them."""
    return [
        (*saver, api)
        for number, saver in enumerate(savers)
        for api in (APIS if EVERY_FAMILY else APIS[number % 2 :][:1])
    ]


WRONG = [
    (OperationKind.PRUNE, "questions"),
    (OperationKind.COPY, "table_by_table"),
    (OperationKind.COPY, "questions_first"),
    (OperationKind.DELETE, "tables_anew"),
    (OperationKind.DELETE_RUN, "new_questions"),
]
RIGHT = [
    (OperationKind.PRUNE, "older_moment"),
    (OperationKind.COPY, "older_moment"),
    (OperationKind.DELETE, "two_transactions"),
    (OperationKind.DELETE_RUN, "runs_it_found"),
]


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(("kind", "name", "api"), through(WRONG))
def test_a_lock_of_one_process_keeps_no_other_out(
    kind: OperationKind, name: str, api: str, tmp_path: Path
) -> None:
    found = seen_beside(kind, name, tmp_path, api).record.found
    assert set(found) == {UPKEEP_OF_GRAPHS[kind].contract}
    (shown,) = found.values()
    assert "by another process: called as" in shown.problem.steps[1]


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(("kind", "name"), WRONG)
def test_it_is_right_within_its_process(kind: OperationKind, name: str, tmp_path: Path) -> None:
    assert seen_beside(kind, name, tmp_path, elsewhere=False).record.found == {}


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(("kind", "name", "api"), through(RIGHT))
def test_several_transactions_may_be_right_beside_another_process(
    kind: OperationKind, name: str, api: str, tmp_path: Path
) -> None:
    seen = seen_beside(kind, name, tmp_path, api)
    assert seen.met
    assert (seen.record.found, seen.record.tally.notes, seen.record.raised) == ({}, [], {})


@pytest.mark.usefixtures("shared_harness")
def test_what_a_copy_lacks_at_rest_is_another_familys(tmp_path: Path) -> None:
    seen = seen_beside(OperationKind.COPY, "without_writes", tmp_path)
    assert (seen.record.found, seen.behind) == ({}, {"deletion/copy-complete"})


@pytest.mark.usefixtures("shared_harness")
def test_a_finding_is_played_again(tmp_path: Path) -> None:
    (shown,) = seen_beside(OperationKind.COPY, "questions_first", tmp_path).record.found.values()

    def again(name: str) -> Status:
        plan, made = plan_for(name, tmp_path, "sync")
        return ConcurrencyFamily().replay(plan, made, COPY, shown.scene).status

    assert again("questions_first") is Status.FAILING
    assert again("older_moment") is Status.FIXED


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(
    ("kind", "name", "api"),
    [
        (OperationKind.PRUNE, "questions", "sync"),
        (OperationKind.COPY, "table_by_table", "async"),
    ],
)
def test_a_script_of_two_processes_shows_it(
    kind: OperationKind, name: str, api: str, tmp_path: Path
) -> None:
    (shown,) = seen_beside(kind, name, tmp_path, api).record.found.values()
    _, made = plan_for(name, tmp_path, api)
    opening = opening_of(made)
    assert opening is not None
    text = script(made, opening, shown.problem.contract, shown.scene, api)
    status, said = ended(text, tmp_path)
    assert (status, shown.problem.contract in said) == (1, True)
    right = text.replace(f"SAVERS.{name}(", "SAVERS.older_moment(")
    assert ended(right, tmp_path) == (0, "")


@pytest.mark.usefixtures("shared_harness")
def test_a_store_in_no_file_of_sqlite_is_written_to_by_the_other_process(tmp_path: Path) -> None:
    wrong, right = (seen_beside(OperationKind.COPY, n, tmp_path) for n in ("by_namespace", "log"))
    assert set(wrong.record.found) == {COPY}
    assert right.met
    assert (right.record.found, right.record.tally.notes, right.record.raised) == ({}, [], {})


@pytest.mark.usefixtures("shared_harness")
def test_a_process_that_tidies_up_and_dies_is_a_callers_loss(tmp_path: Path) -> None:
    record = seen_beside(OperationKind.COPY, "dies", tmp_path).record
    assert set(record.found) == {PROCESSES}


@pytest.mark.usefixtures("shared_harness")
def test_a_store_of_one_process_tells_nothing(tmp_path: Path) -> None:
    seen = seen_beside(OperationKind.COPY, "owned", tmp_path)
    assert (seen.met, seen.record.found) == (False, {})
    assert any("owned" in note for note in seen.record.tally.notes)


@pytest.mark.usefixtures("shared_harness")
def test_a_call_that_nobody_can_overtake_is_named(tmp_path: Path) -> None:
    # It makes all its calls on the event loop: no line of them is a place.
    seen = seen_beside(OperationKind.COPY, "on_the_loop", tmp_path, "async")
    assert (seen.met, seen.record.found, seen.record.tally.unknown) == (False, {}, {})
    (note,) = seen.record.tally.notes
    assert "by another process: held at no place" in note


def test_a_write_that_the_other_process_is_in_the_way_of_does_not_hang() -> None:
    written = concurrent.futures.Future[None]()

    def tick() -> None:
        if not written.done():
            written.set_result(None)

    said = iter([{"said": "write"}, {"said": "found", "places": []}])
    own: Any = SimpleNamespace(
        begun=lambda write: written, scene=SimpleNamespace(progress=SimpleNamespace(tick=tick))
    )
    messages: Any = SimpleNamespace(send=lambda it: None, receive=lambda: next(said))
    calls = CallsElsewhere(own, messages)
    probing = threading.Thread(
        target=calls.free_places, args=((("prune",), {}), (), 3), daemon=True
    )
    probing.start()
    probing.join(60)
    assert not probing.is_alive()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell")
def test_a_process_has_ended_and_a_thread_of_one_is_no_process() -> None:
    threads = (
        "import threading\n"
        "print(flush=True)\n"
        "while True:\n"
        "    one = threading.Thread(target=id, args=(1,))\n"
        "    one.start(), one.join()\n"
    )
    with subprocess.Popen([sys.executable, "-c", threads], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert not any(is_zombie(process.pid) for _ in range(1000))
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert is_zombie(process.pid)
    assert not is_zombie(process.pid)


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="the system does not tell")
def test_a_thread_that_is_given_its_lock_has_moved(tmp_path: Path) -> None:
    waits = (
        "import fcntl, sys, threading\n"
        "file = open(sys.argv[1], 'w')\n"
        "thread = threading.Thread(target=fcntl.flock, args=(file, fcntl.LOCK_EX))\n"
        "thread.start(), print(flush=True), thread.join(), print(flush=True)\n"
        "threading.Thread(target=sys.stdin.read).start()\n"
    )
    path, given = tmp_path / "lock", subprocess.PIPE
    command = [sys.executable, "-c", waits, str(path)]
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with subprocess.Popen(command, stdin=given, stdout=given) as process:
            assert process.stdout is not None
            assert process.stdin is not None
            process.stdout.readline()
            waiting = runs_of(process.pid)
            fcntl.flock(file, fcntl.LOCK_UN)
            process.stdout.readline()
            assert runs_of(process.pid) != waiting
            process.stdin.close()


def test_who_is_not_over_in_time_is_why_the_other_hears_nothing() -> None:
    late = {"hung": False, "seconds": 18.0, "stacks": "at work"}
    graphs: Any = SimpleNamespace(value={"trouble": "GoneError", "standstill": None})
    other: Any = SimpleNamespace(value={"trouble": None, "standstill": late})
    assert _seen([graphs, other]) == {"trouble": None, "standstill": late}
    ended: Any = SimpleNamespace(value={"trouble": "OSError: gone", "standstill": None})
    assert _seen([graphs, ended]) == ended.value


# -- locks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_lock_is_seen_from_outside(mode: str, tmp_path: Path) -> None:
    here = HoldPoint("saver.py", 1)
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode={mode}")
        connection.execute("CREATE TABLE one (number)")
        with LockLooks.of([tmp_path / "store.db"]) as looks:
            looks.at(here)
            connection.execute("BEGIN IMMEDIATE")
            looks.at(here)
            connection.execute("ROLLBACK")
            connection.execute("BEGIN")
            connection.execute("SELECT * FROM one").fetchall()
            looks.at(here)
            connection.execute("ROLLBACK")
            looks.at(here)
    # A reader is in the way of a writer's commit, unless there is a log.
    assert [free for _, free in looks.free] == [True, False, mode == "WAL", True]
