"""Power cuts after a sync that failed once: what was dropped is lost until it is written anew.

By day some that heed a failed sync, each in its way; others by night.
"""

from __future__ import annotations

import dataclasses
import os
import sqlite3
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Self

import pytest
from tests.conformance.durability.test_durability import blamed, judged, needs_shim, plan_for
from tests.reference.log_file import Event, Log, LogFileReference, line_of
from tests.reference.state_file import sync_folder
from tests.wrong_savers.failed_syncs import LOSES, LogSyncsAgain, OtherLog

from saverproof import Workspace, target
from saverproof.families.answer import Status
from saverproof.families.durability import replay
from saverproof.families.durability.power import power_cuts, power_reporting
from saverproof.families.durability.power.power_disks import CUT
from saverproof.families.items import Finding, Outcome
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.savers.targets.target import Target
from saverproof_faults.io import Recording
from saverproof_faults.power import SyncPlace, sync_places
from saverproof_faults.syscalls import available
from saverproof_savers import SqliteSaver

HERE = "tests.conformance.durability.test_durability_syncs"
needs_calls = pytest.mark.skipif(available() is not None, reason=str(available()))


class LogWrittenAnew(Log):
    """After a sync that failed, all that it holds goes into a new file, which takes its place."""

    def append(self, events: list[Event]) -> None:
        line = line_of(events)
        os.pwrite(self.descriptor, line, self.read_to)
        self.read_to += len(line)
        try:
            os.fsync(self.descriptor)
        except OSError:
            self.write_anew()

    def write_anew(self) -> None:
        path = Path(f"/proc/self/fd/{self.descriptor}").readlink()
        new = os.open(path.with_suffix(".new"), os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        os.pwrite(new, os.pread(self.descriptor, self.read_to, 0), 0)
        os.fsync(new)
        path.with_suffix(".new").replace(path)
        sync_folder(path.parent)
        os.dup2(new, self.descriptor)
        os.close(new)


class WritesAnew(OtherLog):
    log_class = LogWrittenAnew


class LogThatGivesUp(LogWrittenAnew):
    """After a sync that failed it refuses everything; opening it writes anew what it shows."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.broken = False
        [*self.news()]
        self.write_anew()
        self.read_to = 0

    def append(self, events: list[Event]) -> None:
        if self.broken:
            raise OSError("a sync has failed: open the store anew")
        self.broken = True
        Log.append(self, events)
        self.broken = False


class RefusesUntilReopened(OtherLog):
    log_class = LogThatGivesUp


class LogBehindQueue(Log):
    """A thread writes and syncs what is queued, and every caller waits until it has."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.writer = ThreadPoolExecutor(1)

    def append(self, events: list[Event]) -> None:
        self.writer.submit(super().append, events).result()


class SyncsBehindItsBack(OtherLog):
    log_class = LogBehindQueue


class LogThatEnds(Log):
    """As PostgreSQL does, it ends its process where a sync has failed."""

    def append(self, events: list[Event]) -> None:
        try:
            super().append(events)
        except OSError:
            os._exit(3)


class EndsItsProcess(OtherLog):
    log_class = LogThatEnds


class LogThatWaits(Log):
    """Where a sync has failed it waits for somebody to repair the disk."""

    def append(self, events: list[Event]) -> None:
        try:
            super().append(events)
        except OSError:
            threading.Event().wait()


class WaitsForEver(OtherLog):
    log_class = LogThatWaits


class OfAnyName(LogSyncsAgain):
    """Its log has a name that no other store's has."""

    @classmethod
    def at(cls, path: Path) -> Self:
        saver = super().at(path)
        [name] = [*path.glob("*.any")] or [path / f"{uuid.uuid4()}.any"]
        os.close(saver.log.descriptor)
        saver.log = cls.log_class(name)
        return saver


class AtOpening(LogFileReference):
    """Writes something durable each time it is opened, and cannot be opened where that fails."""

    @classmethod
    def at(cls, path: Path) -> Self:
        descriptor = os.open(path / "opened", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, b"opened\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        return super().at(path)


def of(saver: type[LogFileReference]) -> Target:
    @target(name=saver.__name__.lower())
    @contextmanager
    def opened(workspace: Workspace) -> Iterator[ReferenceSaver]:
        with closing(saver.at(workspace.path)) as made:
            yield made

    return opened


def in_mode(journal: str, synchronous: str) -> Target:
    @target(name=f"sqlite-{journal}-{synchronous}".lower())
    @contextmanager
    def opened(workspace: Workspace) -> Iterator[SqliteSaver]:
        path = workspace.path / "a.db"
        with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
            connection.execute(f"PRAGMA journal_mode={journal}").fetchone()
            connection.execute(f"PRAGMA synchronous={synchronous}")
            with closing(SqliteSaver(connection)) as saver:
                yield saver

    return opened


@target(name="goes-on-without-its-log")
@contextmanager
def without_its_log(workspace: Workspace) -> Iterator[SqliteSaver]:
    """Does not ask what became of the switch to a log, whose error comes with the answer."""
    path = workspace.path / "a.db"
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        with closing(SqliteSaver(connection)) as saver:
            yield saver


writes_anew = of(WritesAnew)
refuses_until_reopened = of(RefusesUntilReopened)
syncs_behind_its_back = of(SyncsBehindItsBack)
ends_its_process = of(EndsItsProcess)
waits_for_ever = of(WaitsForEver)
of_any_name = of(OfAnyName)
at_opening = of(AtOpening)
logged = of(LogFileReference)
syncs_again = of(LogSyncsAgain)
in_wal = in_mode("WAL", "FULL")
in_wal_lazily = in_mode("WAL", "NORMAL")
deleting = in_mode("DELETE", "EXTRA")
truncating = in_mode("TRUNCATE", "FULL")
persisting = in_mode("PERSIST", "FULL")


def failing(where: str, folder: Path, monkeypatch: pytest.MonkeyPatch, syncs: int = 8) -> Outcome:
    where = where if ":" in where else f"{HERE}:{where}"
    return judged(where, folder, monkeypatch, images=8, syncs=syncs, disks=4)


def shown_by(where: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Finding:
    """The one finding, without its script."""
    monkeypatch.setattr(power_reporting, "failing_reproducer", lambda *_: "")
    (found,) = failing(where, folder, monkeypatch, syncs=3).findings
    return found


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(
    "name",
    [
        *(
            pytest.param(name, marks=needs_calls)
            for name in (
                "writes_anew",
                "refuses_until_reopened",
                "syncs_behind_its_back",
            )
        ),
        pytest.param("truncating", marks=needs_shim),
        *(
            pytest.param(name, marks=[needs_calls, pytest.mark.nightly])
            for name in ("logged", "at_opening")
        ),
        *(
            pytest.param(name, marks=[needs_shim, pytest.mark.nightly])
            for name in ("in_wal", "deleting", "persisting")
        ),
    ],
)
def test_a_saver_that_heeds_a_failed_sync_is_not_accused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = failing(name, tmp_path, monkeypatch)
    figures = outcome.extra["power"]["failed_syncs"]
    assert blamed(outcome) == set()
    assert figures["failed"] == 8 < figures["places"]
    assert figures["images"] > figures["failed"]
    assert (figures["lost_acknowledged_max"], figures["corrupt"], figures["torn"]) == (0, 0, 0)


@needs_shim
@pytest.mark.usefixtures("shared_harness")
def test_no_sync_is_failed_where_a_power_cut_alone_loses_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(power_reporting, "power_reproducer", lambda *_, **__: "")
    outcome = judged(f"{HERE}:in_wal_lazily", tmp_path, monkeypatch, images=20, syncs=5, disks=6)
    assert blamed(outcome) == {"power-cut-loses-nothing"}
    assert "failed_syncs" not in outcome.extra["power"]
    assert any(note.startswith("no sync was failed") for note in outcome.extra["power"]["notes"])


@needs_shim
@pytest.mark.usefixtures("shared_harness")
def test_a_finding_has_the_settings_of_its_own_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(power_reporting, "failing_reproducer", lambda *_: "")
    outcome = failing("without_its_log", tmp_path, monkeypatch)
    (found,) = outcome.findings
    assert "journal_mode=DELETE" in found.summary
    assert outcome.extra["power"]["setting"] == "synchronous=FULL, journal_mode=WAL"


@needs_calls
@pytest.mark.usefixtures("shared_harness")
def test_whoever_ends_its_process_at_a_failed_sync_is_not_accused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = failing("ends_its_process", tmp_path, monkeypatch, syncs=3)
    told = outcome.extra["power"]
    assert blamed(outcome) == set()
    assert told["failed_syncs"]["failed"] == 0
    assert (
        "not judged: 3 runs with a failed sync "
        "(the process ended by leaving on its own with code 3)"
    ) in told["notes"]


@needs_calls
@pytest.mark.usefixtures("shared_harness")
def test_no_more_syncs_are_failed_once_two_runs_have_hung(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So long that a busy machine gets through what does not hang.
    monkeypatch.setattr(power_cuts, "DEADLINE_S", 3.0)
    outcome = failing("waits_for_ever", tmp_path, monkeypatch)
    told = outcome.extra["power"]
    assert blamed(outcome) == set()
    assert told["failed_syncs"]["failed"] == 0 < told["failed_syncs"]["places"]
    assert "cut off: 2 runs hung after a failed sync" in told["notes"]
    assert any(note.startswith("not judged: 2 runs with a fail") for note in told["notes"])
    assert {*CUT} <= outcome.checked.keys()


@needs_calls
@pytest.mark.usefixtures("shared_harness")
def test_another_sync_than_was_planned_is_judged_only_if_it_may_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[SyncPlace] = []

    def ending(recording: Recording) -> tuple[SyncPlace, ...]:
        found = sync_places(recording)
        if not planned:
            planned.extend(found)
            return found
        return tuple(dataclasses.replace(place, ends_journal=True) for place in found)

    monkeypatch.setattr(power_cuts, "sync_places", ending)
    outcome = failing("syncs_again", tmp_path, monkeypatch, syncs=2)
    told = outcome.extra["power"]
    assert blamed(outcome) == set()
    assert told["failed_syncs"]["failed"] == 0
    (why,) = (note for note in told["notes"] if note.startswith("not judged: 2 runs"))
    assert "where SQLite itself is at fault" in why


@needs_calls
@pytest.mark.usefixtures("shared_harness")
def test_a_file_that_has_another_name_in_each_run_is_told_by_that_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = shown_by("of_any_name", tmp_path, monkeypatch)
    (failed,) = (step for step in found.steps if " fails in it" in step)
    name = failed.partition("a sync of ")[2].partition(" fails in it")[0]
    assert f"no new write of what {name} lost when its sync failed" in found.observed


@needs_calls
@pytest.mark.usefixtures("shared_harness")
def test_the_sync_that_failed_and_what_its_caller_heard_are_told_and_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = shown_by("syncs_again", tmp_path, monkeypatch)
    assert found.contract == LOSES
    assert found.summary.startswith("after a sync that failed once and a power cut ")
    assert "no new write of what 'checkpoints.log' lost when its sync failed" in found.observed
    (told,) = (step for step in found.steps if "a sync of 'checkpoints.log' fails in it" in step)
    assert told.endswith("and it returned")
    monkeypatch.setattr(replay, "MOST_OF_ONE", 40)
    monkeypatch.setattr(replay, "DISKS", 1)
    for name, status in (("syncs_again", Status.FAILING), ("logged", Status.FIXED)):
        plan, saver = plan_for(f"{HERE}:{name}", tmp_path)
        answer = replay.replay(plan, saver, LOSES, found.program)
        assert answer.status is status


@pytest.mark.nightly
@needs_calls
@pytest.mark.usefixtures("shared_harness")
def test_a_call_that_raised_is_told_with_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "tests.conformance.durability.crash_savers:log_goes_on_behind_its_hole"
    found = shown_by(where, tmp_path, monkeypatch)
    first, second = (step for step in found.steps if "fails in it" in step or " again " in step)
    assert "a sync of 'checkpoints.log' fails in it, and it raised OSError" in first
    assert second.endswith("again  -> returned")
