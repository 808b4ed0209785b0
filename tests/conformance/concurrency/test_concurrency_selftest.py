"""Every wrong saver of the concurrency family is caught by many callers, and rightly blamed.

By day one of each contract, by threads; by tasks one more, and one that blocks their loop.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.concurrency.concurrency_support import SCENES_ALONE, blamed, judged
from tests.conformance.concurrency.concurrent_savers import CONCURRENT, attribute_of
from tests.nights import by_night, through_the_day
from tests.wrong_savers import WrongSaver
from tests.wrong_savers.in_threads import InThreads

from saverproof.contracts.registry import contract, contracts
from saverproof.families.concurrency import reporting
from saverproof.families.concurrency.contract_ids import LOOP
from saverproof.families.concurrency.effort import SceneEffort

MUST_AND_SHOULD = {one.id for one in contracts("concurrency")}
SLOW_BY_NIGHT = {
    "copy-row-by-row",
    "copy-table-by-table",
    "copy-of-two-reads",
    "deletion-in-two-transactions",
    "prune-of-all-but-the-newest-it-read",
    "prune-of-early-writes",
    "runs-deleted-by-thread",
}
"""Wrong savers that take ten seconds or more to catch: others break their contracts by day."""
BY_DAY = 1
"""Wrong savers of each contract that are tried by day."""
BY_TASKS_BY_DAY = {"sync-on-the-loop", "deletion-fills-tables-anew"}
"""Wrong savers whose calls tasks make by day: what blocks the loop only they can show, and the code
of all others is the one that threads run.
"""
IN_THREADS = [wrong for wrong in CONCURRENT if wrong.breaks != LOOP]
BY_TASKS = [w for w in CONCURRENT if w.breaks == LOOP or issubclass(w.saver, InThreads)]
THROUGH = [
    *(
        pytest.param(*one.values, "sync", id=f"{one.id}, sync", marks=one.marks)
        for one in through_the_day(IN_THREADS, BY_DAY, SLOW_BY_NIGHT)
    ),
    *(
        (pytest.param if wrong.name in BY_TASKS_BY_DAY else by_night)(
            wrong, "async", id=f"{wrong.name}, async"
        )
        for wrong in BY_TASKS
    ),
]
UPKEEP = SceneEffort(shared=1, instances=0, processes=0, races=0, upkeep=20, places=6)
"""Four histories told the rarest mistakes in five of six tries."""
FOR = {
    "threads-lose-nothing": SceneEffort(shared=60, instances=2, processes=1, races=0),
    "no-torn-reads": SceneEffort(shared=60, instances=2, processes=1, races=0, reads=12),
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
HELD = SceneEffort(shared=1, instances=0, processes=0, races=0, reads=12)
"""What comes between two statements by chance never."""
STOPPED = SceneEffort(shared=1, instances=0, processes=0, races=0, reads=2, stopped_s=3.0)
"""A lock that is kept for half a second is over if nobody renews it."""
GRAPHS = SceneEffort(shared=1, instances=0, processes=0, races=0, upkeep=1, places=6)
"""What is held at each of its places needs no luck."""
HELD_COPIES = SceneEffort(shared=1, instances=0, processes=0, races=0, upkeep=1, reads=12)
"""A run adds; only what deletes shows that a copy is of two moments."""
EXCEPT = {
    # Its callers hang where someone tidies up beside them.
    "prune-takes-locks-in-another-order": UPKEEP,
    # One history of three or four does not show it.
    "lock-lost-to-areader": SceneEffort(shared=2, instances=0, processes=20, races=0),
    # Two of its own kind hang, whatever else there is.
    "copy-locks-threads-as-they-are-named": GRAPHS,
    # Only beside a deletion of runs is a call refused.
    "runs-deleted-outside-the-lock": UPKEEP,
    # No calls of a history are questions or answers of a graph.
    "prune-of-questions-by-what-was-newest": GRAPHS,
    "prune-writes-answers-anew": GRAPHS,
    "copy-of-questions-first": GRAPHS,
    "copy-takes-questions-away": GRAPHS,
    "deletion-fills-tables-anew": GRAPHS,
    "runs-deleted-with-new-questions": GRAPHS,
    # No calls of a history are about delta channels.
    "prune-of-chains-by-what-was-newest": GRAPHS,
    # Nobody comes between the statements of these by chance.
    "read-under-its-own-lock": HELD,
    "file-read-twice": HELD,
    "filled-late": HELD,
    "runs-deleted-in-anothers-transaction": HELD,
    "count-asked-for-too-late": HELD,
    "stored-values-looked-up-first": HELD,
    "parent-stored-again": HELD,
    "lease-not-looked-at": STOPPED,
    "copy-of-two-reads": HELD_COPIES,
    # A scene of its own tells it: histories would all be played, for nothing.
    "values-found-by-version-alone": SCENES_ALONE,
}
"""What catches wrong savers that another scene tells than their contract's other ones."""


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(("wrong", "api"), THROUGH)
def test_a_wrong_saver_is_caught_and_rightly_blamed(
    wrong: WrongSaver,
    api: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reporting, "reproducer", lambda *arguments: "")
    where = f"tests.conformance.concurrency.concurrent_savers:SAVERS.{attribute_of(wrong)}"
    effort = EXCEPT.get(wrong.name, FOR[wrong.breaks.partition("/")[2]])
    found = blamed(judged(where, tmp_path, api, monkeypatch, effort))
    allowed = {wrong.breaks, *contract(wrong.breaks).implies, *wrong.also}
    assert wrong.breaks in found, f"not caught: {wrong.note}"
    assert found <= allowed, f"blamed for {sorted(found - allowed)} as well"


def test_no_contract_is_without_a_wrong_saver() -> None:
    assert {wrong.breaks for wrong in CONCURRENT} == MUST_AND_SHOULD
