"""What is stored and not read yet: a saver that keeps it in memory until then loses it.

By day one family of the right saver; others by night.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.conformance.judging_support import plan_of
from tests.conformance.selftest_support import hunt
from tests.nights import by_night
from tests.reference.sqlite import SqliteReference

from saverproof.contracts.registry import contract
from saverproof.mistakes.reference.store import CheckpointRow, WriteRow
from saverproof.mistakes.registry import opener
from saverproof.savers.targets.target import Target

BY_TURNS = "lifecycle/savers-by-turns"


def _storing_first(name: str) -> Callable[..., Any]:
    plain = getattr(SqliteReference, name)

    @wraps(plain)
    def method(self: WritesBehind, *given: Any, **options: Any) -> Any:
        if name not in self.unaware:
            self.store()
        return plain(self, *given, **options)

    return method


class WritesBehind(SqliteReference):
    """Stores what was put with the next call that is no put, and when it is closed."""

    unaware: ClassVar[frozenset[str]] = frozenset()
    """The operations that go on without what waits."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.waiting: list[Callable[[], None]] = []

    def store(self) -> None:
        """Store what waits."""
        with self.database.lock:
            if not self.waiting:
                return
            with self.database.writing():
                for write in self.waiting:
                    write()
            self.waiting.clear()

    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        self.waiting.append(partial(super()._insert_checkpoint, row))

    def _insert_writes(self, place: tuple[str, str, str], rows: Sequence[WriteRow]) -> None:
        self.waiting.append(partial(super()._insert_writes, place, rows))

    get_tuple = _storing_first("get_tuple")
    list = _storing_first("list")
    delete_thread = _storing_first("delete_thread")
    delete_for_runs = _storing_first("delete_for_runs")
    copy_thread = _storing_first("copy_thread")
    prune = _storing_first("prune")
    get_delta_channel_history = _storing_first("get_delta_channel_history")
    close = _storing_first("close")


def told(saver: type[SqliteReference], family: str, folder: Path, *until: str) -> set[str]:
    """The contracts that a family tells broken; nothing is unsettled."""
    target = Target(name="behind", open=opener(saver))
    outcome = hunt(plan_of(target, family, "sync", folder), target, *until, steps=4_000)
    assert not outcome.unsettled
    return {found.contract for found in (*outcome.findings, *outcome.handed)}


@pytest.mark.parametrize(
    ("family", "breaks"),
    # Another saver that is open on the store cannot see what waits in this one.
    [("lifecycle", {BY_TURNS}), by_night("deletion", set()), by_night("identity", set())],
)
def test_a_saver_that_stores_it_in_time_is_right(
    family: str, breaks: set[str], tmp_path: Path
) -> None:
    assert told(WritesBehind, family, tmp_path, *breaks) == breaks


@pytest.mark.parametrize(
    ("operation", "breaks"),
    [
        ("close", {"lifecycle/reopen"}),
        ("delete_thread", {"deletion/thread-all"}),
        ("copy_thread", {"deletion/copy-complete"}),
        ("prune", {"deletion/prune-drops-older"}),
        ("list", {"identity/list-selects", "pending-writes/same-in-list"}),
    ],
)
def test_a_saver_that_goes_on_without_it_is_told(
    operation: str, breaks: set[str], tmp_path: Path
) -> None:
    saver = type("Unaware", (WritesBehind,), {"unaware": frozenset({operation})})
    first = min(breaks)
    assert told(saver, contract(first).family, tmp_path, first) - {BY_TURNS} == breaks
