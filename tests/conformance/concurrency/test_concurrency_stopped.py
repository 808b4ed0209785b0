"""A process is stopped in the middle of a read, another one writes, and the first goes on.

By day the quickest script, through one API; the others by night.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conformance import lapsing_saver
from tests.conformance.concurrency.concurrency_support import BUNDLED, blamed, facts_of, judged
from tests.conformance.script_runs import CANNOT_TELL, ended
from tests.nights import by_night
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.instances import CountAskedForTooLate

from saverproof.families.answer import ReplayAnswer, Status
from saverproof.families.concurrency.contract_ids import INSTANCES, TORN
from saverproof.families.concurrency.effort import SceneEffort
from saverproof.families.concurrency.held.held_reading import SCENE, STOPPED
from saverproof.families.concurrency.held.holding import HoldPoint
from saverproof.families.concurrency.replaying import replay
from saverproof.families.concurrency.scripts.script_writing import script
from saverproof.families.items import ItemPlan
from saverproof.programs.steps.codec import encode
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.reference import TargetRef
from saverproof.scripts.opening import opening_of
from saverproof.scripts.verification import complains_alone

SHORT = SceneEffort(shared=1, instances=0, processes=0, races=0, reads=2, stopped_s=2.0)
WRONG = "tests.conformance.concurrency.concurrent_savers:SAVERS"
LEASE = f"{WRONG}.lease_not_looked_at"
COUNT = f"{WRONG}.count_asked_for_too_late"


def at(method: Any, text: str) -> dict[str, Any]:
    lines, first = inspect.getsourcelines(method)
    number = next(number for number, line in enumerate(lines, first) if text in line)
    return {
        "read": "get_tuple",
        "change": "deleted, and put anew",
        "place": encode(HoldPoint(inspect.getfile(method), number)),
    }


BETWEEN = {
    "scene": STOPPED,
    "longest_s": 3.0,
    **at(SqliteReference.get_tuple, "self._stored_writes(row)"),
}
TOO_LATE = {"scene": SCENE, **at(CountAskedForTooLate.get_tuple, "self._kept()[asked] =")}


def replayed(where: str, contract: str, scene: dict[str, Any], folder: Path) -> ReplayAnswer:
    module, _, attribute = where.partition(":")
    ref = TargetRef(where, module, None, attribute)
    target = load(ref)
    plan = ItemPlan(ref.to_json(), facts_of(target), "concurrency", "sync", "quick", 0, str(folder))
    return replay(plan, target, contract, scene)


def script_for(where: str, contract: str, scene: dict[str, Any], api: str) -> str:
    module, _, attribute = where.partition(":")
    target = load(TargetRef(where, module, None, attribute))
    opening = opening_of(target)
    assert opening is not None
    return script(target, opening, contract, scene, api)


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize("api", ["sync", by_night("async")])
def test_what_is_of_one_moment_is_so_after_a_stop(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = judged(BUNDLED, tmp_path, api, monkeypatch, SHORT, only=TORN)
    assert (blamed(outcome), dict(outcome.unknown)) == (set(), {})
    scenes = outcome.extra["concurrency"]["scenes"]
    assert scenes["reads in a process that is stopped"] == 3


@pytest.mark.usefixtures("shared_harness")
def test_a_lock_that_is_over_keeps_nobody_out(tmp_path: Path) -> None:
    answer = replayed(LEASE, TORN, BETWEEN, tmp_path)
    assert answer.status is Status.FAILING, answer
    assert "stopped at line" in answer.said


@pytest.mark.usefixtures("shared_harness")
def test_a_reader_that_looks_at_its_lock_is_right(tmp_path: Path) -> None:
    answer = replayed(f"{lapsing_saver.__name__}:lapsing", TORN, BETWEEN, tmp_path)
    assert answer.status is Status.FIXED, answer


@pytest.mark.usefixtures("shared_harness")
def test_what_a_held_read_leaves_behind_is_seen(tmp_path: Path) -> None:
    answer = replayed(COUNT, INSTANCES, TOO_LATE, tmp_path)
    assert answer.status is Status.FAILING, answer
    assert "does not show what another process changed" in answer.said


@pytest.mark.parametrize("api", ["sync", by_night("async")])
@pytest.mark.parametrize(
    ("where", "contract", "scene"), [by_night(LEASE, TORN, BETWEEN), (COUNT, INSTANCES, TOO_LATE)]
)
def test_a_script_shows_it_each_time(
    where: str, contract: str, scene: dict[str, Any], api: str
) -> None:
    text = script_for(where, contract, scene, api)
    assert complains_alone(text, contract), text


@pytest.mark.nightly
def test_a_script_goes_on_where_the_change_raises(tmp_path: Path) -> None:
    text = script_for(LEASE, TORN, BETWEEN, "sync")
    raising = text.replace('saver.delete_thread("a")', 'raise OSError("no room")')
    assert raising != text
    status, said = ended(raising, tmp_path)
    assert status == CANNOT_TELL
    assert "nothing was changed" in said


@pytest.mark.nightly
def test_a_shell_does_not_take_a_script_for_stopped(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text(script_for(LEASE, TORN, BETWEEN, "sync"), encoding="utf-8")
    with subprocess.Popen([sys.executable, file], stderr=subprocess.DEVNULL) as running:
        # As a shell does, which goes on at once if what it has started stops.
        _, status = os.waitpid(running.pid, os.WUNTRACED)
        running.returncode = os.waitstatus_to_exitcode(status)
    assert running.returncode == 1
