"""A saver that hangs or ends its judge: a short program shows it, and the rest is judged.

By night, what else is broken beside it, and whatever else takes long.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.plugin_support import Project, Result

from saverproof.families.items import Finding, Outcome
from saverproof.process.client import JudgeGone
from saverproof.programs.steps.codec import to_json
from saverproof.programs.steps.definitions import DeleteThread, GetTuple, Program, Put
from saverproof.run.plugin.deaths import Shortener, Steps, held_by, with_the_rest
from saverproof.run.plugin.judged import joined

DYING = """
import os
from contextlib import contextmanager
from saverproof import Workspace, target
from saverproof_savers import SqliteSaver

class Dying(SqliteSaver):
    def list(self, *given, **narrowing):
        try:
            yield from super().list(*given, **narrowing)
        except GeneratorExit:
            os._exit(3)

    def copy_thread(self, source_thread_id, target_thread_id):
        pass

    def delete_thread(self, thread_id):
        found = list(self.list({"configurable": {"thread_id": thread_id}}))
        if any(one.config["configurable"]["checkpoint_ns"] for one in found):
            os._exit(3)
        super().delete_thread(thread_id)

@target
@contextmanager
def dying(workspace: Workspace):
    with Dying.open(workspace.path / "store.db") as saver:
        yield saver
"""
CLOSING = """
from contextlib import contextmanager
import threading
from saverproof import Workspace, target
from saverproof_savers import SqliteSaver

class Closing(SqliteSaver):
    listing, ended = 0, False

    def list(self, *given, **narrowing):
        self.listing += 1
        yield from super().list(*given, **narrowing)
        self.listing -= 1

    def close(self):
        if self.NEVER:
            threading.Event().wait()
        super().close()
        self.ended = True

@target
@contextmanager
def dying(workspace: Workspace):
    with Closing.open(workspace.path / "store.db") as saver:
        yield saver
"""
"""A saver whose close waits for ever, once ``NEVER`` names what for."""
LONG: Program = (
    Put("a", "", 1),
    GetTuple("a", ""),
    Put("b", "", 2),
    Put("a", "", 3, 1),
    GetTuple("b", ""),
    DeleteThread("b"),
)


def gone(*, hung: bool = True, reason: str = "no answer after 10 s") -> JudgeGone:
    ended = JudgeGone(reason, "", "", 0)
    ended.hung = hung
    return ended


class Runs:
    """Runs of a saver that hangs when thread b is deleted, where all that is needed was put."""

    def __init__(self, *needed: int, patient: bool = True) -> None:
        self.needed = {*needed}
        self.patient = patient
        self.asked: list[float] = []

    def __call__(self, steps: Steps, patience_s: float) -> tuple[JudgeGone, Steps] | None:
        self.asked.append(patience_s)
        put = {step["number"] for step in steps if step["step"] == "Put"}
        deleted = any(step["step"] == "DeleteThread" for step in steps)
        if not (deleted and self.needed <= put) or (patience_s > 3 and not self.patient):
            return None
        return gone(), steps


def shortened(runs: Runs, first: JudgeGone) -> Steps:
    return Shortener(10.0, 3.0).shortened("saver", first, to_json(LONG), runs)


def test_one_step_before_the_last_is_enough_where_no_more_is_needed() -> None:
    runs = Runs(2)
    short = shortened(runs, gone())
    assert [step["step"] for step in short] == ["Put", "DeleteThread"]
    # What is told was waited for as long as any call.
    assert runs.asked[-1] == 10.0


def test_more_steps_are_kept_where_they_are_needed() -> None:
    short = shortened(Runs(1, 2), gone())
    assert [step["number"] for step in short if step["step"] == "Put"] == [1, 2]
    assert len(short) == 3


@pytest.mark.parametrize(
    ("runs", "first"),
    [
        (Runs(2, patient=False), gone()),
        (Runs(2), gone(hung=False, reason="the process died: SIGSEGV")),
    ],
    ids=["answers-if-waited-for", "ends-in-another-way"],
)
def test_a_program_is_kept_if_no_shorter_one_ends_the_same(runs: Runs, first: JudgeGone) -> None:
    assert shortened(runs, first) == to_json(LONG)


def test_a_known_program_is_tried_first_in_other_families() -> None:
    shortener, runs = Shortener(10.0, 3.0), Runs(2)
    short = shortener.shortened("saver", gone(), to_json(LONG), runs)
    runs.asked.clear()
    assert shortener.shortened("saver", gone(), to_json(LONG), runs) == short
    assert runs.asked == [3.0]


def test_steps_of_nobody_are_kept_as_they_are() -> None:
    steps: Steps = [{"op": "put"}, {"op": "get"}]
    assert Shortener(10.0, 3.0).shortened("saver", gone(), steps, Runs()) == steps


def found(contract: str, expected: str) -> Finding:
    return Finding(contract, "sync", "functional", "it", expected, "", (), None, "")


def outcome(**what: Any) -> Outcome:
    empty: dict[str, Any] = {
        name: {} for name in ("checked", "unknown", "inapplicable", "unexercised")
    }
    return Outcome(**{**empty, "findings": (), **what}, operations=1, saver_s=0.0, total_s=0.0)


def test_what_the_rest_did_not_look_at_stays_unknown() -> None:
    dead = found("deletion/thread-all", "an answer or an exception")
    again = found("deletion/prune-drops-older", "[]")
    first = outcome(
        checked={dead.contract: 1, again.contract: 1, "deletion/settled": 7},
        findings=(again, dead),
        unknown=dict.fromkeys(("deletion/a", "deletion/b", "deletion/c"), "not judged to the end"),
    )
    rest = outcome(
        checked={"deletion/a": 3, "deletion/b": 2, again.contract: 1},
        findings=(again,),
        unexercised={"deletion/b": "the axis was not looked at", "deletion/settled": "nor this"},
    )
    both = with_the_rest(first, rest, [dead], held_by(rest))
    assert both.findings == (dead, again)
    assert both.unknown == dict.fromkeys(("deletion/b", "deletion/c"), "not judged to the end")
    assert both.unexercised == {}
    assert (both.checked["deletion/a"], both.checked["deletion/settled"]) == (3, 7)


def test_nothing_is_held_on_the_strength_of_a_rest_without_an_operation() -> None:
    dead = found("deletion/thread-all", "an answer or an exception")
    first = outcome(checked={dead.contract: 1}, findings=(dead,), unknown={"isolation/a": "death"})
    rest = outcome(checked={"isolation/a": 3})
    both = with_the_rest(first, rest, [dead], ())
    assert both.unknown == {"isolation/a": "death"}
    assert both.checked == {dead.contract: 1}


def verdicts(
    project: Project, family: str, saver: str = DYING, *more: str
) -> tuple[Result, dict[str, str]]:
    project.write("dying.py", saver)
    options = (f"--saver-families={family}", "--saver-api=sync", "--saver-profile=quick", *more)
    result = project.pytest("--saver=dying.py:dying", *options)
    contracts = result.report()["savers"][0]["contracts"]
    return result, {one["id"]: one["verdict"] for one in contracts if one["family"] == family}


@pytest.mark.nightly
def test_what_else_is_broken_is_found_without_the_call_that_kills(tmp_path: Path) -> None:
    result, told = verdicts(Project(tmp_path), "deletion")
    assert result.status == 1
    assert "VIOLATED deletion/thread-all (sync): the process ended itself" in result.output
    (dead,) = next(
        one["violations"]
        for one in result.report()["savers"][0]["contracts"]
        if one["id"] == "deletion/thread-all"
    )
    assert len(dead["steps"]) == 2
    broken = {name for name, verdict in told.items() if verdict == "violated"}
    assert broken == {"deletion/thread-all", "deletion/copy-complete"}
    # Nobody knows what else is about deleted threads.
    assert {verdict for name, verdict in told.items() if name not in broken} == {"unknown"}


def test_the_rest_holds_where_the_call_that_kills_is_of_one_contract(tmp_path: Path) -> None:
    # It dies of listings that are left, and of nothing else that the family does.
    saver = DYING.replace("def delete_thread", "def delete_thread_in_a_namespace")
    result, told = verdicts(Project(tmp_path), "lifecycle", saver)
    assert "VIOLATED lifecycle/abandoned-list (sync): the process ended itself" in result.output
    assert told["lifecycle/abandoned-list"] == "violated"
    assert told["lifecycle/reopen"] == told["lifecycle/setup-idempotent"] == "held"


def test_the_rest_is_judged_without_a_call_that_works_for_ever(tmp_path: Path) -> None:
    saver = DYING.replace("os._exit(3)", "while True: pass")
    # Each copy is missing, which is found without any deletion.
    result, told = verdicts(Project(tmp_path), "deletion", saver, "--saver-watchdog=2")
    assert result.status == 1
    assert told["deletion/copy-complete"] == "violated"
    # Nobody knows whether the call would have ended.
    assert told["deletion/thread-all"] == "unknown"
    (why,) = {
        one["reason"]
        for one in result.report()["savers"][0]["contracts"]
        if one["id"] == "deletion/thread-all"
    }
    assert why.startswith("not judged to the end: delete_thread('a') was cut off after 4 s")


def test_a_contract_does_not_hold_whose_own_call_was_cut_off(tmp_path: Path) -> None:
    saver = DYING.replace("def delete_thread", "def delete_thread_in_a_namespace")
    saver = saver.replace("os._exit(3)", "while True: pass")
    result, told = verdicts(Project(tmp_path), "lifecycle", saver, "--saver-watchdog=2")
    assert result.status == 1
    assert told.pop("lifecycle/abandoned-list") == "unknown"
    # All else was looked at without that call.
    assert {told["lifecycle/reopen"], told["lifecycle/setup-idempotent"]} == {"held"}


def test_nothing_that_either_of_two_runs_was_certain_of_is_lost() -> None:
    """The second has less time, and may be cut off at an earlier step."""
    lost, seen = (
        Finding(f"upsert/{name}", "sync", "functional", name, "1", "2", (), None, "")
        for name in ("put-replaces", "put-is-idempotent")
    )
    open_ = {"upsert/special-write-last-wins": {"times": 2, "why": "", "steps": []}}
    first = {
        "findings": [asdict(lost)], "settled": ["upsert/reput-keeps-writes"],
        "checked": {lost.contract: 3, seen.contract: 9, "upsert/reput-keeps-writes": 7},
        "unsettled": open_,
    }  # fmt: skip
    second = {"findings": [asdict(seen)], "checked": {seen.contract: 2}}
    both = joined(first, second)
    assert [one["contract"] for one in both["findings"]] == [lost.contract, seen.contract]
    assert both["settled"] == ["upsert/reput-keeps-writes"]
    assert both["checked"] == first["checked"]
    assert both["unsettled"] == open_


def test_what_kills_at_once_is_no_leak_and_fails_the_run_all_the_same(tmp_path: Path) -> None:
    saver = DYING.replace("def delete_thread", "def delete_thread_in_a_namespace")
    result, told = verdicts(Project(tmp_path), "resources", saver)
    assert result.status == 1
    assert told["resources/flat"] == "unknown"
    assert "VIOLATED" not in result.output
    assert "1 unsettled" in result.output
    assert "list, left after its first item, done fewer than 10 times" in result.output


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("never", "contract", "level"),
    [
        ("listing", "lifecycle/abandoned-list", "VIOLATED"),
        ("ended", "lifecycle/close-idempotent", "ADVICE"),
    ],
)
def test_a_close_that_never_returns_is_told_of_what_it_waits_for(
    never: str, contract: str, level: str, tmp_path: Path
) -> None:
    result, told = verdicts(Project(tmp_path), "lifecycle", CLOSING.replace("NEVER", never))
    assert f"{level} {contract} (sync): no answer after" in result.output
    assert " in close\n" in result.output
    assert told["lifecycle/reopen"] == told["lifecycle/setup-idempotent"] == "held"
