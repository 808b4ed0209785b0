"""The plain reference savers keep what other judges promise too."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.memory import InMemorySaver
from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.scenes.everything import SCENES
from tests.wrong_savers.scenes.probe import Probe

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import ReferenceStore

REFERENCES: dict[str, Callable[[Path], Any]] = {
    "dictionaries": ReferenceSaver.at,
    "sqlite": SqliteReference.at,
}
# What each scene shows of versions, signatures and exceptions is the saver's own affair.
INDEPENDENT = sorted(
    SCENES.keys()
    - {
        "serialization/checkpoint-fields",
        "serialization/large",
        "channels/versions-increase",
        "isolation/workspaces",
    }
)
# What InMemorySaver lacks, or gets wrong by its own list of known violations.
NOT_IN_MEMORY = {
    "deletion/runs",
    "deletion/runs-keep-delta-chain",
    "deletion/prune-latest",
    "deletion/prune-drops-older",
    "deletion/prune-keeps-delta-chain",
    "deletion/copy-complete",
    "deletion/copy-independent",
    "delta-history/ends",
    "lifecycle/reopen",
    "lifecycle/savers-by-turns",
    "lifecycle/setup-idempotent",
    "lifecycle/shallow-clone",
    "lifecycle/close-idempotent",
    "ordering/all-threads-newest-first",
    "serialization/unserializable-is-refused",
}


@pytest.mark.parametrize("open_at", REFERENCES.values(), ids=REFERENCES)
def test_the_published_conformance_suite_passes_in_full(
    open_at: Callable[[Path], Any], tmp_path: Path
) -> None:
    folders = iter(range(100))

    @checkpointer_test(name="reference")
    async def reference() -> AsyncGenerator[BaseCheckpointSaver[Any], None]:
        folder = tmp_path / f"{next(folders)}"
        folder.mkdir()
        saver = open_at(folder)
        yield saver
        saver.close()

    report = asyncio.run(validate(reference))
    results = report.results.values()
    assert [failure for result in results for failure in result.failures] == []
    assert all(result.detected and result.tests_passed for result in results)
    ReferenceStore.forget(tmp_path)


def opened_below(folder: Path, open_at: Callable[[Path], Any], api: str) -> Probe:
    """Return a caller whose workspaces are folders below this one."""

    def open_in(path: Path) -> Any:
        path.mkdir(parents=True, exist_ok=True)
        return open_at(path)

    return Probe(open_in, folder, api)


@pytest.mark.parametrize("api", ["sync", "async"])
@pytest.mark.parametrize("contract", INDEPENDENT)
def test_both_references_give_the_same_answers(contract: str, api: str, tmp_path: Path) -> None:
    found = [
        SCENES[contract](opened_below(tmp_path / name, open_at, api))
        for name, open_at in REFERENCES.items()
    ]
    ReferenceStore.forget(tmp_path)
    assert found[0] == found[1]


class AsInMemory(ReferenceSaver):
    """Lacks what InMemorySaver lacks."""

    delete_for_runs = BaseCheckpointSaver.delete_for_runs
    copy_thread = BaseCheckpointSaver.copy_thread
    prune = BaseCheckpointSaver.prune


@pytest.mark.parametrize("contract", sorted(set(INDEPENDENT) - NOT_IN_MEMORY))
def test_the_reference_answers_as_in_memory_saver_does(contract: str, tmp_path: Path) -> None:
    def memory(path: Path) -> Any:
        return InMemorySaver()

    expected = SCENES[contract](opened_below(tmp_path / "memory", memory, "sync"))
    found = SCENES[contract](opened_below(tmp_path / "reference", AsInMemory.at, "sync"))
    ReferenceStore.forget(tmp_path)
    assert found == expected


def test_a_connection_that_cannot_write_is_replaced(tmp_path: Path) -> None:
    class Faulty(Database):
        """SQLite opens for reading what it could not open for writing."""

        mode = "ro"

        def open(self) -> sqlite3.Connection:
            mode, self.mode = self.mode, "rw"
            address = f"{self.path.as_uri()}?mode={mode}"
            return sqlite3.connect(address, uri=True, isolation_level=None)

    Database(tmp_path).close()
    database = Faulty(tmp_path)
    with database.writing():
        database.run("CREATE TABLE written (number INTEGER)")
    assert database.rows("SELECT * FROM written") == []
    database.close()
