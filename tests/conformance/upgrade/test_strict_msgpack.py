"""A run under LANGGRAPH_STRICT_MSGPACK judges a saver that reads so, and says it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from saverproof.process.environment import set_for_langgraph

STRICT = "LANGGRAPH_STRICT_MSGPACK"
TARGET = """
from contextlib import contextmanager
from langgraph.checkpoint.serde import _msgpack
from saverproof import target
from saverproof_savers import SqliteSaver

@target(name="read-strictly")
@contextmanager
def read_strictly(workspace):
    assert _msgpack.STRICT_MSGPACK_ENABLED
    with SqliteSaver.open(workspace.path / "a.db") as saver:
        yield saver
"""


def test_the_variable_is_told_if_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(STRICT, raising=False)
    assert set_for_langgraph() == {}
    monkeypatch.setenv(STRICT, "true")
    assert set_for_langgraph() == {STRICT: "true"}


# In an interpreter of its own: LangGraph reads the variable when it is imported.
@pytest.mark.nightly
def test_a_right_saver_is_accused_of_nothing_under_strict_msgpack(tmp_path: Path) -> None:
    (tmp_path / "strict.py").write_text(TARGET)
    ours = ("PYTEST", "SAVERPROOF")
    environment = {k: value for k, value in os.environ.items() if not k.startswith(ours)}
    options = ("--saver-api=sync", "--saver-profile=quick", "--saver-families=serialization")
    command = [sys.executable, "-m", "pytest", "-p", "no:langsmith_plugin"]
    command += ["--saver=strict.py:read_strictly", *options, "--saver-report=told"]
    ran = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment | {STRICT: "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    report = json.loads((tmp_path / "told" / "report.json").read_text())
    assert report["environment"]["variables"] == {STRICT: "true"}
    for page in ("report.md", "report.html"):
        assert STRICT in (tmp_path / "told" / page).read_text().replace("\\", "")
