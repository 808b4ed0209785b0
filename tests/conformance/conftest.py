"""What several tests of the families share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from tests.conformance.accounting import every_difference_is_accounted_for
from tests.reference.database import Database

from saverproof.families.concurrency.callers import bench as concurrency
from saverproof.families.durability.kills import bench as durability
from saverproof.process.scratch import in_memory
from saverproof_faults.kill import Harness

__all__ = [
    "every_difference_is_accounted_for",
    "no_waiting_for_the_disk",
    "shared_harness",
    "started_harness",
]


@pytest.fixture(scope="session")
def started_harness() -> Iterator[Harness]:
    """The process that all trials are forked from: starting it costs more than most trials."""
    imports = ["tests.conformance.preloaded_savers"]
    with Harness(imports=imports, scratch=in_memory()) as harness:
        yield harness


@pytest.fixture
def shared_harness(started_harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """Savers are judged without a harness of their own."""
    for bench in (concurrency, durability):
        monkeypatch.setattr(bench, "harness_for", lambda *given: nullcontext(started_harness))


@pytest.fixture
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The savers of tests on SQLite do not wait for the disk."""
    monkeypatch.setattr(Database, "synchronous", "OFF")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels for an index of pip, and a cache of releases of its own."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder
