"""Cuts the power: one recorded run, and every disk, or a fair share of them, that it may leave."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from saverproof.contracts.tables import durability
from saverproof.errors import NoCleanRunError
from saverproof.families.budget import Budget
from saverproof.families.durability import power_child
from saverproof.families.durability.bench import DEADLINE_S, KillBench
from saverproof.families.durability.judging import KilledRun, KillOutcome, judge
from saverproof.families.durability.trials import trouble_in
from saverproof.families.durability.workloads import SIZES, Workload, drawn, workloads
from saverproof.programs.steps.describing import describe
from saverproof.savers.workspace import Workspace
from saverproof_faults.io import IoCall, available
from saverproof_faults.io.data import recording_from
from saverproof_faults.kill import Body, DiedBy, View
from saverproof_faults.power import (
    DiskImage,
    MissingSync,
    PowerCuts,
    materialize,
    missing_syncs,
)
from saverproof_faults.syscalls import available as system_calls_unavailable

POWER = durability.POWER_CUT.id
KEEPS = durability.POWER_CUT_LOSES_NOTHING.id
CUT = (POWER, KEEPS)
NOT_SQLITE = (
    "no I/O of SQLite was seen: power is cut only while SQLite, as Python's sqlite3 has it, writes "
    "files in the workspace"
)
NO_FILES = "no system call on files of the workspace was seen"
SQLITE, FILES = "Recorder", "CallRecorder"
_NOTHING = {SQLITE: NOT_SQLITE, FILES: NO_FILES}
_SEEN = {SQLITE: "SQLite", FILES: "system calls that are seen"}
_UNMODELLED = (
    "neither symbolic links nor files that get their first name later, by a link, are modelled"
)
_BATCH = 20
_RANDOM_STEPS = 16
_LONG_VALUES = 2
"""Of the steps with values of all sizes: 64 kB each, which savers keep in files of their own, and
no more, since every disk is made of all that was written.
"""
WRONG = (KillOutcome.UNOPENED, KillOutcome.TORN, KillOutcome.GAP)
"""What no store should be; to have lost its last operations is another matter."""


def longer_run(seed: int, able: frozenset[str]) -> Workload:
    """What is recorded: a fixed program, long values, and a random program on its own threads."""
    random = drawn(f"{seed}:power", able, _RANDOM_STEPS).of("more-")
    program = (*workloads(able)[0].program, *SIZES[:_LONG_VALUES], *random.program)
    return Workload("a longer run", program)


@dataclass(frozen=True, slots=True)
class Flaw:
    """One image that should not be what it is. ``lost`` are the acknowledged operations that are
    gone from it, where it is that which is wrong."""

    image: DiskImage
    outcome: KillOutcome
    observed: str
    lost: tuple[int, ...] = ()


@dataclass(slots=True)
class Power:
    """The power cuts of one item. ``on_batch`` is called after each batch of images."""

    bench: KillBench
    workload: Workload
    most: int
    on_batch: Callable[[], None]
    budget: Budget = field(default_factory=Budget)
    images: int = 0
    counts: Counter[KillOutcome] = field(default_factory=Counter)
    by_lost: Counter[int] = field(default_factory=Counter)
    settings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    flaws: dict[str, Flaw] = field(default_factory=dict)
    """Each broken contract, and the first image in the run that shows it."""
    bad: Counter[str] = field(default_factory=Counter)
    """How many images show each broken."""
    unseen: str | None = None
    """Why no power could be cut."""
    missing: dict[int, tuple[MissingSync, ...]] = field(default_factory=dict)
    """The syncs that were missing when an operation had returned."""
    after_acknowledged: int = 0
    """Images of a time at which something had been acknowledged, whose store can be used."""
    opening: int = 0
    """Images of the first opening."""
    recorder: str = SQLITE
    """What recorded the run, as scripts call it."""
    beside: bool = False
    """Whether files were written beside those of a database, which its layer does not see."""
    deadly: bool = False
    """Whether a disk took the process with it that opened the store, as SIGBUS does."""

    def run(self) -> None:
        """Record a run and judge the disks. What cannot be judged is said in ``unseen``."""
        try:
            run, versions = self.bench.rehearsed(self.workload)
            self._record_and_judge(run, versions)
        except NoCleanRunError as problem:
            self.unseen = str(problem)[:900]

    def _record_and_judge(self, run: KilledRun, versions: list[Any]) -> None:
        """By the layer that knows most of those that see the saver write at all."""
        reasons: list[str] = []
        for recorder, body, why in (
            (SQLITE, power_child.record, available()),
            (FILES, power_child.record_files, system_calls_unavailable()),
        ):
            self.recorder, self.unseen = recorder, why
            cuts = self._recorded(body, versions) if why is None else None
            if cuts is not None:
                self._judge(run, cuts)
                return
            reasons.append(str(self.unseen))
            if not self._others_may_see_more(why):
                break
        self.unseen = "; ".join(reasons)

    def _others_may_see_more(self, why: str | None) -> bool:
        """Whether it was this layer that could not see, or not all: files beside a database."""
        return self.unseen in (why, NOT_SQLITE) or self.beside

    def _recorded(self, body: Body, versions: list[Any]) -> PowerCuts | None:
        with (
            self.bench.store_for(self.workload, versions) as arguments,
            tempfile.TemporaryDirectory(dir=self.bench.stores) as folder,
        ):
            file = Path(folder, "recording.json")
            arguments["recording"] = str(file)
            result = self.bench.harness.trial(body, arguments, deadline_s=DEADLINE_S)
            if result.died_by is not DiedBy.FINISHED:
                raise NoCleanRunError(f"a recorded run: {result.ending()} {result.stacks}".strip())
            recording = recording_from(json.loads(file.read_text(encoding="utf-8")))
        self.settings = result.value["settings"] or ["settings not seen"]
        if not any(isinstance(entry, IoCall) for entry in recording.log):
            self.unseen = _NOTHING[self.recorder]
            return None
        if result.value["unseen"]:
            self.unseen = f"written past the system calls: {', '.join(result.value['unseen'])}"
            return None
        if result.value["unmodelled"]:
            self.unseen = f"{result.value['unmodelled']} ({_UNMODELLED})"
            return None
        if result.value["unexplained"]:
            names = ", ".join(result.value["unexplained"])
            self.unseen = f"written to by other means than {_SEEN[self.recorder]}: {names}"
            self.beside = self.recorder == SQLITE
            return None
        if self.recorder == FILES:
            self.settings = ["plain files"]
        try:
            self.missing = missing_syncs(recording)
            return PowerCuts(recording, seed=self.bench.plan.seed, cap=self.most)
        except ValueError as problem:
            self.unseen = str(problem)
            return None

    # --- judging ---------------------------------------------------------------------------

    def _judge(self, run: KilledRun, cuts: PowerCuts) -> None:
        if cuts.capped:
            self.notes.append(f"{cuts.planned} of {cuts.enumerated} legal images, by chance")
        left = iter(cuts)
        batches = range(-(-cuts.planned // _BATCH))
        for _ in self.budget.within(batches, f"batches of {_BATCH} power cuts", share=0.8):
            images = tuple(islice(left, _BATCH))
            for image, seen in self._opened(images):
                if seen is not None:
                    self._take(run, image, seen)
            self.on_batch()
            if self.bench.hangs_too_often:
                self.notes.append(f"cut off: {self.bench.hangs} processes hung")
                return

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
        """What each store shows."""
        threads = {"threads": list(self.workload.threads)}
        stores = [self.bench.arguments(Workspace(path, "power")) | threads for path in paths]
        return [self._seen(view) for view in self.bench.looked_at_each(stores)]

    def _seen(self, view: View | None) -> dict[str, Any] | None:
        if view is None:
            return None
        self.deadly |= view.died_by is DiedBy.SIGNAL
        if view.value is None:
            return {"opening": f"{view.ending()} {view.stacks}".strip(), "shown": {}}
        found: dict[str, Any] = view.value
        return found

    def _take(self, run: KilledRun, image: DiskImage, seen: dict[str, Any]) -> None:
        self.images += 1
        self.opening += not image.started
        flaw = self._flaw_in(run, image, seen)
        self.counts[flaw.outcome] += 1
        if flaw.outcome in WRONG:
            self._keep(POWER, flaw)
            return
        self.after_acknowledged += bool(image.acknowledged)
        self.by_lost[len(flaw.lost)] += 1
        if flaw.lost:
            self._keep(KEEPS, flaw)

    def _keep(self, contract: str, flaw: Flaw) -> None:
        self.bad[contract] += 1
        known = self.flaws.get(contract)
        if known is None or flaw.image.position < known.image.position:
            self.flaws[contract] = flaw

    def _flaw_in(self, run: KilledRun, image: DiskImage, seen: dict[str, Any]) -> Flaw:
        trouble = trouble_in(seen)
        if trouble:
            return Flaw(image, KillOutcome.UNOPENED, trouble)
        acknowledged, started = len(image.acknowledged), len(image.started)
        for done in range(started, -1, -1):
            if run.states[done] == seen["shown"]:
                lost = tuple(range(done, acknowledged))
                outcome = KillOutcome.LOST if lost else KillOutcome.WHOLE
                return Flaw(image, outcome, f"gone: {_steps(run, lost)}", lost)
        verdict = judge(run, acknowledged, started > acknowledged, seen["shown"])
        if verdict.outcome is KillOutcome.WHOLE:
            return Flaw(image, KillOutcome.WHOLE, "")
        gone = _steps(run, verdict.lost)
        if verdict.outcome is KillOutcome.GAP:
            said = f"gone: {gone}; there: {_steps(run, verdict.later)}"
            return Flaw(image, KillOutcome.GAP, said)
        return Flaw(image, KillOutcome.TORN, f"in part: {gone or len(verdict.torn)}")


def _steps(run: KilledRun, positions: tuple[int, ...]) -> str:
    return "; ".join(describe(run.program[position]) for position in positions)
