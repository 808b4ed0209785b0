"""Flaws of a saver of another make are explained by the known mistakes.

A flaw that no known mistake explains is told once more by each program that shows it, and beside
other flaws it is taken for something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple

from saverproof.contracts.registry import contract
from saverproof.families.items import Outcome
from saverproof.savers.targets.target import Target
from tests.conformance.judging_support import plan_of
from tests.conformance.selftest_support import hunt
from tests.crowds.two_tables import TwoTables, Write, opened


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
    Flaw(WritesByIndex, "ordering/writes-sorted"),
    Flaw(WritesByIndexDescending, "ordering/writes-sorted"),
    Flaw(WritesAsDict, "pending-writes/complete"),
]


def judged(saver: type[TwoTables], family: str, api: str, folder: Path, *until: str) -> Outcome:
    """What a family says of a saver, judged until these contracts are found broken."""
    target = Target(name="two-tables", open=partial(opened, saver))
    return hunt(plan_of(target, family, api, folder), target, *until, steps=4_000)


@pytest.mark.parametrize("flaw", FLAWS, ids=lambda flaw: flaw.saver.__name__)
def test_a_flaw_is_explained_by_a_known_mistake(flaw: Flaw, tmp_path: Path) -> None:
    family = contract(flaw.breaks).family
    outcome = judged(flaw.saver, family, flaw.api, tmp_path, flaw.breaks)
    found = [one for one in outcome.findings if one.contract == flaw.breaks]
    assert [one.mistake_of for one in found] == [flaw.breaks]


def test_three_flaws_of_other_families_are_all_that_is_seen(tmp_path: Path) -> None:
    class ThreeFlaws(NoParents, WritesByRowId):
        def forget(self, thread: bytes) -> None:
            self.connection.execute("DELETE FROM checkpoints WHERE thread = ?", (thread,))

    # The flaws are of other families: this one has to see past them.
    outcome = judged(ThreeFlaws, "upsert", "sync", tmp_path)
    assert not outcome.findings
    assert not outcome.unsettled
    assert not outcome.extra["differences"]["elsewhere"]


def test_an_order_that_only_a_listing_can_show_is_not_the_listings(tmp_path: Path) -> None:
    class TwoFlaws(WritesByRowId):
        async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
            found = await super().aget_tuple(config)
            return found and found._replace(pending_writes=[])

    outcome = judged(TwoFlaws, "pending-writes", "async", tmp_path)
    assert {one.contract for one in outcome.findings} == {"pending-writes/complete"}
    assert {one.contract for one in outcome.handed} == {"ordering/writes-sorted"}
    assert not outcome.unsettled


@pytest.mark.parametrize("family", ["upsert", "pending-writes"])
def test_a_replaced_row_has_a_new_row_id_whichever_flaw_is_found_first(
    family: str, tmp_path: Path
) -> None:
    class TwoFlaws(WritesByRowId):
        def verb_for(self, channel: str) -> str:
            return "REPLACE"

    outcome = judged(TwoFlaws, family, "sync", tmp_path)
    told = {one.contract for one in (*outcome.findings, *outcome.handed)}
    assert told == {"ordering/writes-sorted", "upsert/regular-write-first-wins"}
    assert not outcome.unsettled
    assert not outcome.extra["differences"]["unknown"]


@pytest.mark.parametrize(
    "family", sorted({contract(flaw.breaks).family for flaw in FLAWS}), ids=str
)
def test_the_saver_itself_is_right(family: str, tmp_path: Path) -> None:
    outcome = judged(TwoTables, family, "sync", tmp_path)
    assert not outcome.findings
    assert not outcome.unsettled
