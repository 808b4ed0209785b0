"""The ready targets, and the text that opens each of them without the kit."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from saverproof import Workspace
from saverproof.scripts.reproducers import operation_reproducer
from saverproof_faults.servers import ServerUnavailable, dsn_for, serving
from saverproof_savers import targets
from saverproof_savers.targets import engines, servers
from tests.savers.target_use import assert_same_store

TARGETS = {
    target.name: target
    for module in (targets, engines, servers)
    for target in vars(module).values()
    if type(target).__name__ == "Target"
}


def test_each_is_offered_under_its_name() -> None:
    offered = {
        point.name
        for point in entry_points(group="saverproof.targets")
        if point.value.startswith("saverproof_savers.targets")
    }
    assert offered <= set(TARGETS)
    assert {"sqlite", "memory", "langgraph-sqlite", "langgraph-sqlite-async"} <= offered


@pytest.fixture(scope="module")
def running() -> Iterator[ExitStack]:
    """Where a server is entered that several tests use."""
    with ExitStack() as stack:
        yield stack


@pytest.mark.parametrize("name", sorted(TARGETS.keys() - {"duckdb"}))  # tests/oldest has that
@pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning")
# aiomysql passes on what the server notes.
@pytest.mark.filterwarnings("ignore:ShallowPostgresSaver is deprecated")
@pytest.mark.filterwarnings("ignore:Table 'checkpoint_migrations' already exists")
def test_a_target_opens_the_store_that_its_opening_text_opens(
    tmp_path: Path, name: str, running: ExitStack
) -> None:
    target = TARGETS[name]
    workspace = Workspace(tmp_path, "abc")
    if target.server is not None:
        try:
            running.enter_context(serving(target.server))
        except ServerUnavailable as reason:
            pytest.skip(str(reason))
        workspace = Workspace(tmp_path, "abc", dsn_for(target.server, tmp_path))
    assert_same_store(target, workspace)
    if target.check is not None:
        assert target.check(workspace) == []


@pytest.mark.parametrize("given", ["path", ""])
def test_a_script_opens_a_store_by_a_function_of_the_opening_text(given: str) -> None:
    text = TARGETS["lmdb"].opening or ""
    named = replace(
        TARGETS["lmdb"], opening=text.replace("opened_lmdb(path)", f"opened_lmdb({given})")
    )
    # That saver has none.
    assert operation_reproducer(named, "delete_thread", "sync", name="interface/complete")
