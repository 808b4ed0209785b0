"""What several tests of the families share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from saverproof.families.durability import bench
from saverproof.process.scratch import in_memory
from saverproof_faults.kill import Harness


@pytest.fixture(scope="session")
def started_harness() -> Iterator[Harness]:
    """The process that all kills are forked from: starting it costs more than most trials."""
    imports = ["tests.conformance.preloaded_savers"]
    with Harness(imports=imports, scratch=in_memory()) as harness:
        yield harness


@pytest.fixture
def shared_harness(started_harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """Savers are killed without a harness of their own."""
    monkeypatch.setattr(bench, "Harness", lambda **given: nullcontext(started_harness))
