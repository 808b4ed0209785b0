"""A removal may be refused where anything in a thread is of delta channels, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.conformance.right_targets import ref_to
from tests.wrong_savers.registry import opener

from saverproof import Target
from saverproof.families.machines.explaining.trials import Trials
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.programs.steps.definitions import DeleteForRuns, Program, Prune, Put
from saverproof.programs.values import Value
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.loading import load

RUN = "run-1"
COUNTED = {"counters_since_delta_snapshot": {"size": [1, 1]}}
CHANGED = Put("a", "", 1, changes=(("size", None),), metadata=COUNTED)
SNAPSHOT = (("size", Value("delta-snapshot", 1)),)
PRUNE = Prune(("b", "a"), "keep_latest")

PROGRAMS: dict[str, Program] = {
    "the newest is a snapshot": (CHANGED, Put("a", "", 2, 1, changes=SNAPSHOT), PRUNE),
    "all are snapshots": (Put("a", "", 1, changes=SNAPSHOT), Put("a", "", 2), PRUNE),
    "another branch counts": (CHANGED, Put("a", "", 2), PRUNE),
    "nothing that stays is rebuilt": (
        CHANGED,
        Put("a", "", 2, 1, metadata={"run_id": RUN}),
        DeleteForRuns((RUN,)),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_thread_with_deltas_may_be_refused(name: str, tmp_path: Path) -> None:
    with EventLoop() as loop:
        target = load(ref_to("refuses-threads-with-deltas"))
        run = Trials(target, tmp_path, loop, ("sync",)).replay(PROGRAMS[name])
    assert run.refusals == (True,)
    assert not run.breaches


class RefusesAnyThread(ReferenceSaver):
    """Has a prune that nobody can use."""

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        if thread_ids:
            raise NotImplementedError("delta channels")


@pytest.mark.parametrize(
    "prune", [PRUNE, Prune(("b",), "keep_latest"), Prune(("a", "b"), "delete")]
)
def test_a_thread_without_deltas_may_not_be_refused(prune: Prune, tmp_path: Path) -> None:
    with EventLoop() as loop:
        target = Target(name="refuses", open=opener(RefusesAnyThread))
        program = (Put("a", "", 1), Put("b", "", 1), prune)
        run = Trials(target, tmp_path, loop, ("sync",)).replay(program)
    assert {breach.contract for breach in run.breaches} == {"deletion/prune-latest"}
