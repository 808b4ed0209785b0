"""LangGraph's own suite on any target, and which contracts ask what its tests ask."""

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.conformance import spec
from langgraph.checkpoint.conformance.capabilities import DetectedCapabilities
from langgraph.checkpoint.memory import InMemorySaver
from tests.conformance.shared_forks import share_forks

from saverproof.contracts.registry import contracts
from saverproof.mistakes import MISTAKES
from saverproof.run.cli import main
from saverproof.run.peer.bridge import bridged
from saverproof.run.peer.crosswalk import CROSSWALK, FAILED_BY, UNRELEASED
from saverproof.run.peer.page import render

TARGETS = '''
from contextlib import contextmanager
from langgraph.checkpoint.memory import InMemorySaver
from saverproof import target

class Forgetful(InMemorySaver):
    def put_writes(self, config, writes, task_id, task_path=""):
        """Keep nothing."""

@target(durable=False)
@contextmanager
def forgetful(workspace):
    yield Forgetful()
'''


def test_every_test_of_the_suite_has_contracts_that_ask_the_same() -> None:
    tests = {
        name
        for module in pkgutil.iter_modules(spec.__path__, f"{spec.__name__}.")
        for name, one in vars(import_module(module.name)).items()
        if name.startswith("test_") and inspect.iscoroutinefunction(one)
    }
    assert tests == set(CROSSWALK)
    named = {name for names in CROSSWALK.values() for name in names}
    assert named <= {one.id for one in contracts()}


def test_every_test_of_the_main_branch_has_a_mistake_that_its_contracts_find() -> None:
    broken_by = {mistake.name: mistake.breaks for mistake in MISTAKES}
    assert set(FAILED_BY) == set(UNRELEASED)
    assert len({*FAILED_BY.values()}) == len(FAILED_BY)
    assert all(broken_by[FAILED_BY[test]] in names for test, names in UNRELEASED.items())
    assert not set(UNRELEASED) & set(CROSSWALK), "released: its row belongs to the crosswalk"


def test_the_page_is_that_of_the_crosswalk() -> None:
    page = Path(__file__).parents[3] / "docs" / "peer.md"
    assert page.read_text("utf-8") == render(), "run: make pages"


def test_a_flaw_of_one_api_is_told_in_the_words_of_the_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share_forks()
    monkeypatch.chdir(tmp_path)
    Path("targets.py").write_text(TARGETS)
    result = CliRunner().invoke(main, ["peer", "targets.py"])
    assert result.exit_code == 1, result.output
    assert re.search(
        r"^  sync   BASE \(\d/5\), \d+ of 58 tests passed", result.output, re.MULTILINE
    )
    assert "failed  test_put_writes_basic: AssertionError" in result.output
    assert "(asked by pending-writes/complete, serialization/write-values)" in result.output


def test_only_what_a_saver_has_is_offered() -> None:
    class Reader(BaseCheckpointSaver[str]):
        def get_tuple(self, config):  # type: ignore[no-untyped-def]
            return None

    detected = DetectedCapabilities.from_instance(bridged(Reader(), in_thread=False)).detected
    assert {one.value for one in detected} == {"get_tuple"}
    whole = DetectedCapabilities.from_instance(bridged(InMemorySaver(), in_thread=False)).detected
    assert len(whole) == 5


def test_a_target_that_is_none_is_told_in_one_line() -> None:
    result = CliRunner().invoke(main, ["peer", "sqlit"])
    assert result.exit_code == 2
    assert "no target has that name; did you mean sqlite" in result.output.splitlines()[-1]
