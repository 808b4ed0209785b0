"""The DuckDB saver, which no newer langgraph-checkpoint takes."""

from pathlib import Path

from saverproof import Workspace
from saverproof_savers.targets.engines import duckdb
from tests.savers.target_use import assert_same_store


def test_the_target_opens_the_store_that_its_opening_text_opens(tmp_path: Path) -> None:
    assert_same_store(duckdb, Workspace(tmp_path, "abc"))
