"""Savers on plain files, which no layer above the system calls reaches, under storage faults.

By night, the script of another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest
from tests.conformance.atomicity.test_atomicity import FAMILY, found, judged, of_class
from tests.conformance.durability.test_durability_files import SwapsALink
from tests.conformance.replay_support import assert_shown_until_mended, plan_for
from tests.conformance.replay_targets import ref_to
from tests.nights import by_night
from tests.reference.lmdb_value import LmdbReference
from tests.reference.sqlite import SqliteReference
from tests.reference.state_file import StateFileReference
from tests.right_savers.apsw_connection import ApswConnection, ApswDatabase
from tests.wrong_savers import WRONG
from tests.wrong_savers.plain_files import (
    CacheBelievesItself,
    FileForEachWrite,
    RewrittenInPlace,
)

from saverproof.families import registry, untried
from saverproof.families.atomicity import effort, family
from saverproof.families.atomicity.scenarios import A_NEW_TASK, LONG_VALUES, NO_STORE_YET
from saverproof.families.atomicity.trials import bench, files, first_look
from saverproof.families.items import Outcome
from saverproof.savers.targets.loading import load
from saverproof_faults import injector
from saverproof_faults.syscalls import available
from saverproof_savers import targets

TWO = ["put", "put_writes"]

pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))


def unexercised(outcome: Outcome) -> dict[str, str]:
    """What was not exercised but reads, which are answered from memory or by a cache of pages."""
    return {n: w for n, w in outcome.unexercised.items() if n != "atomicity/failed-reads-raise"}


def faults_of(outcome: Outcome) -> set[str]:
    return {entry["detail"] for entry in outcome.extra["faults"]["map"] if entry["kind"] == "io"}


@pytest.mark.parametrize("api", ["sync", "async"])
def test_a_saver_that_replaces_its_file_is_failed_everywhere(api: str, tmp_path: Path) -> None:
    outcome = judged(of_class(StateFileReference), tmp_path, api, operations=TWO)
    assert found(outcome) == set()
    assert unexercised(outcome) == {}
    assert {f"atomicity/{name}" for name in FAMILY} <= outcome.checked.keys()
    assert "untried" not in outcome.extra["faults"]
    kinds = outcome.extra["faults"]["by_kind"]
    assert {"io-error", "io-full", "io-short"} <= kinds.keys()
    places = {detail.split(" ")[0] for detail in faults_of(outcome)}
    assert places == {"open", "read", "write", "sync", "rename"}
    assert "sync folder ." in faults_of(outcome)


@pytest.mark.parametrize("name", [by_night("format-left-in-part"), "rewritten-in-place"])
def test_what_a_failing_disk_shows_has_a_script_and_is_replayed(name: str, tmp_path: Path) -> None:
    wrong = next(wrong for wrong in WRONG if wrong.name == name)
    outcome = registry.judged(plan_for(wrong, tmp_path), load(ref_to(name)))
    finding = next(finding for finding in outcome.findings if finding.contract == wrong.breaks)
    assert "system call on the store's files" in finding.steps[-2]
    # Forty lines are for what plain Python can do. Here the thread that uses the saver has to be
    # covered, and the faults library is what a script on failing I/O may use.
    assert 0 < finding.reproducer.count("\n") <= 60
    assert "CallFault(" in finding.reproducer
    assert_shown_until_mended(wrong, plan_for(wrong, tmp_path), finding, tmp_path)


def test_a_layer_that_knows_more_is_the_only_one(tmp_path: Path) -> None:
    outcome = judged(of_class(SqliteReference), tmp_path, operations=TWO)
    assert not any("system call" in str(entry) for entry in outcome.extra["faults"]["map"])


def test_a_link_that_is_swapped_is_copied_and_failed(tmp_path: Path) -> None:
    outcome = judged(of_class(SwapsALink), tmp_path, operations=["put"])
    assert (found(outcome), unexercised(outcome)) == (set(), {})
    assert {"link link.new", "rename link.new to state.json"} <= faults_of(outcome)


class Exclusive(StateFileReference):
    """Cannot be opened twice in one process, as an environment of LMDB cannot."""

    taken: ClassVar[set[Path]] = set()

    @classmethod
    def at(cls, path: Path) -> Self:
        if path in cls.taken:
            raise RuntimeError("it is already open in this process")
        saver = super().at(path)
        cls.taken.add(path)
        return saver

    def close(self) -> None:
        self.taken.discard(self.folder)
        super().close()


def test_a_saver_that_is_alone_in_its_process_is_looked_at_once_it_is_closed(
    tmp_path: Path,
) -> None:
    outcome = judged(of_class(Exclusive), tmp_path, operations=["put"])
    assert (found(outcome), unexercised(outcome)) == (set(), {})
    assert "already open in this process" in outcome.extra["faults"]["notes"][0]
    assert outcome.checked["atomicity/all-or-nothing"] > 10


class DeadOnceItFailed(Exclusive):
    """Refuses everything after a failure, until it is opened anew, as DuckDB does."""

    dead = False

    def catch_up(self) -> None:
        if self.dead:
            raise RuntimeError("the store must be opened again")
        super().catch_up()

    def replace(self, data: bytes) -> None:
        try:
            super().replace(data)
        except OSError:
            self.dead = True
            raise


def test_a_saver_that_can_be_used_no_more_has_not_stored_a_part(tmp_path: Path) -> None:
    outcome = judged(of_class(DeadOnceItFailed), tmp_path, operations=["put"])
    assert found(outcome) == {"usable-after"}


def test_what_lmdb_changes_through_a_mapping_is_not_held_against_what_it_writes(
    tmp_path: Path,
) -> None:
    outcome = judged(of_class(LmdbReference), tmp_path, operations=["put"])
    assert (found(outcome), unexercised(outcome)) == (set(), {})
    assert any(detail.startswith("sync checkpoints.lmdb") for detail in faults_of(outcome))


class InAPool(RewrittenInPlace):
    """Writes in threads that its module keeps, whichever saver asks."""

    pool: ClassVar[ThreadPoolExecutor]

    def replace(self, data: bytes) -> None:
        self.pool.submit(super().replace, data).result()


def test_threads_that_a_module_keeps_are_held_or_it_is_said_that_they_are_not(
    tmp_path: Path,
) -> None:
    with ThreadPoolExecutor(1) as InAPool.pool:
        assert found(judged(of_class(InAPool), tmp_path, operations=["put"])) == {"previous-intact"}
        # Now the thread is there, and no second watch can hold its calls.
        outcome = judged(of_class(InAPool), tmp_path, operations=["put"])
    assert found(outcome) == set()
    assert outcome.unexercised.keys() >= {f"atomicity/{name}" for name in FAMILY}
    assert "a pool that its module keeps" in outcome.extra["faults"]["untried"]


class WithJournalBeside(SqliteReference):
    """Notes each put in a file, whose last line is cut off if that fails."""

    def put(self, *given: Any) -> Any:
        with open(self.database.path.with_suffix(".log"), "ab", buffering=0) as file:
            size = file.tell()
            try:
                if file.write(b"a put of which others read here\n") < 32:
                    raise OSError("no room")
                return super().put(*given)
            except BaseException:
                file.truncate(size)
                raise


def test_what_lies_beside_a_database_is_failed_by_system_calls_and_that_by_sqlite(
    tmp_path: Path,
) -> None:
    outcome = judged(of_class(WithJournalBeside), tmp_path, operations=["put"])
    assert (found(outcome), unexercised(outcome)) == (set(), {})
    entries = [one for one in outcome.extra["faults"]["map"] if one["operation"] == "put"]
    calls = {one["detail"] for one in entries if "system call" in one["place"]}
    assert {call.split(" ")[1] for call in calls} == {"checkpoints.log"}
    others = {one["kind"] for one in entries if "system call" not in one["place"]}
    assert {"client", "engine", "io"} <= others


def test_a_sqlite_of_its_own_is_failed_by_system_calls(tmp_path: Path) -> None:
    outcome = judged(of_class(ApswConnection), tmp_path, operations=["put"])
    assert (found(outcome), unexercised(outcome)) == (set(), {})
    assert any("checkpoints.db-wal" in detail for detail in faults_of(outcome))


class LateWriter(ApswDatabase):
    """Writes on a connection that is opened by the first write, and kept as it came out."""

    writer: Any = None

    def says_read_only(self, error: Exception) -> bool:
        return False

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self.lock:
            reader, self.writer = self.connection, self.writer or self.open()
            self.connection = self.writer
            try:
                with super().writing():
                    yield
            finally:
                self.writer, self.connection = self.connection, reader

    def close(self) -> None:
        super().close()
        if self.writer is not None:
            self.writer.close()


class WriterReadOnlyForEver(SqliteReference):
    database_class = LateWriter


def test_a_connection_that_sqlite_could_open_for_reading_alone_is_of_no_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(family, "SCENARIOS", (A_NEW_TASK,))
    outcome = judged(of_class(WriterReadOnlyForEver), tmp_path)
    assert found(outcome) == {"usable-after"}
    (finding,) = outcome.findings
    assert "(open checkpoints.db)" in finding.steps[-2]


def test_the_bundled_saver_holds_by_system_calls_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_look, "sqlite_files", lambda _: ())
    monkeypatch.setattr(bench, "watched", lambda _: nullcontext())
    monkeypatch.setattr(injector, "unavailable", lambda: "not in this test")
    monkeypatch.setattr(injector, "loaded_drivers", lambda: ())
    monkeypatch.setattr(family, "SCENARIOS", (LONG_VALUES, A_NEW_TASK, NO_STORE_YET))
    monkeypatch.setitem(effort.EFFORTS, "quick", effort.FaultEffort(most=400, slow_most=400))
    outcome = judged(targets.sqlite, tmp_path)
    assert (found(outcome), unexercised(outcome)) == (set(), {})
    kinds = outcome.extra["faults"]["by_kind"]
    assert {name for name in kinds if name.startswith("io-")} == {"io-error", "io-full", "io-short"}
    assert min(kinds["io-error"], kinds["io-full"], kinds["io-short"]) > 10
    entries = [one for one in outcome.extra["faults"]["map"] if one["kind"] == "io"]
    assert all("system call" in one["place"] for one in entries)
    # What cannot be opened for writing, SQLite opens for reading.
    assert "open checkpoints.db" in faults_of(outcome)


@pytest.mark.parametrize("saver", [CacheBelievesItself, FileForEachWrite, RewrittenInPlace])
def test_no_other_layer_shows_what_system_calls_do_and_it_is_said_why(
    saver: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = "this container's or system's rules forbid seccomp filters"
    for module in (bench, files, untried):
        monkeypatch.setattr(module, "available", lambda: why)
    outcome = judged(of_class(saver), tmp_path, operations=TWO)
    assert found(outcome) == set()
    assert outcome.unexercised.keys() >= {f"atomicity/{name}" for name in FAMILY}
    assert all(why in reason for reason in outcome.unexercised.values())
    assert outcome.extra["faults"]["untried"] == why
