"""The scripts of the concurrency family: each complains of what it is for, and of nothing else.

By day most kinds through one API, in turns; the others by night.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.reproducer_support import of_a_shut_saver, of_the_right_saver, target_of
from tests.conformance.script_runs import CANNOT_TELL, ended, ended_here
from tests.nights import by_night, by_turns
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.readers import FileReadTwice
from tests.wrong_savers.upkeep import CopyOfTwoReads, ParentStoredAgain, StoredValuesLookedUpFirst
from tests.wrong_savers.upkeep_of_graphs import (
    CopyOfQuestionsFirst,
    CopyTakesQuestionsAway,
    DeletionFillsTablesAnew,
    PruneOfQuestionsByWhatWasNewest,
    PruneWritesAnswersAnew,
    RunsDeletedWithNewQuestions,
)

from saverproof.families.concurrency.callers.records import OperationKind
from saverproof.families.concurrency.callers.workload import DELETING
from saverproof.families.concurrency.contract_ids import (
    COPY,
    DELETION,
    FIRST,
    INSTANCES,
    ITERATION,
    LATE,
    LOOP,
    NOTHING,
    ORDER,
    PROCESSES,
    PRUNE,
    THREADS,
    TORN,
)
from saverproof.families.concurrency.graphs.graph_upkeep import UPKEEP_OF_GRAPHS
from saverproof.families.concurrency.held.held_putting import SCENE as HELD_PUT
from saverproof.families.concurrency.held.held_putting import Deleter
from saverproof.families.concurrency.held.held_reading import SCENE as HELD_READ
from saverproof.families.concurrency.held.holding import HoldPoint
from saverproof.families.concurrency.histories.history_playing import Sharing
from saverproof.families.concurrency.record import Problem
from saverproof.families.concurrency.scenes.agreeing import Asking, Reader
from saverproof.families.concurrency.scenes.instance_changes import (
    BOTH_WRITE,
    FILLED,
    FILLED_ALIKE,
)
from saverproof.families.concurrency.scenes.iteration import BETWEEN, By, method_of
from saverproof.families.concurrency.scenes.waiting import LOOKED_AT
from saverproof.families.concurrency.scripts.script_writing import SCHEDULING, reproducer, script
from saverproof.families.concurrency.upkeep.upkeep_rounds import SCENE
from saverproof.programs.small import CHILD
from saverproof.programs.steps.codec import encode
from saverproof.programs.steps.definitions import GetTuple, ListTuples
from saverproof.savers.targets.target import Target
from saverproof.scripts.opening import opening_of
from saverproof.scripts.script import LONGEST
from saverproof_savers import targets

APIS = ("sync", "async")
ALONE = (ITERATION, LOOP, NOTHING, PROCESSES, FIRST, INSTANCES)
"""Whose scripts need a process of their own: they end it, or start others."""


def asking(reader: Reader) -> dict[str, Any]:
    """A scene that shows each of the wrong savers."""
    latest = ListTuples("a") if reader is Reader.BESIDE else GetTuple("a")
    return Asking(reader, CHILD, (latest,)).to_json()


def filled_again(reader: Reader) -> dict[str, Any]:
    """A scene in which a thread is deleted and filled again between two questions."""
    changes = tuple(one.step for one in (*FILLED[:1], *FILLED_ALIKE[:2]))
    return Asking(reader, changes, (GetTuple("a"),), 2).to_json()


def both_write() -> dict[str, Any]:
    """A scene in which the saver that is asked has put a checkpoint itself."""
    changes = tuple(one.step for one in BOTH_WRITE[:2])
    return Asking(Reader.BESIDE, changes, (GetTuple("a"),), own=(0,)).to_json()


def beside(kind: OperationKind) -> dict[str, Any]:
    """A scene in which an operation is called beside a run."""
    return {"scene": SCENE, "kind": kind.value, "early": True}


def held(
    saver: type, at: str, kind: OperationKind = OperationKind.PRUNE, *, elsewhere: bool = False
) -> dict[str, Any]:
    """A scene in which an operation is held at a line of a saver, while a graph goes on."""
    method = {OperationKind.PRUNE: "prune"}.get(kind, kind.value)
    lines, first = inspect.getsourcelines(getattr(saver, method))
    line = max(number for number, text in enumerate(lines, first) if at in text)
    place = encode(HoldPoint(inspect.getfile(saver), line))
    upkeep = UPKEEP_OF_GRAPHS[kind]
    if elsewhere:
        upkeep = upkeep.by_another()
    return {"scene": upkeep.scene, "name": upkeep.names[0], "inside": False, "place": place}


def read_held(saver: type, at: str, read: OperationKind, change: str) -> dict[str, Any]:
    """A scene in which a read or copy is held at a line of a saver; another process goes on."""
    methods = {OperationKind.LIST: "list", OperationKind.COPY: "copy_thread"}
    lines, first = inspect.getsourcelines(getattr(saver, methods.get(read, "get_tuple")))
    line = max(number for number, text in enumerate(lines, first) if at in text)
    place = encode(HoldPoint(inspect.getfile(saver), line))
    return {"scene": HELD_READ, "read": read.value, "change": change, "place": place}


def put_held(
    by: Deleter, saver: type = StoredValuesLookedUpFirst, at: str = "super()._store"
) -> dict[str, Any]:
    """A scene in which a put is held between its two transactions, while its thread is deleted."""
    lines, first = inspect.getsourcelines(saver)
    (line,) = (number for number, text in enumerate(lines, first) if at in text)
    place = encode(HoldPoint(inspect.getfile(saver), line))
    return {"scene": HELD_PUT, "by": by.value, "place": place}


EVERY_CALL = {"calls": [operation.describe() for operation in BETWEEN]}
EVERY_METHOD = {"calls": [method_of(operation) for operation in LOOKED_AT]}
SCRIPTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "threads": (THREADS, "check-then-insert", {}),
    "whole batches": (TORN, "rows-seen-one-by-one", {}),
    "a thread deleted": (TORN, "read-in-two-steps", {"theme": DELETING.name}),
    "a read that is held": (
        TORN,
        "read-under-its-own-lock",
        read_held(SqliteReference, "_stored_writes", OperationKind.GET, "deleted"),
    ),
    "a latest that is held": (
        TORN,
        "file-read-twice",
        read_held(FileReadTwice, "self.catch_up()", OperationKind.LATEST, "deleted, and put anew"),
    ),
    "a listing that is held": (
        TORN,
        "read-under-its-own-lock",
        read_held(SqliteReference, "_stored_writes", OperationKind.LIST, "deleted"),
    ),
    "a copy that is held": (
        COPY,
        "copy-of-two-reads",
        read_held(CopyOfTwoReads, '"writes"', OperationKind.COPY, "deleted"),
    ),
    "a put that is held": (
        LATE,
        "stored-values-looked-up-first",
        put_held(Deleter.CALLER),
    ),
    "a put that brings back its parent": (
        DELETION,
        "parent-stored-again",
        put_held(Deleter.CALLER, ParentStoredAgain, "super().put"),
    ),
    "a put beside another process": (
        LATE,
        "stored-values-looked-up-first",
        put_held(Deleter.PROCESS),
    ),
    "several savers": (ORDER, "cache-of-the-instance", {"sharing": Sharing.INSTANCES.value}),
    "a saver opened before": (INSTANCES, "listing-kept", asking(Reader.BESIDE)),
    "a saver that has written, too": (INSTANCES, "own-latest-kept", both_write()),
    "a saver in another process": (
        INSTANCES,
        "latest-id-kept-by-the-process",
        asking(Reader.ELSEWHERE),
    ),
    "a thread that is filled again": (
        INSTANCES,
        "changes-counted-anew",
        filled_again(Reader.BESIDE),
    ),
    "a thread that another process fills again": (
        INSTANCES,
        "changes-counted-anew",
        filled_again(Reader.ELSEWHERE),
    ),
    "processes": (PROCESSES, "lock-of-one-process", {}),
    "first use": (FIRST, "no-busy-timeout", {}),
    "a file that is held": (FIRST, "no-busy-timeout", {"file": "checkpoints.db"}),
    "a listing": (ITERATION, "list-iterates-the-dict", EVERY_CALL | {"by": By.OTHER.value}),
    "a call within a listing": (
        ITERATION,
        "list-holds-atransaction",
        EVERY_CALL | {"by": By.SAME.value},
    ),
    "puts within a listing": (ITERATION, "list-counts-from-the-newest", {"shifted": True}),
    "unknown reads": (NOTHING, "read-is-counted", {}),
    "a prune": (PRUNE, "prune-of-all-but-the-newest-it-read", beside(OperationKind.PRUNE)),
    "a prune, early writes": (PRUNE, "prune-of-early-writes", beside(OperationKind.PRUNE)),
    "a graph that asks": (
        PRUNE,
        "prune-of-questions-by-what-was-newest",
        held(PruneOfQuestionsByWhatWasNewest, "super().prune("),
    ),
    "a graph that is answered": (
        PRUNE,
        "prune-writes-answers-anew",
        held(PruneWritesAnswersAnew, "super().prune(") | {"inside": True},
    ),
    "a graph beside a copy": (
        COPY,
        "copy-takes-questions-away",
        held(CopyTakesQuestionsAway, "with self.database", OperationKind.COPY),
    ),
    "a copy beside a graph": (
        COPY,
        "copy-of-questions-first",
        held(CopyOfQuestionsFirst, "with self.database", OperationKind.COPY)
        | {"differs": "the copy"},
    ),
    "a graph beside a deletion": (
        DELETION,
        "deletion-fills-tables-anew",
        held(DeletionFillsTablesAnew, "with self.database", OperationKind.DELETE),
    ),
    "a graph beside the deletion of a run": (
        DELETION,
        "runs-deleted-with-new-questions",
        held(RunsDeletedWithNewQuestions, "super().delete", OperationKind.DELETE_RUN),
    ),
    "a graph beside another process that prunes": (
        PRUNE,
        "prune-writes-answers-anew",
        held(PruneWritesAnswersAnew, "super().prune(", elsewhere=True) | {"inside": True},
    ),
    "another process that copies beside a graph": (
        COPY,
        "copy-of-questions-first",
        held(CopyOfQuestionsFirst, "with self.database", OperationKind.COPY, elsewhere=True)
        | {"differs": "the copy"},
    ),
    "a copy": (COPY, "copy-table-by-table", beside(OperationKind.COPY)),
    "a copy of namespaces": (COPY, "copy-row-by-row", beside(OperationKind.COPY)),
    "a run deleted": (DELETION, "runs-deleted-by-thread", beside(OperationKind.DELETE_RUN)),
    "deleted meanwhile": (LATE, "deletion-in-two-transactions", beside(OperationKind.DELETE)),
    "calls that wait": (LOOP, "sync-on-the-loop", EVERY_METHOD),
    "a lock that waits": (LOOP, "lock-taken-on-the-loop", EVERY_METHOD),
    "a late writer": (LATE, "values-found-by-version-alone", {"scene": "late writer"}),
}
"""Of each text: its contract, a wrong saver, and what the script has to know of the scene."""
HELD_CALLS = [
    kind for kind, (_, _, scene) in SCRIPTS.items() if scene.get("scene") in (HELD_READ, HELD_PUT)
]
EACH = pytest.mark.parametrize("kind", SCRIPTS)
SLOW_BY_NIGHT = {
    "a latest that is held",
    "a listing that is held",
    "a run deleted",
    "a graph beside another process that prunes",
}
"""Kinds whose scripts take seconds: by day, what is held or beside a graph is so in others."""
IN_TURNS = pytest.mark.parametrize(
    ("kind", "api"),
    [
        by_night(*one.values) if one.values[0] in SLOW_BY_NIGHT else one
        for one in by_turns(SCRIPTS, APIS)
    ],
)
THROUGH_EACH_API = pytest.mark.parametrize("api", APIS)


@pytest.fixture(autouse=True)
def switch_interval() -> Iterator[None]:
    usual = sys.getswitchinterval()
    yield
    sys.setswitchinterval(usual)


WRITTEN: dict[tuple[str, str, str], str] = {}
"""What several tests look at: to lay out a script takes longer than to run most of them."""


def written(kind: str, target: Target, api: str) -> str:
    key = (kind, target.name, api)
    if key not in WRITTEN:
        contract, _, scene = SCRIPTS[kind]
        opening = opening_of(target)
        assert opening is not None
        WRITTEN[key] = script(target, opening, contract, scene, api)
    return WRITTEN[key]


def played(text: str, times: int) -> str:
    """The same script with another bound: it ends as soon as the flaw has shown."""
    return re.sub(rf"range\(\d+\):  # {SCHEDULING}", f"range({times}):  # {SCHEDULING}", text)


def ending(text: str, kind: str, folder: Path) -> tuple[int, str]:
    """The exit status of a script, and what it says."""
    if SCRIPTS[kind][0] not in ALONE and "settrace" not in text:
        return ended_here(text)
    return ended(text, folder)


@IN_TURNS
def test_a_script_complains_of_the_saver_that_it_is_for(
    kind: str, api: str, tmp_path: Path
) -> None:
    contract, wrong, _ = SCRIPTS[kind]
    text = played(written(kind, target_of(wrong), api), 500)
    status, said = ending(text, kind, tmp_path)
    assert status == 1
    assert f"{contract}: " in said
    assert "\nexpected: " in said
    assert "\nobserved: " in said
    assert "Traceback" not in said


@IN_TURNS
def test_a_script_has_nothing_to_say_of_the_bundled_saver(
    kind: str, api: str, tmp_path: Path
) -> None:
    text = played(written(kind, targets.sqlite, api), 1)
    status, said = ending(text, kind, tmp_path)
    # It has no such line: that nobody comes between there says nothing.
    assert (status, said) == (0, "") if kind not in HELD_CALLS else status == CANNOT_TELL, said


@pytest.mark.parametrize(
    ("kind", "api"), by_turns(["a read that is held", "a listing that is held"], APIS)
)
def test_a_read_in_one_transaction_is_right_at_the_same_line(
    kind: str, api: str, tmp_path: Path
) -> None:
    text = of_the_right_saver(written(kind, target_of(SCRIPTS[kind][1]), api))
    assert ended(text, tmp_path) == (0, "")


@pytest.mark.parametrize("kind", HELD_CALLS)
def test_a_held_call_that_has_lost_its_line_cannot_tell(kind: str, tmp_path: Path) -> None:
    text = written(kind, target_of(SCRIPTS[kind][1]), "sync")
    status, said = ended(text.replace("text.strip() == ", "text.strip() == 'was ' + "), tmp_path)
    assert status == CANNOT_TELL
    assert "IndexError" in said


@IN_TURNS
def test_a_script_has_nothing_to_say_of_a_saver_that_cannot_be_opened(
    kind: str, api: str, tmp_path: Path
) -> None:
    text = of_a_shut_saver(written(kind, target_of(SCRIPTS[kind][1]), api))
    status, said = ending(text, kind, tmp_path)
    assert status == CANNOT_TELL
    assert "the store is shut" in said


@EACH
@THROUGH_EACH_API
@pytest.mark.parametrize("target", [targets.sqlite, targets.memory], ids=lambda one: one.name)
def test_a_script_is_short_and_has_nothing_of_the_kit(kind: str, api: str, target: Target) -> None:
    text = written(kind, target, api)
    assert not re.search(r"\bsaverproof\b", text)
    assert not re.search(r"<\w+>", text)
    # One that has two callers, of which one is held or tidies up beside a graph, has both to say.
    both = any(one in text for one in ("subprocess.Popen", "StateGraph", "settrace"))
    assert both or text.count("\n") <= LONGEST
    assert max(map(len, text.splitlines())) <= 100


def test_one_saver_is_opened_where_callers_shared_one() -> None:
    opening = opening_of(targets.memory)
    assert opening is not None
    text = script(targets.memory, opening, ORDER, {"sharing": Sharing.SHARED.value}, "sync")
    assert text.count("InMemorySaver()") == 1


def test_a_reader_goes_on_for_as_long_as_the_writer_does(tmp_path: Path) -> None:
    target, scene = target_of("cleared-too-early"), {"sharing": Sharing.SHARED.value}
    opening = opening_of(target)
    assert opening is not None
    text = script(target, opening, ORDER, scene, "sync")
    assert [ended(text, tmp_path)[0] for _ in range(3)] == [1, 1, 1]


def test_sync_calls_of_a_saver_on_a_loop_are_made_in_threads(tmp_path: Path) -> None:
    text = played(written("several savers", targets.langgraph_sqlite_async, "sync"), 1)
    assert "await asyncio.to_thread(play, saver, reader)" in text
    assert ending(text, "several savers", tmp_path) == (0, "")


def test_callers_that_hang_beside_upkeep_have_no_script() -> None:
    wrong = target_of("prune-takes-locks-in-another-order")
    problem = Problem(THREADS, "the callers hang", "answers", "none")
    assert reproducer(wrong, problem, {"scene": SCENE, "early": True}, "sync") == ""


def test_a_script_that_shows_nothing_is_not_given() -> None:
    problem = Problem(NOTHING, "", "", "")
    assert reproducer(targets.sqlite, problem, {}, "sync") == ""
