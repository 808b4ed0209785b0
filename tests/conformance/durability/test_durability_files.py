"""Savers on plain files under kills and power cuts, both by system calls.

By day some of them, and the others by night.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.durability.test_durability import BUNDLED, blamed, judged
from tests.nights import by_night
from tests.reference.lmdb_value import LmdbReference
from tests.reference.log_file import LogFileReference
from tests.reference.state_file import StateFileReference, sync_folder

from saverproof import Workspace, target
from saverproof.families.durability.kills import kill_points, sweep
from saverproof.families.durability.kills.workloads import workloads
from saverproof.families.durability.power import power_cuts, power_reporting
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof_faults.syscalls import available

HERE = "tests.conformance.durability.test_durability_files"
UNSYNCED_FOLDER = "tests.conformance.durability.crash_savers:folder_never_synced"

pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))


class ThroughALongMapping(StateFileReference):
    """Keeps a copy of its file in a larger one, which it writes through a mapping."""

    def replace(self, data: bytes) -> None:
        super().replace(data)
        with (self.folder / "copy").open("w+b") as file:
            file.truncate(5 << 20)
            with mmap.mmap(file.fileno(), 5 << 20) as memory:
                memory[: len(data)] = data


class AllSynced(StateFileReference):
    """Has the system write everything to all disks, and names no file."""

    def replace(self, data: bytes) -> None:
        (self.folder / "state.new").write_bytes(data)
        os.sync()
        os.replace(self.folder / "state.new", self.folder / "state.json")
        os.sync()
        self.forget()


class SwapsALink(StateFileReference):
    """Keeps its state in two files by turns, and a symbolic link to the one that counts."""

    def replace(self, data: bytes) -> None:
        state, link = self.folder / "state.json", self.folder / "link.new"
        other = "a" if state.is_symlink() and state.readlink().name == "b" else "b"
        with (self.folder / other).open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        link.unlink(missing_ok=True)
        link.symlink_to(other)
        link.replace(state)
        sync_folder(self.folder)
        self.forget()


def opened(saver: type[Any], workspace: Workspace) -> Any:
    return closing(saver.at(workspace.path))


@target
@contextmanager
def replaced(workspace: Workspace) -> Iterator[ReferenceSaver]:
    with opened(StateFileReference, workspace) as saver:
        yield saver


@target
@contextmanager
def logged(workspace: Workspace) -> Iterator[ReferenceSaver]:
    with opened(LogFileReference, workspace) as saver:
        yield saver


@target
@contextmanager
def all_synced(workspace: Workspace) -> Iterator[ReferenceSaver]:
    with opened(AllSynced, workspace) as saver:
        yield saver


@target
@contextmanager
def through_a_long_mapping(workspace: Workspace) -> Iterator[ReferenceSaver]:
    with opened(ThroughALongMapping, workspace) as saver:
        yield saver


@target
@contextmanager
def swaps_a_link(workspace: Workspace) -> Iterator[ReferenceSaver]:
    with opened(SwapsALink, workspace) as saver:
        yield saver


@target
@contextmanager
def in_lmdb(workspace: Workspace) -> Iterator[ReferenceSaver]:
    with opened(LmdbReference, workspace) as saver:
        yield saver


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize("name", ["logged", *map(by_night, ["replaced", "in_lmdb"])])
def test_a_right_saver_is_killed_in_mid_operation(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = judged(f"{HERE}:{name}", tmp_path, monkeypatch, swept=30)
    crash = outcome.extra["crash"]
    places = [trial["place"] for trial in crash["trials_detail"] if trial["kind"] == "system call"]
    assert blamed(outcome) == set()
    assert crash["kill_points"]["system call"] > 10
    assert "call" not in crash["kill_points"]
    assert "faults" not in outcome.extra
    assert any(place.startswith("within") for place in places)
    assert any(place.startswith("before") and "sync" in place for place in places)
    assert "durability/in-flight-atomic" not in outcome.unexercised
    assert outcome.checked["durability/in-flight-atomic"] > 5


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize("name", ["logged", "in_lmdb", *map(by_night, ["replaced", "all_synced"])])
def test_a_right_saver_survives_every_power_cut(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = judged(f"{HERE}:{name}", tmp_path, monkeypatch, images=80)
    power = outcome.extra["power"]
    assert blamed(outcome) == set()
    assert power["images"] > 50
    assert power["lost_acknowledged_max"] == 0
    assert outcome.checked["durability/power-cut-loses-nothing"] > 30
    assert power["setting"] == "plain files"


@pytest.mark.usefixtures("shared_harness")
def test_the_bundled_saver_holds_by_system_calls_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, layer in (
        (kill_points, "engine_unavailable"),
        (kill_points, "io_unavailable"),
        (power_cuts, "available"),
    ):
        monkeypatch.setattr(module, layer, lambda: "not in this test")
    outcome = judged(BUNDLED, tmp_path, monkeypatch, swept=16, images=40)
    assert blamed(outcome) == set()
    assert outcome.extra["crash"]["kill_points"]["system call"] > 8
    assert outcome.extra["power"]["setting"] == "plain files"
    assert outcome.extra["power"]["opening"] > 0
    assert outcome.extra["power"]["lost_acknowledged_max"] == 0


NEVER_SYNCED = [
    "format_never_synced",
    "folder_never_synced",
    "lmdb_never_synced",
    "log_never_synced",
    "nothing_synced",
    "renamed_before_its_sync",
    "unsynced_before_its_rename",
]


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize("name", [*NEVER_SYNCED[:3], *map(by_night, NEVER_SYNCED[3:])])
def test_only_a_power_cut_shows_what_was_not_synced(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "workloads", lambda able: workloads(able)[:1])
    outcome = judged(
        f"tests.conformance.durability.crash_savers:{name}", tmp_path, monkeypatch, swept=10
    )
    assert blamed(outcome) == set()
    assert outcome.extra["crash"]["kill_points"]["system call"] > 5


@pytest.mark.usefixtures("shared_harness")
def test_the_sync_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power_reporting, "power_reproducer", lambda *_, **__: "")
    outcome = judged(UNSYNCED_FOLDER, tmp_path, monkeypatch, images=40)
    (found,) = outcome.findings
    assert found.contract == "durability/power-cut-loses-nothing"
    assert found.steps[-1].startswith("power cut")
    assert "acknowledged operation" in found.summary
    operation = found.observed.removeprefix("gone: ").partition(";")[0]
    missing = "no sync of the top folder after 'state.new' was renamed to 'state.json'"
    assert f"when {operation} had returned, there was {missing}" in found.observed
    assert outcome.extra["power"]["lost_acknowledged_max"] >= 1
    assert outcome.checked["durability/power-cut"] > 10


@pytest.mark.usefixtures("shared_harness")
def test_what_a_link_leads_to_after_a_power_cut_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = judged(f"{HERE}:swaps_a_link", tmp_path, monkeypatch, images=10)
    for contract in ("durability/power-cut", "durability/power-cut-loses-nothing"):
        assert "a link link.new, but not how" in outcome.unexercised[contract]
        assert "neither symbolic links nor" in outcome.unexercised[contract]


@pytest.mark.usefixtures("shared_harness")
def test_what_is_written_through_a_long_mapping_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = judged(f"{HERE}:through_a_long_mapping", tmp_path, monkeypatch, images=10)
    for contract in ("durability/power-cut", "durability/power-cut-loses-nothing"):
        assert outcome.unexercised[contract].endswith("system calls: map copy")
        assert contract not in outcome.checked
