"""What is stored and not read yet: a saver that keeps it in memory until then loses it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from tests.conformance.judging_support import plan_of
from tests.conformance.selftest_support import hunt
from tests.crowds.two_tables import TwoTables, opened

from saverproof.contracts.registry import contract
from saverproof.savers.targets.target import Target


class WritesBehind(TwoTables):
    """Stores with the next read, with a deletion, and when it is closed."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.waiting: list[Callable[[], object]] = []

    def copy(self, value: Any) -> Any:
        """A copy that the caller does not change any more."""
        return self.serde.loads_typed(self.serde.dumps_typed(value))

    def store(self) -> None:
        """Store what waits."""
        with self.lock:
            while self.waiting:
                self.waiting.pop(0)()

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> RunnableConfig:
        copied = [self.copy(each) for each in (checkpoint, metadata, new_versions)]
        self.waiting.append(partial(super().put, config, *copied))
        given = config["configurable"]
        thread, ns = str(given["thread_id"]), given.get("checkpoint_ns", "")
        return self.address(thread, ns, checkpoint["id"])

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        copied = self.copy([*writes])
        self.waiting.append(partial(super().put_writes, config, copied, task_id, task_path))

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        self.store()
        return super().get_tuple(config)

    def list(self, config: Any, **asked: Any) -> Iterator[CheckpointTuple]:
        self.store()
        yield from super().list(config, **asked)

    def delete_thread(self, thread_id: str) -> None:
        self.store()
        super().delete_thread(thread_id)

    def close(self) -> None:
        self.store()
        super().close()


class LosesItWhenClosed(WritesBehind):
    def close(self) -> None:
        TwoTables.close(self)


class StoresItAfterADeletion(WritesBehind):
    def delete_thread(self, thread_id: str) -> None:
        TwoTables.delete_thread(self, thread_id)


class ListsWithoutIt(WritesBehind):
    def list(self, config: Any, **asked: Any) -> Iterator[CheckpointTuple]:
        return TwoTables.list(self, config, **asked)


def told(saver: type[TwoTables], family: str, folder: Path, *until: str) -> set[str]:
    """The contracts that a family tells broken; nothing is unsettled."""
    target = Target(name="behind", open=partial(opened, saver))
    outcome = hunt(plan_of(target, family, "sync", folder), target, *until, steps=4_000)
    assert not outcome.unsettled
    return {found.contract for found in (*outcome.findings, *outcome.handed)}


@pytest.mark.parametrize("family", ["lifecycle", "deletion", "identity"])
def test_a_saver_that_stores_it_in_time_is_right(family: str, tmp_path: Path) -> None:
    assert told(WritesBehind, family, tmp_path) == set()


@pytest.mark.parametrize(
    ("saver", "breaks"),
    [
        (LosesItWhenClosed, {"lifecycle/reopen"}),
        (StoresItAfterADeletion, {"deletion/thread-all"}),
        (ListsWithoutIt, {"identity/list-selects", "pending-writes/same-in-list"}),
    ],
)
def test_a_saver_that_does_not_is_told(
    saver: type[TwoTables], breaks: set[str], tmp_path: Path
) -> None:
    first = min(breaks)
    assert told(saver, contract(first).family, tmp_path, first) == breaks
