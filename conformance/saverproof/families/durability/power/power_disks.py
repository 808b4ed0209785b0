"""Opens disks, and compares what their stores show with what they may hold."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from saverproof.contracts.tables import durability
from saverproof.families.durability.kills.bench import KillBench, in_each
from saverproof.families.durability.kills.judging import KilledRun, KillOutcome, judge
from saverproof.families.durability.kills.trials import trouble_in
from saverproof.families.durability.kills.workloads import Workload
from saverproof.programs.steps.describing import describe
from saverproof.savers.workspace import Workspace
from saverproof_faults.kill import DiedBy, View
from saverproof_faults.power import DiskImage, MissingSync, SyncPlace, materialize

POWER = durability.POWER_CUT.id
KEEPS = durability.POWER_CUT_LOSES_NOTHING.id
CUT = (POWER, KEEPS)
WRONG = (KillOutcome.UNOPENED, KillOutcome.TORN, KillOutcome.GAP)
"""The outcomes that no store may show after a power cut. The loss of its last operations is judged
apart.
"""


@dataclass(frozen=True, slots=True)
class FailedSync:
    """The sync that failed in a run, and the errors that the caller got.

    ``raised`` are the errors of each operation that raised, and was called again. ``settings`` are
    those of the run's connections: where the switch to a log fails, a saver may go on without it.
    """

    place: SyncPlace
    raised: Mapping[int, tuple[str, ...]]
    settings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WrongImage:
    """An image that shows a flaw.

    ``lost`` are the acknowledged operations that are gone from it, if that is the flaw. ``missing``
    are the syncs that had not been made when an operation returned.
    """

    image: DiskImage
    outcome: KillOutcome
    observed: str
    lost: tuple[int, ...] = ()
    missing: Mapping[int, tuple[MissingSync, ...]] = field(default_factory=dict)
    failed: FailedSync | None = None


@dataclass(slots=True)
class Disks:
    """The judged disks of the recordings of one workload."""

    bench: KillBench
    workload: Workload
    images: int = 0
    counts: Counter[KillOutcome] = field(default_factory=Counter)
    by_lost: Counter[int] = field(default_factory=Counter)
    flaws: dict[str, WrongImage] = field(default_factory=dict)
    """Each broken contract, with the first image in the run that shows it."""
    bad: Counter[str] = field(default_factory=Counter)
    """How many images show each contract broken."""
    after_acknowledged: int = 0
    """How many images are of a time after the first acknowledged operation, and can be opened."""
    opening: int = 0
    """How many images are of the time in which the store was first opened."""
    compared: KilledRun | None = None
    """The clean run, corrected by what other processes see of the same run; None until that was
    done.
    """
    deadly: bool = False
    """True if a disk killed the process that opened its store, as SIGBUS does."""

    def judge(
        self,
        run: KilledRun,
        versions: list[Any],
        images: tuple[DiskImage, ...],
        missing: Mapping[int, tuple[MissingSync, ...]],
        failed: FailedSync | None = None,
    ) -> None:
        """Open each of these disks, and compare it with a clean ``run`` that has these channel
        versions.
        """
        for image, seen in self._opened(images):
            if seen is None:
                continue
            self.images += 1
            self.opening += not image.started
            flaw = _flaw_in(self.compared or run, image, seen, missing, failed)
            if self.compared is None and (flaw.lost or flaw.outcome in WRONG):
                # A power cut is not blamed for anything that is also wrong without one.
                self.compared = self.bench.compared(self.workload, run, versions)
                flaw = _flaw_in(self.compared, image, seen, missing, failed)
            self.counts[flaw.outcome] += 1
            if flaw.outcome in WRONG:
                self._keep(POWER, flaw)
                continue
            self.after_acknowledged += bool(image.acknowledged)
            self.by_lost[len(flaw.lost)] += 1
            if flaw.lost:
                self._keep(KEEPS, flaw)

    def _opened(
        self, images: tuple[DiskImage, ...]
    ) -> Iterator[tuple[DiskImage, dict[str, Any] | None]]:
        folder = Path(tempfile.mkdtemp(prefix="disks-", dir=self.bench.stores))
        try:
            paths = [folder / str(number) for number in range(len(images))]
            for image, path in zip(images, paths, strict=True):
                materialize(image, path)
            yield from zip(images, self._looked(paths), strict=True)
        finally:
            shutil.rmtree(folder)

    def _looked(self, paths: list[Path]) -> list[dict[str, Any] | None]:
        """Return what each store shows."""
        threads = {"threads": list(self.workload.threads), **in_each(self.workload.threads)}
        stores = [self.bench.arguments(Workspace(path, "power")) | threads for path in paths]
        return [self._seen(view) for view in self.bench.looked_at_each(stores)]

    def _seen(self, view: View | None) -> dict[str, Any] | None:
        if view is None:
            return None
        self.deadly |= view.died_by is DiedBy.SIGNAL
        if view.value is None:
            return {"opening": f"{view.ending()}\n{view.stacks}".strip(), "shown": {}}
        found: dict[str, Any] = view.value
        return found

    def _keep(self, contract: str, flaw: WrongImage) -> None:
        self.bad[contract] += 1
        known = self.flaws.get(contract)
        if known is None or flaw.image.position < known.image.position:
            self.flaws[contract] = flaw


def _flaw_in(
    run: KilledRun,
    image: DiskImage,
    seen: dict[str, Any],
    missing: Mapping[int, tuple[MissingSync, ...]],
    failed: FailedSync | None,
) -> WrongImage:
    def flaw(outcome: KillOutcome, observed: str, lost: tuple[int, ...] = ()) -> WrongImage:
        return WrongImage(image, outcome, observed, lost, missing, failed)

    trouble = trouble_in(seen)
    if trouble:
        return flaw(KillOutcome.UNOPENED, trouble)
    acknowledged, started = len(image.acknowledged), len(image.started)
    for done in range(started, -1, -1):
        if run.states[done] == seen["shown"]:
            lost = tuple(range(done, acknowledged))
            outcome = KillOutcome.LOST if lost else KillOutcome.WHOLE
            return flaw(outcome, f"gone: {_steps(run, lost)}", lost)
    verdict = judge(run, acknowledged, started > acknowledged, seen["shown"])
    if verdict.outcome is KillOutcome.WHOLE:
        return flaw(KillOutcome.WHOLE, "")
    gone = _steps(run, verdict.lost)
    if verdict.outcome is KillOutcome.GAP:
        return flaw(KillOutcome.GAP, f"gone: {gone}; there: {_steps(run, verdict.later)}")
    return flaw(KillOutcome.TORN, f"in part: {gone or len(verdict.torn)}")


def _steps(run: KilledRun, positions: tuple[int, ...]) -> str:
    return "; ".join(describe(run.program[position]) for position in positions)
