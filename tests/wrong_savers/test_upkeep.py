"""A run that goes on beside who tidies up shows each wrong saver of that kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from saverproof.mistakes.reference.saver import ReferenceSaver
from tests.reference.blobs import BlobReference
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.outside_the_lock import (
    RunsDeletedInAnothersTransaction,
    RunsDeletedOutsideTheLock,
)
from tests.wrong_savers.scenes.failing import prepared
from tests.wrong_savers.scenes.probe import Probe
from tests.wrong_savers.support import opening
from tests.wrong_savers.upkeep import (
    CopyLocksThreadsAsTheyAreNamed,
    CopyOfTwoReads,
    CopyRowByRow,
    CopyTableByTable,
    DeletionInTwoTransactions,
    ParentStoredAgain,
    PruneOfAllButTheNewestItRead,
    PruneOfEarlyWrites,
    PruneTakesLocksInAnotherOrder,
    RunsDeletedByThread,
    StoredValuesLookedUpFirst,
    ValuesFoundByVersionAlone,
)
from tests.wrong_savers.upkeep_of_graphs import (
    CopyOfQuestionsFirst,
    CopyTakesQuestionsAway,
    DeletionFillsTablesAnew,
    PruneOfChainsByWhatWasNewest,
    PruneOfQuestionsByWhatWasNewest,
    PruneWritesAnswersAnew,
    RunsDeletedWithNewQuestions,
)


@contextmanager
def before_transaction(
    probe: Probe, place: int, action: Callable[[], object], kind: str = "writing"
) -> Iterator[None]:
    """Let another caller act just before a transaction of a kind, counted from one."""
    database = probe.saver.database
    really_beginning = getattr(database, kind)
    begun: list[int] = []

    def beginning() -> Any:
        begun.append(1)
        if len(begun) == place:
            action()
        return really_beginning()

    with mock.patch.object(database, kind, beginning):
        yield


def pruned_beside_a_put(probe: Probe) -> bool:
    with before_transaction(probe, 1, lambda: probe.put(3, parent=2)):
        probe.call("prune", ["a"])
    return 3 in probe.ids(probe.config())


def pruned_beside_early_writes(probe: Probe) -> bool:
    probe.write(3, [("x", 1)], "t9")
    probe.call("prune", ["a"])
    probe.put(3, parent=2)
    return bool(probe.pending("a", "", 3))


def pruned_beside_a_question(probe: Probe) -> bool:
    def ask() -> None:
        probe.put(3, parent=2)
        probe.write(3, [("__interrupt__", "who?")], "t9")

    with before_transaction(probe, 2, ask):
        probe.call("prune", ["a"])
    return 3 not in probe.ids(probe.config()) or bool(probe.pending("a", "", 3))


def pruned_beside_an_answer(probe: Probe) -> bool:
    probe.write(2, [("__resume__", ["one"])], "t9")
    answer = [("__resume__", ["one", "two"])]
    with before_transaction(probe, 1, lambda: probe.write(2, answer, "t9")):
        probe.call("prune", ["a"])
    return ["one", "two"] in [value for *_, value in probe.pending("a", "", 2)]


def pruned_beside_a_delta(probe: Probe) -> bool:
    def update(number: int) -> None:
        since = {"counters_since_delta_snapshot": {"log": [number - 1, number - 1]}}
        probe.put(number, thread="d", parent=number - 1, drop=["log"], metadata=since)

    probe.put(1, thread="d", values={"log": ["in"]})
    update(2)
    with before_transaction(probe, 1, lambda: update(3)):
        probe.call("prune", ["d"])
    return {1, 2} <= {*probe.ids(probe.config("d"))}


def go_on(probe: Probe) -> None:
    probe.put(3, parent=2)
    probe.write(3, [("x", 1)], "t9")


def copied_beside_a_batch(probe: Probe) -> bool:
    with before_transaction(probe, 2, lambda: go_on(probe)):
        probe.call("copy_thread", "a", "c")
    return 3 not in probe.ids(probe.config("c")) or bool(probe.pending("c", "", 3))


def copied_beside_a_deletion(probe: Probe) -> bool:
    probe.write(2, [("x", 1)], "t9")
    with before_transaction(probe, 2, lambda: probe.delete("a"), "reading"):
        probe.call("copy_thread", "a", "c")
    return 2 not in probe.ids(probe.config("c")) or bool(probe.pending("c", "", 2))


def copied_beside_a_subgraph(probe: Probe) -> bool:
    def step() -> None:
        probe.put(3, parent=2)
        probe.put(5, ns="child", parent=4)

    probe.put(4, ns="child")
    with before_transaction(probe, 2, step):
        probe.call("copy_thread", "a", "c")
    copied = (probe.id_of("c", "child"), probe.id_of("c", ""))
    return copied in {(4, 2), (5, 3)}


def copied_beside_an_answer(probe: Probe) -> bool:
    def answer() -> None:
        probe.write(2, [("__resume__", ["one"])], "t9")
        probe.put(3, parent=2)

    with before_transaction(probe, 2, answer):
        probe.call("copy_thread", "a", "c")
    answers = [value for _, channel, value in probe.pending("c", "", 2) if channel == "__resume__"]
    return 3 not in probe.ids(probe.config("c")) or answers == [["one"]]


def asked_beside_a_copy(probe: Probe) -> bool:
    probe.write(2, [("__interrupt__", "who?")], "t9")
    seen = [probe.pending("a", "", 2)]
    with before_transaction(probe, 2, lambda: seen.append(probe.pending("a", "", 2))):
        probe.call("copy_thread", "a", "c")
    return all(one == seen[0] for one in seen)


def put_beside_a_deletion(probe: Probe) -> bool:
    with before_transaction(probe, 1, lambda: probe.put(3, thread="b")):
        probe.call("delete_thread", "a")
    return 3 in probe.ids(probe.config("b"))


def runs_deleted_beside_a_question(probe: Probe) -> bool:
    probe.put(1, thread="r", metadata={"run_id": "old"})
    new = {"run_id": "new"}
    probe.put(2, thread="r", parent=1, metadata=new)

    def ask() -> None:
        probe.put(3, thread="r", parent=2, metadata=new)
        probe.write(3, [("__interrupt__", "who?")], "t9", thread="r")

    with before_transaction(probe, 2, ask):
        probe.call("delete_for_runs", ["old"])
    return 3 not in probe.ids(probe.config("r")) or bool(probe.pending("r", "", 3))


def runs_deleted_beside_a_put(probe: Probe) -> bool:
    probe.put(1, thread="r", metadata={"run_id": "old"})
    new = {"run_id": "new"}
    with before_transaction(probe, 1, lambda: probe.put(2, thread="r", parent=1, metadata=new)):
        probe.call("delete_for_runs", ["old"])
    return bool(probe.ids(probe.config("r")) == [2])


def deleted_beside_a_batch(probe: Probe) -> bool:
    with before_transaction(probe, 2, lambda: go_on(probe)):
        probe.delete("a")
    return 3 not in probe.ids(probe.config()) or bool(probe.pending("a", "", 3))


def put_below_what_is_deleted_meanwhile(probe: Probe) -> bool:
    with before_transaction(probe, 1, lambda: probe.delete("a")):
        probe.put(3, parent=2)
    return 2 not in probe.ids(probe.config())


def put_beside_the_deletion_of_its_thread(probe: Probe) -> bool:
    with before_transaction(probe, 1, lambda: probe.delete("a")):
        probe.put(3, parent=2, values={"y": 1})
    return not probe.ids(probe.config()) or probe.held("a", "", 3) == {"x": 2, "y": 1}


def put_late(probe: Probe) -> bool:
    probe.delete("a")
    probe.put(3, parent=2, values={"y": 1})
    return bool(probe.held("a", "", 3) == {"x": 2, "y": 1})


@pytest.mark.parametrize(
    ("wrong", "right", "is_whole"),
    [
        (PruneOfAllButTheNewestItRead, SqliteReference, pruned_beside_a_put),
        (PruneOfEarlyWrites, SqliteReference, pruned_beside_early_writes),
        (PruneOfQuestionsByWhatWasNewest, SqliteReference, pruned_beside_a_question),
        (PruneOfChainsByWhatWasNewest, SqliteReference, pruned_beside_a_delta),
        (PruneWritesAnswersAnew, SqliteReference, pruned_beside_an_answer),
        (CopyTableByTable, SqliteReference, copied_beside_a_batch),
        (CopyRowByRow, SqliteReference, copied_beside_a_subgraph),
        (CopyOfTwoReads, SqliteReference, copied_beside_a_deletion),
        (CopyOfQuestionsFirst, SqliteReference, copied_beside_an_answer),
        (CopyTakesQuestionsAway, SqliteReference, asked_beside_a_copy),
        (RunsDeletedByThread, SqliteReference, runs_deleted_beside_a_put),
        (RunsDeletedWithNewQuestions, SqliteReference, runs_deleted_beside_a_question),
        (DeletionFillsTablesAnew, SqliteReference, put_beside_a_deletion),
        (DeletionInTwoTransactions, SqliteReference, deleted_beside_a_batch),
        (ParentStoredAgain, SqliteReference, put_below_what_is_deleted_meanwhile),
        (StoredValuesLookedUpFirst, BlobReference, put_beside_the_deletion_of_its_thread),
        (ValuesFoundByVersionAlone, ReferenceSaver, put_late),
    ],
    ids=lambda given: getattr(given, "name", None) or given.__name__,
)
def test_upkeep_shows_the_mistake(
    wrong: Any, right: Any, is_whole: Callable[[Probe], bool], tmp_path: Path
) -> None:
    saver = getattr(wrong, "saver", wrong)
    assert is_whole(prepared(Probe(opening(right), tmp_path / "right", "sync")))
    assert not is_whole(prepared(Probe(opening(saver), tmp_path / "wrong", "sync")))


class Noted:
    """A lock that notes when it is taken."""

    def __init__(self, lock: Any, name: str, order: list[str]) -> None:
        self._lock, self._name, self._order = lock, name, order

    def __enter__(self) -> Any:
        self._order.append(self._name)
        return self._lock.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._lock.__exit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lock, name)


def test_a_put_and_a_prune_take_two_locks_in_two_orders(tmp_path: Path) -> None:
    saver = getattr(PruneTakesLocksInAnotherOrder, "saver", PruneTakesLocksInAnotherOrder)
    probe = prepared(Probe(opening(saver), tmp_path, "sync"))
    order: list[str] = []
    database = probe.saver.database
    database.lock = Noted(database.lock, "lock", order)
    database.index = Noted(database.index, "index", order)
    probe.put(3, parent=2)
    put, order[:] = order[:2], []
    probe.call("prune", ["a"])
    assert (put, order[:2]) == (["lock", "index"], ["index", "lock"])


def test_a_copy_and_a_copy_back_take_two_locks_in_two_orders(tmp_path: Path) -> None:
    saver = getattr(CopyLocksThreadsAsTheyAreNamed, "saver", CopyLocksThreadsAsTheyAreNamed)
    probe = prepared(Probe(opening(saver), tmp_path, "sync"))
    order: list[str] = []
    probe.saver.database.threads = {name: Noted(nullcontext(), name, order) for name in ("a", "b")}
    probe.call("copy_thread", "a", "b")
    probe.call("copy_thread", "b", "a")
    assert order == ["a", "b", "b", "a"]


@pytest.mark.parametrize("saver", [RunsDeletedOutsideTheLock, RunsDeletedInAnothersTransaction])
def test_runs_are_deleted_without_the_lock_that_others_take(saver: Any, tmp_path: Path) -> None:
    for one, taken in ((getattr(saver, "saver", saver), []), (SqliteReference, ["lock"])):
        probe = prepared(Probe(opening(one), tmp_path / one.__name__, "sync"))
        order: list[str] = []
        probe.saver.database.lock = Noted(probe.saver.database.lock, "lock", order)
        probe.call("delete_for_runs", ["none"])
        assert order == taken
