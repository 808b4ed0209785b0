"""Cuts the power: records one run, and judges all disks that a power cut may leave, or an even
share of them.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from saverproof.errors import NoCleanRunError
from saverproof.families.budget import Budget
from saverproof.families.durability.effort import ALL_SYNCS
from saverproof.families.durability.kills.bench import DEADLINE_S, MOST_HANGS, KillBench
from saverproof.families.durability.kills.judging import KilledRun
from saverproof.families.durability.kills.workloads import SIZES, Workload, drawn, workloads
from saverproof.families.durability.power import power_child
from saverproof.families.durability.power.power_disks import Disks, FailedSync, WrongImage
from saverproof.programs.steps.definitions import Step
from saverproof_faults.io import IoCall, Recording, available
from saverproof_faults.io.data import recording_from
from saverproof_faults.kill import Body, DiedBy, TrialResult
from saverproof_faults.power import (
    PowerCuts,
    SyncPlace,
    failed_at,
    missing_syncs,
    sync_places,
)
from saverproof_faults.syscalls import available as system_calls_unavailable
from saverproof_reports.wording import count_of

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
_ENDS_JOURNAL = "syncs by which a journal of SQLite ends, where SQLite itself is at fault"
_BATCH = 20
_RANDOM_STEPS = 16
_LONG_VALUES = 2
"""How many steps with long values are recorded. Their values of 64 kB are often kept in files of
their own. More would slow down every disk, as each is made of all that was written.
"""


def longer_run(seed: int, able: frozenset[str]) -> Workload:
    """Return the workload to record: a fixed program, long values, and a random program on threads
    of its own.
    """
    random = drawn(f"{seed}:power", able, _RANDOM_STEPS).of("more-")
    program = (*workloads(able)[0].program, *SIZES[:_LONG_VALUES], *random.program)
    return Workload("a longer run", program)


@dataclass(slots=True)
class Power:
    """Makes the power cuts of one item.

    ``most`` is the number of disks of the run in which nothing fails. One sync fails in each of
    ``syncs`` further runs, of which ``each`` disks are judged. ``only`` is the number of the one
    sync to fail; 0 leaves the choice to chance. ``on_batch`` is called after each batch of images.
    """

    bench: KillBench
    workload: Workload
    most: int
    on_batch: Callable[[], None]
    budget: Budget = field(default_factory=Budget)
    syncs: int = 0
    each: int = 0
    only: int = 0
    settings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unseen: str | None = None
    """Why the power could not be cut; None if it could."""
    recorder: str = SQLITE
    """The name of the recorder in scripts."""
    beside: bool = False
    """True if files were written beside a database, which the recorder of SQLite does not see."""
    places: int = 0
    """The syncs of the run that could fail."""
    failed: int = 0
    """How many syncs failed in the runs that were judged."""
    unjudged: Counter[str] = field(default_factory=Counter)
    """Why runs with a failing sync could not be judged, with the number of runs."""
    hung: int = 0
    """How many runs with a failing sync hung."""
    disks: Disks = field(init=False)
    """The disks of the run in which nothing fails."""
    failing: Disks = field(init=False)
    """The disks of the runs in which a sync fails."""

    def __post_init__(self) -> None:
        self.disks = Disks(self.bench, self.workload)
        self.failing = Disks(self.bench, self.workload)

    @property
    def flaws(self) -> dict[str, WrongImage]:
        """Return each broken contract, with the plainest image that shows it."""
        return {**self.failing.flaws, **self.disks.flaws}

    @property
    def images(self) -> int:
        """The number of disks of power cuts that were judged."""
        return self.disks.images + self.failing.images

    def failing_in(self, workload: Workload, each: int, only: int = 0) -> Power:
        """Return the power cuts of another program in which a sync fails: each sync in turn, or
        only one.
        """
        return Power(self.bench, workload, 0, self.on_batch, syncs=ALL_SYNCS, each=each, only=only)

    def run(self) -> None:
        """Record a run and judge its disks. ``unseen`` says what could not be judged."""
        try:
            run, versions = self.bench.rehearsed(self.workload)
            self._record_and_judge(run, versions)
        except NoCleanRunError as problem:
            self.unseen = str(problem)[:900]

    def _record_and_judge(self, run: KilledRun, versions: list[Any]) -> None:
        """Record and judge with the first recorder that sees the saver write; recorders that know
        more come first.
        """
        reasons: list[str] = []
        for recorder, body, why in (
            (SQLITE, power_child.record, available()),
            (FILES, power_child.record_files, system_calls_unavailable()),
        ):
            self.recorder, self.unseen = recorder, why
            recording = self._recorded(body, versions) if why is None else None
            if recording is not None:
                self._judge(run, versions, recording)
                self._fail_syncs(run, versions, body, recording)
                return
            reasons.append(str(self.unseen))
            if not self._others_may_see_more(why):
                break
        self.unseen = "; ".join(reasons)

    def _others_may_see_more(self, why: str | None) -> bool:
        """Return whether another recorder may see more, because this one was not available or saw
        only some of the files.
        """
        return self.unseen in (why, NOT_SQLITE) or self.beside

    def _recorded(self, body: Body, versions: list[Any]) -> Recording | None:
        result, recording = self._played(body, versions)
        if recording is None:
            raise NoCleanRunError(f"a recorded run: {result.ending()} {result.stacks}".strip())
        value = result.value
        self.settings = value["settings"] or ["settings not seen"]
        if not any(isinstance(entry, IoCall) for entry in recording.log):
            self.unseen = _NOTHING[self.recorder]
            return None
        self.unseen = self._past_the_recorder(value)
        if self.unseen:
            self.beside = self.recorder == SQLITE and bool(value["unexplained"])
            return None
        if self.recorder == FILES:
            self.settings = ["plain files"]
        try:
            missing_syncs(recording)
        except ValueError as problem:
            self.unseen = str(problem)
            return None
        return recording

    def _past_the_recorder(self, value: dict[str, Any]) -> str | None:
        if value["unseen"]:
            return f"written past the system calls: {', '.join(value['unseen'])}"
        if value["unmodelled"]:
            return f"{value['unmodelled']} ({_UNMODELLED})"
        if value["unexplained"]:
            names = ", ".join(value["unexplained"])
            return f"written to by other means than {_SEEN[self.recorder]}: {names}"
        return None

    def _played(
        self, body: Body, versions: list[Any], **more: int
    ) -> tuple[TrialResult, Recording | None]:
        """Return how a recorded process ended, and its recording if it finished."""
        with (
            self.bench.store_for(self.workload, versions) as arguments,
            tempfile.TemporaryDirectory(dir=self.bench.stores) as folder,
        ):
            file = Path(folder, "recording.json")
            arguments |= {"recording": str(file), **more}
            result = self.bench.harness.trial(body, arguments, deadline_s=DEADLINE_S)
            if result.died_by is not DiedBy.FINISHED:
                return result, None
            return result, recording_from(json.loads(file.read_text(encoding="utf-8")))

    # --- judging ---------------------------------------------------------------------------

    def _judge(self, run: KilledRun, versions: list[Any], recording: Recording) -> None:
        cuts = PowerCuts(recording, seed=self.bench.plan.seed, cap=self.most)
        if cuts.capped and self.most:
            every = f"{cuts.enumerated:,} disk images that a power cut may leave"
            self.notes.append(f"{cuts.planned:,} of {every}, drawn at random")
        left, missing = iter(cuts), missing_syncs(recording)
        batches = range(-(-cuts.planned // _BATCH))
        for _ in self.budget.within(batches, f"batches of {_BATCH} power cuts", share=0.8):
            self.disks.judge(run, versions, tuple(islice(left, _BATCH)), missing)
            self.on_batch()
            if self._hangs():
                return

    def _hangs(self) -> bool:
        if self.bench.hangs_too_often:
            self.notes.append(f"cut off: {self.bench.hangs} processes hung")
        return self.bench.hangs_too_often

    def _fail_syncs(
        self, run: KilledRun, versions: list[Any], body: Body, recording: Recording
    ) -> None:
        """Repeat the run several times, each time with one failing sync."""
        if not self.syncs or self.bench.hangs_too_often:
            return
        if self.disks.flaws:
            self.notes.append("no sync was failed: a power cut alone shows a flaw")
            return
        there = sync_places(recording)
        places = [place for place in there if not place.ends_journal]
        self.places = len(places)
        if len(there) > len(places):
            self.notes.append(f"not failed: {len(there) - len(places)} {_ENDS_JOURNAL}")
        chosen = self._chosen(run, places)
        for place in self.budget.within(chosen, "syncs that fail", share=0.9):
            self._fail(run, versions, body, place.number)
            self.on_batch()
            if self._hangs():
                break
            if self.hung >= MOST_HANGS:
                self.notes.append(f"cut off: {self.hung} runs hung after a failed sync")
                break
        for why, count in self.unjudged.items():
            self.notes.append(f"not judged: {count_of(count, 'run')} with a failed sync ({why})")

    def _chosen(self, run: KilledRun, places: list[SyncPlace]) -> list[SyncPlace]:
        """Return a share of the syncs that can fail. It begins with one of each file and kind of
        operation.
        """
        if self.only:
            return [place for place in places if place.number == self.only]
        if len(places) <= self.syncs:
            return places
        shuffled = Random(f"{self.bench.plan.seed} syncs").sample(places, len(places))
        seen: Counter[tuple[str, type[Step] | None]] = Counter()
        turns: list[tuple[int, SyncPlace]] = []
        for place in shuffled:
            step = None if place.operation is None else type(run.program[place.operation])
            turns.append((seen[place.file, step], place))
            seen[place.file, step] += 1
        ordered = sorted(turns, key=lambda turn: turn[0])
        return [place for _, place in ordered[: self.syncs]]

    def _fail(self, run: KilledRun, versions: list[Any], body: Body, number: int) -> None:
        result, recording = self._played(body, versions, failed_sync=number)
        self.hung += result.died_by is DiedBy.DEADLINE
        if recording is None:
            # A process that ends too early gives no recording.
            self.unjudged[result.ending()] += 1
            return
        # Files may have other names in each run, and threads other turns.
        place = next((p for p in sync_places(recording) if p.number == number), None)
        since = failed_at(recording)
        if place is None or not since:
            self.unjudged["it made fewer syncs"] += 1
        elif place.ends_journal:
            self.unjudged[f"it failed one of the {_ENDS_JOURNAL}"] += 1
        elif why := self._past_the_recorder(result.value):
            self.unjudged[why] += 1
        else:
            raised: dict[int, tuple[str, ...]] = {}
            for operation, error in result.value["raised"]:
                raised[operation] = (*raised.get(operation, ()), error)
            failed = FailedSync(place, raised, tuple(result.value["settings"]))
            cuts = PowerCuts(recording, seed=self.bench.plan.seed, cap=self.each, since=since)
            self.failed += 1
            self.failing.judge(run, versions, tuple(cuts), missing_syncs(recording), failed)
