"""``saverproof.judge``: the whole suite from Python, without pytest at hand."""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.conformance.plugin_support import TOY
from tests.conformance.shared_forks import share_forks

import saverproof
from saverproof import Report, SaverproofError, judge, target
from saverproof.errors import TargetError
from saverproof_reports import validate


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    share_forks()
    monkeypatch.chdir(tmp_path)


def test_a_saver_is_judged_and_the_report_is_returned(tmp_path: Path) -> None:
    found = judge("memory", profile="quick", families=["ordering"], api="sync")
    assert isinstance(found, Report)
    assert validate(found.data) == []
    assert found.passed
    assert found.violated == found.unsettled == ()
    assert found.contracts["ordering/pages-tile"]["verdict"] == "held"
    assert found.contracts["upsert/put-replaces"]["reason"] == "not selected in this run"
    assert "ordering" in found.output
    assert found.html().startswith("<!")
    assert found.write(tmp_path / "kept") == tmp_path / "kept" / "report.json"
    assert {path.name for path in (tmp_path / "kept").iterdir()} >= {"report.html", "report.md"}


def test_a_run_leaves_nothing_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Hypothesis takes the folder in which it was imported; shared processes are not of this one.
    for name in [name for name in os.environ if name.startswith("SAVERPROOF")]:
        monkeypatch.delenv(name)
    # The default profile makes programs enough for it to look at the constants of modules.
    judge("memory", families=["interface"], api="sync")
    assert list(tmp_path.iterdir()) == []


def test_what_is_violated_is_named_and_kept_on_request(tmp_path: Path) -> None:
    broken = "upsert/special-write-last-wins-mixed"
    found = judge(
        "langgraph-sqlite",
        profile="quick",
        contracts=[broken],
        known="none",
        report=tmp_path / "report",
    )
    assert not found.passed
    assert found.violated == (broken,)
    assert broken in found.markdown()
    assert list((tmp_path / "report" / "reproducers").iterdir())


def test_a_target_of_a_module_can_be_given_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "toys_from_python.py").write_text(TOY)
    monkeypatch.setattr(sys, "path", [str(elsewhere), *sys.path])
    toys = importlib.import_module("toys_from_python")
    found = judge(toys.toy, profile="quick", contracts=["ordering/pages-tile"], api="async")
    assert found.contracts["ordering/pages-tile"]["checked"]["async"] > 0


def test_what_cannot_be_judged_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SaverproofError, match=r"^--saver sqlit: no target has that name"):
        judge("sqlit")

    @target
    @contextmanager
    def local(workspace):  # type: ignore[no-untyped-def]
        yield None

    with pytest.raises(TargetError, match="has no attribute that holds it"):
        judge(local)
    monkeypatch.setattr(local.open, "__module__", "__main__")
    with pytest.raises(TargetError, match="expected one in a file"):
        judge(local)


def test_the_function_stays_the_function() -> None:
    """A module of the same name would take its place once it is imported."""
    assert callable(saverproof.judge)
    importlib.import_module("saverproof.run.from_python")
    assert callable(saverproof.judge)
