"""Work that a saver can do only so often is found: what it takes is not given back."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from tests.conformance.cost.resources_savers import FLAT
from tests.conformance.cost.test_resources import judged
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers import opener

from saverproof import target
from saverproof.families.resources.family import ResourcesJudging
from saverproof.families.resources.work import CancelledGets, Gets


class LosesOneConnection(SqliteReference):
    """Loses a connection at one of its first reads, once in the life of the process."""

    reads: ClassVar[Iterator[int]]

    def get_tuple(self, config: Any) -> Any:
        if next(self.reads) == 25:
            raise ConnectionError("the server was started again")
        return super().get_tuple(config)


class LosesTurns(SqliteReference):
    """Never gives back the turn of a read that was cancelled, and has thirty."""

    lost = 0

    async def aget_tuple(self, config: Any) -> Any:
        if self.lost == 30:
            raise TimeoutError("no turn is free")
        self.lost += 1
        await asyncio.sleep(0)
        self.lost -= 1
        return self.get_tuple(config)


SAVERS = SimpleNamespace(
    loses_turns=target(name="loses-turns")(opener(LosesTurns)),
    loses_one_connection=target(name="loses-one-connection")(opener(LosesOneConnection)),
)


def test_what_raises_by_chance_is_no_exhaustion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ResourcesJudging, "_works", lambda judging: [Gets])
    LosesOneConnection.reads = itertools.count()
    outcome = judged(f"{__name__}:SAVERS.loses_one_connection", tmp_path)
    assert not outcome.findings
    assert outcome.unknown[FLAT].startswith("get_tuple, repeated: ConnectionError")


def test_turns_that_cancelled_reads_take_are_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ResourcesJudging, "_works", lambda judging: [CancelledGets])
    (found,) = judged(f"{__name__}:SAVERS.loses_turns", tmp_path, "async").findings
    assert "get_tuple, cancelled" in found.summary
    assert "TimeoutError: no turn is free" in found.summary
    assert found.reproducer
