"""Savers whose costs grow, and some whose costs do not, as targets found by name."""

from __future__ import annotations

import sqlite3
import sqlite3.dbapi2
from types import SimpleNamespace
from typing import Any

from tests.reference.paged import PagedReference, WithRuns
from tests.reference.pooled import PooledReference
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers import WRONG, opener
from tests.wrong_savers.cost import (
    ByteByByte,
    OneLockOverThePool,
    ScanInPython,
    ScanInTheEngine,
)

from saverproof import Capability, target

WRONG_COSTS = [wrong for wrong in WRONG if wrong.breaks.startswith("cost/")]


def made(name: str, saver: Any, **more: Any) -> Any:
    return target(name=name, **more)(opener(saver))


class Raising(PagedReference):
    def get_tuple(self, config: Any) -> Any:
        raise RuntimeError("out of order")


class Forgetting(PagedReference):
    def get_tuple(self, config: Any) -> Any:
        return None


class LastBytes(ByteByByte):
    """Right: it reads as many bytes one by one, however many there are."""

    def _read_of(self, size: int) -> range:
        return range(max(0, size - 32), size)


class WritesBackNowAndThen(PagedReference):
    """Right: each third copy also writes what was due for many calls."""

    copies = 0

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        self.copies += 1
        if self.copies % 3 == 0:
            self.database.path.with_name("written-back").write_bytes(bytes(2**20))


class OpensByTheOtherName(WithRuns):
    """Connects as SQLAlchemy does."""

    def open(self) -> sqlite3.Connection:
        return sqlite3.dbapi2.connect(self.path, isolation_level=None, check_same_thread=False)


class ScansByTheOtherName(ScanInTheEngine):
    database_class = OpensByTheOtherName


SAVERS = SimpleNamespace(
    **{
        wrong.name.replace("-", "_"): target(
            name=wrong.name, drop=wrong.drop, durable=issubclass(wrong.saver, SqliteReference)
        )(wrong.make)
        for wrong in WRONG_COSTS
    },
    paged=made("paged", PagedReference),
    last_bytes=made("last-bytes", LastBytes),
    writes_back_now_and_then=made("writes-back-now-and-then", WritesBackNowAndThen),
    pooled=made("pooled", PooledReference),
    scans_by_the_other_name=made("scans-by-the-other-name", ScansByTheOtherName),
    raising=made("raising", Raising),
    forgetting=made("forgetting", Forgetting),
    locked_record=made(
        "locked-record",
        OneLockOverThePool,
        capabilities={Capability.SEPARATE_RECORDS: "a thread is one document"},
    ),
    one_record=made(
        "one-record",
        ScanInPython,
        capabilities={Capability.SEPARATE_RECORDS: "a thread is one document"},
    ),
)


def here(name: str) -> str:
    return f"{__name__}:SAVERS.{name.replace('-', '_')}"
