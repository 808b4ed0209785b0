"""Whatever follows parents ends where they are a loop; a saver that does not is told, and once."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.conformance.looping_savers import (
    AwaitsAThread,
    GoesRoundInAPool,
    GoesRoundInItsThread,
    WaitsInAThread,
)
from tests.conformance.script_runs import ended
from tests.waiting import PATIENCE_S
from tests.wrong_savers.registry import opener

from saverproof.families.machines.explaining.trials import Trials
from saverproof.judging.facts import Difference
from saverproof.judging.scenes import ParentLoop, parent_loop
from saverproof.judging.session import Breach
from saverproof.mistakes.delta_history import HistoryGoesRound, PruneGoesRound
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf
from saverproof.process.counted_lines import LineCount, TooManyLinesError
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.target import Target
from saverproof.scripts import reproducer
from saverproof.scripts.script import LONGEST

ENDS = "delta-history/ends"
HISTORY = "get_delta_channel_history"


class RefusesALoop(ReferenceSaver):
    """Right: a checkpoint is not put under its own descendant."""

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        parent = self.get_tuple(config) if self._asked_id(config) else None
        while parent is not None:
            if parent.checkpoint["id"] == checkpoint["id"]:
                raise ValueError("the parent is a descendant of the checkpoint")
            parent = self.get_tuple(parent.parent_config) if parent.parent_config else None
        return super().put(config, checkpoint, metadata, new_versions)


class SaysWhereItGoesRound(ReferenceSaver):
    """Right: the walk raises at the loop."""

    def _walk(self, shelf: Shelf, target: CheckpointRow) -> Iterator[CheckpointRow]:
        seen = {target.id}
        row = target
        while row.parent in shelf.checkpoints:
            row = shelf.checkpoints[row.parent]
            if row.id in seen:
                raise ValueError(f"the parents of {target.id} are a loop at {row.id}")
            seen.add(row.id)
            yield row


class GoesRoundTwice(HistoryGoesRound):
    """Right: a bound that the length of the thread gives ends the walk, late and surely."""

    def _walk(self, shelf: Shelf, target: CheckpointRow) -> Iterator[CheckpointRow]:
        return islice(super()._walk(shelf, target), 2 * len(shelf.checkpoints))


class GivesUpAfterTenThousand(HistoryGoesRound):
    """Wrong: it ends, and has loaded each of three checkpoints three thousand times."""

    def _walk(self, shelf: Shelf, target: CheckpointRow) -> Iterator[CheckpointRow]:
        return islice(super()._walk(shelf, target), 10_000)


class Waits(ReferenceSaver):
    """Wrong: the walk waits for what never comes."""

    asked: ClassVar[list[str]] = []

    def _walk(self, shelf: Shelf, target: CheckpointRow) -> Iterator[CheckpointRow]:
        for number, row in enumerate(super()._walk(shelf, target)):
            if number == len(shelf.checkpoints) - 2 and row.parent is not None:
                self.asked.append(target.thread)
                threading.Event().wait()
            yield row


class GoesRoundInSql(ReferenceSaver):
    """Wrong: a recursive query without an end, in which no line of Python is run."""

    at_work: ClassVar[list[sqlite3.Connection]] = []

    def get_delta_channel_history(self, *, config: Any, channels: Sequence[str]) -> Any:
        oldest = min(self._shelf(config["configurable"]["thread_id"], "").checkpoints)
        found = self.get_tuple(
            {"configurable": {**config["configurable"], "checkpoint_id": oldest}}
        )
        if found is not None and found.parent_config is not None:
            database = sqlite3.connect(":memory:", check_same_thread=False)
            self.at_work.append(database)
            database.execute(
                "WITH RECURSIVE up(id) AS (SELECT 1 UNION ALL SELECT id FROM up) "
                "SELECT count(*) FROM up"
            )
        return super().get_delta_channel_history(config=config, channels=channels)


@pytest.fixture
def loop() -> Iterator[EventLoop]:
    """An event loop for async calls."""
    with EventLoop() as running:
        yield running


def observed(saver: Any, operation: str, loop: EventLoop, folder: Path, api: str = "sync") -> Any:
    """What is told of a saver in the scene: contract and observation, or None if it is right."""
    target = Target(name=saver.__name__, open=opener(saver))
    trials = Trials(target, folder, loop, (api,))
    breaches = trials.replay((ParentLoop(operation),), count=True).breaches
    assert (ENDS in trials.checked) == (not breaches)
    told = [(breach.contract, str(breach.difference.observed)) for breach in breaches]
    assert all(contract == ENDS for contract, _ in told)
    return told[0][1] if told else None


@pytest.mark.parametrize("api", ["sync", "async"])
@pytest.mark.parametrize("operation", parent_loop.IN_A_LOOP)
@pytest.mark.parametrize(
    "saver", [ReferenceSaver, RefusesALoop, SaysWhereItGoesRound, GoesRoundTwice]
)
def test_a_saver_that_ends_in_whatever_way_is_right(
    saver: Any, operation: str, api: str, loop: EventLoop, tmp_path: Path
) -> None:
    assert observed(saver, operation, loop, tmp_path, api) is None


@pytest.mark.parametrize("api", ["sync", "async"])
@pytest.mark.parametrize(
    ("saver", "operation"),
    [
        (HistoryGoesRound, HISTORY),
        (PruneGoesRound, "prune"),
        (GivesUpAfterTenThousand, HISTORY),
        (GoesRoundInItsThread, HISTORY),
        (GoesRoundInAPool, HISTORY),
    ],
)
# Where a saver's own thread is ended.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_saver_that_goes_round_is_told_by_its_lines(
    saver: Any, operation: str, api: str, loop: EventLoop, tmp_path: Path
) -> None:
    said = observed(saver, operation, loop, tmp_path, api)
    assert said == "it goes on after 100 times the lines that it takes beside the loop"


# Where a saver's own thread is ended.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(
    ("saver", "api"),
    [(GoesRoundInItsThread, "sync"), (GoesRoundInAPool, "sync"), (AwaitsAThread, "async")],
)
def test_a_script_counts_the_lines_of_the_savers_threads(
    saver: Any, api: str, loop: EventLoop, tmp_path: Path
) -> None:
    target = target_of(saver)
    run = Trials(target, tmp_path, loop, (api,)).replay((ParentLoop(HISTORY),))
    (breach,) = run.breaches
    check(reproducer(target, run.program, breach, api, name=ENDS), saver, tmp_path)


def test_a_script_of_what_hangs_in_a_pool_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At its usual end Python would wait for the pool."""
    monkeypatch.setattr(parent_loop, "PATIENCE_S", 1.0)
    step = ParentLoop(HISTORY)
    hang = Difference(parent_loop._HANG, None, f"{HISTORY} to end", "no answer", look=step)
    breach = Breach(ENDS, hang, 1, step)
    script = reproducer(target_of(WaitsInAThread), (step,), breach, "async", name=ENDS)
    check(script, WaitsInAThread, tmp_path)


def target_of(saver: Any) -> Target:
    """A target that scripts open by the name of its class."""
    opening = (
        "from contextlib import nullcontext\n"
        f"from tests.conformance.looping_savers import {saver.__name__}\n"
        f"nullcontext({saver.__name__}())"
    )
    return Target(name="threads", open=opener(saver), opening=opening)


def check(script: str, saver: Any, folder: Path) -> None:
    """A short script complains of the saver, and of the right one it does not."""
    assert 0 < script.count("\n") <= LONGEST
    status, said = ended(script, folder)
    assert (status, said.startswith(ENDS)) == (1, True)
    right = script.replace(f"import {saver.__name__}", f"import ReferenceSaver as {saver.__name__}")
    assert ended(right, folder) == (0, "")


def test_what_has_hung_is_not_asked_again(
    loop: EventLoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parent_loop, "PATIENCE_S", 0.3)
    target = Target(name="waits", open=opener(Waits))
    trials = Trials(target, tmp_path, loop, ("sync",))
    for _ in range(2):
        (breach,) = trials.replay((ParentLoop(HISTORY),)).breaches
        assert (breach.contract, breach.hangs) == (ENDS, True)
        assert breach.difference.observed == "no answer within 0.3 s"
    assert Waits.asked == ["loop"]
    # What hangs holds nothing against the threads of later calls.
    assert threading.gettrace() is None


def test_a_loop_below_python_is_told_by_its_time(
    loop: EventLoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parent_loop, "PATIENCE_S", 0.3)
    # However slow the machine is: what counts as fast beside the loop is no matter here.
    monkeypatch.setattr(parent_loop, "MANY", 0)
    try:
        assert observed(GoesRoundInSql, HISTORY, loop, tmp_path) == "no answer within 0.3 s"
    finally:
        for database in GoesRoundInSql.at_work:
            database.interrupt()


def test_a_call_that_is_given_up_ends() -> None:
    """A walk that waits for its server takes few lines. Left alone, it would fill the memory of
    what is judged later.
    """
    lines, walked = LineCount(), threading.Event()

    def read_one() -> None:
        walked.set()

    def walk() -> None:
        with suppress(TooManyLinesError), lines.counting():
            while True:
                read_one()

    walking = threading.Thread(target=walk, daemon=True)
    walking.start()
    assert walked.wait(PATIENCE_S)
    lines.give_up()
    walking.join(PATIENCE_S)
    assert not walking.is_alive()
    assert not lines.exceeded
