"""Savers on plain files, which no layer above the system calls reaches, under storage faults."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.replay_support import assert_shown_until_mended, plan_for
from tests.conformance.replay_targets import ref_to
from tests.conformance.test_atomicity import FAMILY, found, judged, of_class
from tests.reference.sqlite import SqliteReference
from tests.reference.state_file import StateFileReference
from tests.wrong_savers import WRONG

from saverproof.families import registry
from saverproof.families.atomicity import bench, files
from saverproof.items import Outcome
from saverproof.targets.loading import load
from saverproof_faults.syscalls import available

TWO = ["put", "put_writes"]

pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))


def faults_of(outcome: Outcome) -> set[str]:
    return {entry["detail"] for entry in outcome.extra["faults"]["map"] if entry["kind"] == "io"}


@pytest.mark.parametrize("api", ["sync", "async"])
def test_a_saver_that_replaces_its_file_is_failed_everywhere(api: str, tmp_path: Path) -> None:
    outcome = judged(of_class(StateFileReference), tmp_path, api, operations=TWO)
    assert found(outcome) == set()
    assert outcome.unexercised == {}
    assert {f"atomicity/{name}" for name in FAMILY} <= outcome.checked.keys()
    assert "untried" not in outcome.extra["faults"]
    kinds = outcome.extra["faults"]["by_kind"]
    assert {"io-error", "io-full", "io-short"} <= kinds.keys()
    places = {detail.split(" ")[0] for detail in faults_of(outcome)}
    assert places == {"open", "read", "write", "sync", "rename"}
    assert "sync folder ." in faults_of(outcome)


@pytest.mark.parametrize("name", ["file-for-each-write", "rewritten-in-place"])
def test_what_a_failing_disk_shows_has_a_script_and_is_replayed(name: str, tmp_path: Path) -> None:
    wrong = next(wrong for wrong in WRONG if wrong.name == name)
    outcome = registry.judged(plan_for(wrong, tmp_path), load(ref_to(name)))
    finding = next(finding for finding in outcome.findings if finding.contract == wrong.breaks)
    assert "system call on the store's files" in finding.steps[-2]
    assert 0 < finding.reproducer.count("\n") <= 60
    assert "CallFault(" in finding.reproducer
    assert_shown_until_mended(wrong, plan_for(wrong, tmp_path), finding, tmp_path)


def test_a_layer_that_knows_more_is_the_only_one(tmp_path: Path) -> None:
    outcome = judged(of_class(SqliteReference), tmp_path, operations=TWO)
    assert not any("system call" in str(entry) for entry in outcome.extra["faults"]["map"])


def test_without_the_kernels_help_it_is_said_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = "this container's or system's rules forbid seccomp filters"
    for module in (bench, files):
        monkeypatch.setattr(module, "available", lambda: why)
    outcome = judged(of_class(StateFileReference), tmp_path, operations=TWO)
    assert outcome.unexercised.keys() >= {f"atomicity/{name}" for name in FAMILY}
    assert all(why in reason for reason in outcome.unexercised.values())
    assert outcome.extra["faults"]["untried"] == why
