"""Scripts that show a flaw under faults without the kit, whatever the fault; and journals.

By day most kinds of fault; what takes ten seconds and more, by night.
"""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conformance.atomicity.faulty_savers import faulty
from tests.conformance.atomicity.test_atomicity import found, judged, plan_for
from tests.conformance.reproducer_support import of_the_right_saver, target_of
from tests.conformance.script_runs import CANNOT_TELL, ended
from tests.nights import by_night
from tests.wrong_savers.behind import AnswersFirst

from saverproof.families.answer import Status
from saverproof.families.atomicity import effort, family
from saverproof.families.atomicity.effort import FaultEffort
from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.fault_programs import FaultPrograms
from saverproof.families.atomicity.journal import blamed
from saverproof.families.atomicity.replay import replay
from saverproof.families.atomicity.scenarios import A_NEW_TASK
from saverproof.families.atomicity.scripts.plain_fault import PlainFault
from saverproof.families.atomicity.scripts.script_faults import faults_anywhere
from saverproof.families.atomicity.scripts.script_program import long_reproducer
from saverproof.families.items import Finding, Outcome
from saverproof.programs.steps.definitions import Prune, Put, PutWrites
from saverproof.programs.values import Value
from saverproof.scripts.script import LONGEST
from saverproof_faults import Event, Fault, Place, Places, Plan
from saverproof_faults.syscalls import CallKind, SystemCall
from saverproof_savers import targets

TWO = ["put", "put_writes"]


def only(outcome: Outcome, contract: str) -> Finding:
    return next(f for f in outcome.findings if f.contract == f"atomicity/{contract}")


@pytest.fixture
def random_programs_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    random_effort = dataclasses.replace(effort.EFFORTS["quick"], most=0, random_programs=20)
    monkeypatch.setitem(effort.EFFORTS, "quick", random_effort)


@pytest.mark.parametrize(
    ("saver", "contract", "fault"),
    [
        by_night("OnDisk", "no-silent-loss", "the file system reports"),
        ("SerializedOnTheWay", "all-or-nothing", "the serializer raises"),
        ("RewrittenOnOpening", "all-or-nothing", "a trigger aborts"),
    ],
)
def test_every_kind_of_fault_has_a_script(
    saver: str, contract: str, fault: str, tmp_path: Path
) -> None:
    finding = only(judged(faulty(saver), tmp_path, operations=TWO), contract)
    assert any(fault in step for step in finding.steps)
    assert 0 < finding.reproducer.count("\n") <= LONGEST
    status, said = ended(finding.reproducer, tmp_path)
    assert status == 1
    assert finding.contract in said
    assert ended(of_none(finding.reproducer, saver), tmp_path)[0] == CANNOT_TELL


@pytest.mark.parametrize(
    ("saver", "shown"), [("PrunesThreadByThread", False), ("PrunesOnceOnly", True)]
)
def test_a_script_takes_a_prune_that_failed_between_two_threads_for_legal(
    saver: str, shown: bool
) -> None:
    puts = [Put(thread, "", n, n - 1 or None) for thread in ("a", "b") for n in (1, 2)]
    program = (*puts, Prune(("a", "b"), "keep_latest"))
    fault = PlainFault(before=("saver.failing = True",), after=("saver.failing = False",))
    given = (program, {len(puts): [fault]}, "atomicity/usable-after", "sync")
    assert bool(long_reproducer(faulty(saver), *given)) is shown


def test_a_script_of_a_torn_prune_looks_at_each_thread(tmp_path: Path) -> None:
    outcome = judged(faulty("PrunesTablesApart"), tmp_path, operations=["prune"])
    finding = only(outcome, "all-or-nothing")
    right = finding.reproducer.replace("PrunesTablesApart", "PrunesThreadByThread")
    assert [ended(text, tmp_path)[0] for text in (finding.reproducer, right)] == [1, 0]


@pytest.mark.parametrize(
    ("saver", "shown"), [("RaisesWhenWritesFail", False), ("LosesWritesThatFail", True)]
)
@pytest.mark.parametrize("api", ["sync", "async"])
def test_a_script_of_a_silent_loss_takes_a_call_that_raises_for_right(
    saver: str, api: str, shown: bool
) -> None:
    program = (
        Put("a", "", 1),
        PutWrites("a", "", 1, 1, (("x", Value("integer", 1)),)),
        Put("a", "", 2, 1),
    )
    fault = PlainFault(before=("saver.failing = True",), after=("saver.failing = False",))
    given = (program, {1: [fault]}, "atomicity/no-silent-loss", api)
    assert bool(long_reproducer(faulty(saver), *given)) is shown


def of_none(script: str, saver: str) -> str:
    """The same script of a saver that is not there."""
    return re.sub(rf"(saver_named\(.){saver}", r"\1nobody", script)


def test_a_script_interrupts_a_call(tmp_path: Path) -> None:
    outcome = judged(faulty("UndoingExceptionsAlone"), tmp_path, operations=TWO)
    finding = only(outcome, "no-late-commit")
    assert "the caller is interrupted" in finding.steps[-2]
    status, said = ended(finding.reproducer, tmp_path)
    assert status == 1
    assert finding.contract in said


@pytest.mark.parametrize(
    ("saver", "api", "contract"),
    [
        ("rollback-takes-the-neighbours", "sync", "all-or-nothing"),
        ("rollback-takes-the-neighbours-task", "async", "no-silent-loss"),
        by_night("last-one-commits-for-all", "sync", "no-silent-loss"),
        by_night("last-one-commits-for-all", "async", "all-or-nothing"),
    ],
)
def test_a_script_lets_two_callers_meet(
    saver: str, api: str, contract: str, tmp_path: Path
) -> None:
    finding = only(judged(target_of(saver), tmp_path, api, operations=TWO), contract)
    # Both checkpoints, the fault, and the two batches.
    assert len(finding.steps) == 5
    status, said = ended(finding.reproducer, tmp_path)
    assert status == 1
    assert finding.contract in said
    assert ended(of_the_right_saver(finding.reproducer), tmp_path) == (0, "")


def test_a_script_of_a_saver_in_memory_asks_the_very_same_saver(tmp_path: Path) -> None:
    script = only(judged(targets.memory, tmp_path, operations=TWO), "all-or-nothing").reproducer
    right = "from saverproof.mistakes.reference.saver import ReferenceSaver as InMemorySaver"
    memory = "from langgraph.checkpoint.memory import InMemorySaver"
    assert [ended(text, tmp_path)[0] for text in (script, script.replace(memory, right))] == [1, 0]


@pytest.mark.nightly
def test_what_fails_after_the_call_has_a_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = FaultEffort(most=3, slow_most=3, meetings=0, reads=0)
    monkeypatch.setattr(family, "sort_of", lambda tried: "one for all")
    monkeypatch.setitem(effort.EFFORTS, "quick", few)
    monkeypatch.setattr(FaultPrograms, "try_in_a_row", lambda programs, sweeps: None)
    # So long that a call has returned by then on a busy machine as well.
    monkeypatch.setattr(AnswersFirst, "pause_s", 0.05)
    monkeypatch.setattr(family, "SCENARIOS", [A_NEW_TASK])
    finding = only(judged(target_of("answers-first"), tmp_path, operations=TWO), "no-silent-loss")
    assert finding.steps[-1] == "close the saver, still under the fault"
    assert 0 < finding.reproducer.count("\n") <= LONGEST
    assert ended(finding.reproducer, tmp_path)[0] == 1
    assert ended(of_the_right_saver(finding.reproducer), tmp_path) == (0, "")


@pytest.mark.nightly
@pytest.mark.usefixtures("random_programs_alone")
def test_a_random_program_is_shortened_and_has_a_script(tmp_path: Path) -> None:
    outcome = judged(faulty("FailingTwice"), tmp_path, operations=TWO)
    finding = only(outcome, "usable-after")
    assert len(finding.steps) <= 5
    assert ended(finding.reproducer, tmp_path)[0] == 1
    assert ended(of_none(finding.reproducer, "FailingTwice"), tmp_path)[0] == CANNOT_TELL
    plan = plan_for(tmp_path, "sync", TWO)
    recorded = finding.contract, finding.program
    assert replay(plan, faulty("FailingTwice"), *recorded).status is Status.FAILING
    mended = replay(plan, targets.sqlite, *recorded)
    assert mended.status is Status.FIXED
    assert "instead" not in mended.said


@pytest.mark.usefixtures("random_programs_alone")
@pytest.mark.parametrize("api", ["sync", by_night("async")])
def test_a_healed_saver_takes_up_what_has_failed(api: str, tmp_path: Path) -> None:
    outcome = judged(targets.sqlite, tmp_path, api, operations=TWO)
    assert outcome.extra["faults"]["injected"] > 20
    assert found(outcome) == set()


@pytest.mark.nightly
def test_a_sync_call_of_an_async_saver_has_a_script(tmp_path: Path) -> None:
    outcome = judged(targets.langgraph_sqlite_async, tmp_path, "sync", operations=["put"])
    finding = only(outcome, "no-late-commit")
    assert "asyncio.to_thread" in finding.reproducer


@pytest.mark.nightly
def test_each_operation_that_is_torn_has_a_finding(tmp_path: Path) -> None:
    operations = [*TWO, "delete_thread"]
    outcome = judged(targets.langgraph_sqlite, tmp_path, operations=operations, profile="default")
    torn = [f for f in outcome.findings if f.contract == "atomicity/all-or-nothing"]
    told = {finding.summary.partition(" ")[0]: finding for finding in torn}
    assert {"put_writes", "delete_thread"} <= told.keys()
    assert "comes back with its checkpoint" in told["delete_thread"].summary
    assert all(finding.reproducer for finding in torn)
    late = only(outcome, "no-late-commit")
    assert "commit" in late.steps[-2]


DYING = """
import sys
from dataclasses import replace
from pathlib import Path
from tests.conformance.atomicity.faulty_savers import faulty
from tests.conformance.atomicity.test_atomicity import plan_for
from saverproof.families.registry import judged
plan = replace(plan_for(Path(sys.argv[1]), "sync", ["put", "put_writes"]), journal=sys.argv[2])
judged(plan, faulty("EndingTheProcess"))
"""


def test_a_death_is_told_from_the_journal(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    command = [sys.executable, "-c", DYING, str(tmp_path / "stores"), str(journal)]
    (tmp_path / "stores").mkdir()
    root = Path(__file__).parents[3]
    assert subprocess.run(command, check=False, cwd=root).returncode == 7
    steps = [json.loads(line) for line in journal.read_text().splitlines()]
    told = blamed(steps)
    assert told.contract == "atomicity/usable-after"
    assert told.steps[-2].startswith("fault: ")
    assert told.steps[-1].startswith("put_writes(")


def test_a_system_call_is_counted_among_all_and_then_among_its_kind() -> None:
    kinds = (CallKind.OPEN, CallKind.SYNC, CallKind.WRITE, CallKind.SYNC)
    places = Places(system_calls=tuple(SystemCall(kind, "log") for kind in kinds))
    injection = Injection(Plan(Fault.IO_ERROR, Place(Event.SYSTEM_CALL, 4)))
    armed = [fault.before[0] for fault in faults_anywhere(injection, places, "")]
    assert armed == [
        "files.arm(CallFault(4, CallFailure.IO_ERROR))",
        "files.arm(CallFault(2, CallFailure.IO_ERROR, kind=CallKind.SYNC))",
    ]


@pytest.mark.parametrize("database", ["", "store.db"])
def test_a_store_without_a_file_yet_is_not_locked_by_its_path(database: str) -> None:
    place = Place(Event.ENGINE_STATEMENT, 1)
    injection = Injection(Plan(Fault.LOCKED, place))
    sources = [str(fault) for fault in faults_anywhere(injection, Places(), database)]
    assert any("sqlite3.connect(path + " in source for source in sources) == bool(database)
