"""Flaws of a saver of another make are explained by the known mistakes.

A flaw that no known mistake explains is told once more by each program that shows it, and beside
other flaws it is taken for something else.

By day most flaws alone; several together, and the saver without any in most of their families, by
night.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import WRITES_IDX_MAP, CheckpointTuple

from saverproof.contracts.registry import contract
from saverproof.families.items import Outcome
from saverproof.savers.targets.target import Target
from tests.conformance.judging_support import plan_of
from tests.conformance.selftest_support import hunt
from tests.crowds.two_tables import TwoTables, Write, opened, stored
from tests.nights import by_night


class NoParents(TwoTables):
    def parent_of(self, config: RunnableConfig) -> str | None:
        return None


class AsyncGetWithoutParent(TwoTables):
    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = await super().aget_tuple(config)
        return found and found._replace(parent_config=None)


class NoNamespaces(TwoTables):
    def ns_of(self, config: RunnableConfig) -> str:
        return ""

    def listed_ns_of(self, config: RunnableConfig) -> str | None:
        return None


class NoNamespaceInTuples(TwoTables):
    def tuple_of(self, row: tuple[Any, ...]) -> CheckpointTuple:
        found = super().tuple_of(row)
        del found.config["configurable"]["checkpoint_ns"]
        return found


class GetByThreadAndId(TwoTables):
    by_id = "thread = ?1 AND ?2 IS NOT NULL AND id = ?3"


class ListsByThread(TwoTables):
    def listed_ns_of(self, config: RunnableConfig) -> str | None:
        return None


class ListsByRowId(TwoTables):
    list_order = "rowid DESC"


class Lower(TwoTables):
    def thread_of(self, thread: str) -> str:
        return thread.lower()


class Trimmed(TwoTables):
    def thread_of(self, thread: str) -> str:
        return thread.strip()


class Cut(TwoTables):
    def thread_of(self, thread: str) -> str:
        return thread[:36]


class IndexFromEnumerate(TwoTables):
    def index_of(self, channel: str, position: int) -> int:
        return position


class Appends(TwoTables):
    def rows_of(self, writes: Sequence[Write], earlier: int) -> Iterator[tuple[int, str, Any]]:
        for position, (channel, value) in enumerate(writes, earlier):
            yield position, channel, value


class ReturnsInTheLoop(TwoTables):
    def rows_of(self, writes: Sequence[Write], earlier: int) -> Iterator[tuple[int, str, Any]]:
        yield from [*super().rows_of(writes, earlier)][:1]


class WritesByRowId(TwoTables):
    write_order = "rowid"


class TasksByRowId(WritesByRowId):
    def put_writes(
        self, config: RunnableConfig, writes: Sequence[Write], task_id: str, task_path: str = ""
    ) -> None:
        super().put_writes(config, writes, task_id, task_path)
        place = *self.place_of(config), str(config["configurable"]["checkpoint_id"]), task_id
        where = "FROM writes WHERE thread = ? AND ns = ? AND id = ? AND task = ?"
        key = [*map(stored, place)]
        with self.lock, self.transaction():
            rows = self.connection.execute(f"SELECT * {where} ORDER BY rowid", key).fetchall()
            self.connection.execute(f"DELETE {where}", key)
            self.connection.executemany(
                "INSERT INTO writes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
            )


class WritesByIndex(TwoTables):
    write_order = "idx, task"


class WritesByIndexDescending(TwoTables):
    write_order = "path, task, idx DESC"


class WritesAsDict(TwoTables):
    def writes_of(self, key: tuple[bytes, ...]) -> list[tuple[str, str, Any]]:
        return [*{each[:2]: each for each in super().writes_of(key)}.values()]


@dataclass(frozen=True, slots=True)
class Flaw:
    """A saver with one flaw, and the contract that it breaks through an API."""

    saver: type[TwoTables]
    breaks: str
    api: str = "sync"


FLAWS = [
    Flaw(NoParents, "identity/parent"),
    Flaw(AsyncGetWithoutParent, "identity/parent", "async"),
    Flaw(NoNamespaces, "isolation/namespaces"),
    Flaw(NoNamespaceInTuples, "identity/tuple-addresses-itself"),
    Flaw(GetByThreadAndId, "isolation/namespaces"),
    Flaw(ListsByThread, "identity/list-selects"),
    Flaw(ListsByRowId, "ordering/list-newest-first"),
    Flaw(Lower, "isolation/hostile-identifiers"),
    Flaw(Trimmed, "isolation/hostile-identifiers"),
    Flaw(Cut, "isolation/hostile-identifiers"),
    Flaw(IndexFromEnumerate, "pending-writes/special-index"),
    Flaw(Appends, "upsert/regular-write-first-wins"),
    Flaw(ReturnsInTheLoop, "pending-writes/complete"),
    Flaw(WritesByRowId, "ordering/writes-sorted"),
    Flaw(TasksByRowId, "ordering/writes-sorted"),
    Flaw(WritesByIndex, "ordering/writes-sorted"),
    Flaw(WritesByIndexDescending, "ordering/writes-sorted"),
    Flaw(WritesAsDict, "pending-writes/complete"),
]


def judged(saver: type[TwoTables], family: str, api: str, folder: Path, *until: str) -> Outcome:
    """What a family says of a saver, judged until these contracts are found broken."""
    target = Target(name="two-tables", open=partial(opened, saver))
    return hunt(plan_of(target, family, api, folder), target, *until, steps=4_000)


SLOW_BY_NIGHT = {GetByThreadAndId, Cut, Appends}
"""Flaws of contracts that others break by day."""


@pytest.mark.parametrize(
    "flaw",
    [
        (by_night if flaw.saver in SLOW_BY_NIGHT else pytest.param)(flaw, id=flaw.saver.__name__)
        for flaw in FLAWS
    ],
)
def test_a_flaw_is_explained_by_a_known_mistake(flaw: Flaw, tmp_path: Path) -> None:
    family = contract(flaw.breaks).family
    outcome = judged(flaw.saver, family, flaw.api, tmp_path, flaw.breaks)
    found = [one for one in outcome.findings if one.contract == flaw.breaks]
    assert [one.mistake_of for one in found] == [flaw.breaks]


@pytest.mark.nightly
def test_three_flaws_of_other_families_are_all_that_is_seen(tmp_path: Path) -> None:
    class ThreeFlaws(NoParents, WritesByRowId):
        def forget(self, thread: bytes) -> None:
            self.connection.execute("DELETE FROM checkpoints WHERE thread = ?", (thread,))

    # The flaws are of other families: this one has to see past them.
    outcome = judged(ThreeFlaws, "upsert", "sync", tmp_path)
    assert not outcome.findings
    assert not outcome.unsettled
    assert not outcome.extra["differences"]["elsewhere"]


@pytest.mark.nightly
def test_an_order_that_only_a_listing_can_show_is_not_the_listings(tmp_path: Path) -> None:
    class TwoFlaws(WritesByRowId):
        async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
            found = await super().aget_tuple(config)
            return found and found._replace(pending_writes=[])

    outcome = judged(TwoFlaws, "pending-writes", "async", tmp_path)
    assert {one.contract for one in outcome.findings} == {"pending-writes/complete"}
    assert {one.contract for one in outcome.handed} == {"ordering/writes-sorted"}
    assert not outcome.unsettled


class EachReplaced(WritesByRowId):
    def verb_for(self, channel: str) -> str:
        return "REPLACE"


class EachReplacedWithItsTask(TasksByRowId):
    def verb_for(self, channel: str) -> str:
        return "REPLACE"


class OneStatementForABatch(WritesByRowId):
    """Replaces all of a batch if it replaces any of it."""

    verb = ""

    def replaces(self, writes: Sequence[Write]) -> bool:
        raise NotImplementedError

    def rows_of(self, writes: Sequence[Write], earlier: int) -> Iterator[tuple[int, str, Any]]:
        self.verb = "REPLACE" if self.replaces(writes) else "IGNORE"
        return super().rows_of(writes, earlier)

    def verb_for(self, channel: str) -> str:
        return self.verb


class ReplacedIfAllAreSpecial(OneStatementForABatch):
    def replaces(self, writes: Sequence[Write]) -> bool:
        return all(channel in WRITES_IDX_MAP for channel, _ in writes)


class ReplacedIfAnyIsSpecial(OneStatementForABatch):
    def replaces(self, writes: Sequence[Write]) -> bool:
        return any(channel in WRITES_IDX_MAP for channel, _ in writes)


class ReplacedIfTheFirstIsSpecial(OneStatementForABatch):
    def replaces(self, writes: Sequence[Write]) -> bool:
        return any(channel in WRITES_IDX_MAP for channel, _ in writes[:1])


REGULAR = "upsert/regular-write-first-wins"
MIXED = "upsert/special-write-last-wins-mixed"


@pytest.mark.parametrize(
    ("saver", "breaks", "family"),
    [
        (EachReplaced, REGULAR, "upsert"),
        (EachReplaced, REGULAR, "pending-writes"),
        (EachReplacedWithItsTask, REGULAR, "pending-writes"),
        (ReplacedIfAllAreSpecial, MIXED, "pending-writes"),
        (ReplacedIfAnyIsSpecial, MIXED, "pending-writes"),
        (ReplacedIfTheFirstIsSpecial, MIXED, "pending-writes"),
    ],
)
def test_a_replaced_row_has_a_new_row_id_whichever_flaw_is_found_first(
    saver: type[TwoTables], breaks: str, family: str, tmp_path: Path
) -> None:
    outcome = judged(saver, family, "sync", tmp_path)
    told = {one.contract for one in (*outcome.findings, *outcome.handed)}
    assert told == {"ordering/writes-sorted", breaks}
    assert not outcome.unsettled
    assert not outcome.extra["differences"]["unknown"]


@pytest.mark.nightly
def test_a_mistake_that_was_replaced_is_not_told(tmp_path: Path) -> None:
    class TwoFlaws(IndexFromEnumerate, WritesAsDict):
        pass

    # A special write that is not replaced is what both do together.
    outcome = judged(TwoFlaws, "interface", "sync", tmp_path)
    told = {one.contract for one in (*outcome.findings, *outcome.handed)}
    assert told == {"pending-writes/special-index", "pending-writes/complete"}
    assert not outcome.unsettled


@pytest.mark.nightly
def test_what_is_replaced_is_no_matter_of_a_wrong_order(tmp_path: Path) -> None:
    # Either is of another family. Written by another task, the second write comes too late: the
    # order then differs, and the value does not.
    outcome = judged(EachReplacedWithItsTask, "interface", "sync", tmp_path)
    told = {one.contract for one in (*outcome.findings, *outcome.handed)}
    assert told == {"ordering/writes-sorted", REGULAR}
    assert not outcome.unsettled
    assert not outcome.extra["differences"]["unknown"]


FAMILIES = {contract(flaw.breaks).family for flaw in FLAWS}
QUICKEST = "pending-writes"


@pytest.mark.parametrize("family", [QUICKEST, *map(by_night, sorted(FAMILIES - {QUICKEST}))])
def test_the_saver_itself_is_right(family: str, tmp_path: Path) -> None:
    outcome = judged(TwoTables, family, "sync", tmp_path)
    assert not outcome.findings
    assert not outcome.unsettled
