"""No name of a target's opening means two things in a script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.wrong_savers.registry import opener

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.programs.steps.definitions import Put
from saverproof.savers.targets.target import Target
from saverproof.scripts.kill_script import DIE, KillScript, KillSource
from saverproof.scripts.opening import opening_of

SAVERS = """
def opened(path, more): ...
def config(path): ...
def sqlite3(path): ...
class wrapped:
    server = drop = None
"""


def script_of(text: str | None, **more: Any) -> str:
    target = Target(name="own", open=opener(ReferenceSaver), opening=text, **more)
    opening = opening_of(target)
    assert opening is not None
    script = KillScript(opening, (Put("a", "", 1),), "sync", "own")
    return script.killed("durability/reopens", KillSource(DIE), 0, 1, check=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "from savers import opened\nopened(path, 1)",
            ["import opened as opened_of_target", "return opened_of_target(path, 1)"],
        ),
        (
            "from savers import config\nconfig(path)",
            ["import config as config_of_target", "return config_of_target(path)"],
        ),
        (
            "from savers import sqlite3\nsqlite3(path)",
            ["import sqlite3 as sqlite3_of_target", "return sqlite3_of_target(path)"],
        ),
        (
            "import savers as shown\nshown.opened(path, 1)",
            ["import savers as shown_of_target", "return shown_of_target.opened(path, 1)"],
        ),
        (
            "import savers\ndef run(path):\n    return savers.config(path)\nrun(path)",
            [
                "def run_of_target(path):",
                "return savers.config(path)",
                "return run_of_target(path)",
            ],
        ),
        ("import sqlite3\nsqlite3.connect(path)", ["return sqlite3.connect(path)"]),
    ],
)
def test_a_name_that_the_script_needs_is_another_one_in_the_opening(
    text: str, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "savers.py").write_text(SAVERS)
    monkeypatch.syspath_prepend(str(tmp_path))
    script = script_of(text)
    assert [one for one in expected if one not in script] == []
    assert script.count("def opened(path):") == 1
    assert script.count("def config(") == 1
    compile(script, "script.py", "exec")
