"""Finding a target, and getting to know it in a child process."""

import re
import sys
from pathlib import Path

import pytest
from tests.conformance.plugin_support import BAD, TOY

from saverproof.errors import TargetError
from saverproof.facts import Facts
from saverproof.process.environment import Setting
from saverproof.targets.finding import find
from saverproof.targets.probing import probe

GOOD = """
from contextlib import asynccontextmanager, contextmanager
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from saverproof import Capability, target

@target(known="known.toml", drop=print, check=lambda workspace: [])
@contextmanager
def official(workspace):
    with SqliteSaver.from_conn_string(str(workspace.path / "a.db")) as saver:
        yield saver

@target(capabilities={Capability.SYNC: "only for tests", Capability.PRUNE: "not planned"})
@asynccontextmanager
async def official_async(workspace):
    async with AsyncSqliteSaver.from_conn_string(str(workspace.path / "a.db")) as saver:
        yield saver
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("targets")
    (folder / "bad.py").write_text(BAD)
    (folder / "good.py").write_text(GOOD)
    (folder / "toys.py").write_text(TOY)
    (folder / "raising.py").write_text("import json\nraise ValueError('half\\nconfigured')\n")
    (folder / "leaving.py").write_text("import sys\nsys.exit('no licence')\n")
    (folder / "syntax.py").write_text("def broken(:\n")
    return folder


def facts_of(saver: str, folder: Path, limit_s: float = 30.0) -> Facts:
    return probe(find(saver, folder), Setting.current(folder), limit_s)


@pytest.mark.parametrize(
    ("saver", "pattern"),
    [
        (
            "sqlit",
            r"--saver sqlit: no target has that name; did you mean sqlite\b.*Known: .*memory",
        ),
        ("nowhere:x", "--saver nowhere:x: nowhere does not import: ModuleNotFoundError"),
        ("raising:x", r"does not import: ValueError: half configured \(.*raising.py, line 2\)"),
        ("leaving:x", r"does not import: SystemExit: no licence \(.*leaving.py, line 2\)"),
        ("syntax.py:x", "syntax.py does not import: SyntaxError"),
        ("bad:rases", r"bad has no attribute 'rases'; did you mean raises\?; its targets: raises"),
        ("bad.py:number", r"number is a int, expected a target \(a function decorated"),
        ("bad:Broken", "Broken is a class, expected a target"),
        ("bad:generator", "target 'generator' is a plain generator; put @contextmanager above it"),
        ("bad:twice", r"takes \(workspace, other\), expected one argument, the Workspace"),
        ("bad:raises", "target '_raises': opening raised ConnectionError: no server at all"),
        ("bad:forgets", "a checkpoint that was put is gone when the saver is opened again"),
        ("bad:keeps_in_process", "is gone when the saver is opened from another process"),
        ("bad:none", r"yielded None, expected a saver \(put and get_tuple"),
        ("bad:dictionary", "yielded a dict, expected a saver"),
        ("bad:broken", "put raised LookupError: no such table; .*expected it to store a first"),
        ("bad:exits", r"ended itself with status 3 while opening the saver \(could not go on\)"),
        ("bad:crashes", r"the process died: SIGSEGV while opening the saver \(.*bad.py.*_crashes"),
        ("missing.py:x", "missing.py does not exist, expected a Python file"),
        ("bad.py", r"a file without an attribute, expected path/to/file.py:attribute"),
        ("bad:1x", "'1x' is no attribute name, expected module:attribute"),
        ("b ad:x", "'b ad' is no module name, expected module:attribute"),
    ],
)
def test_a_bad_target_is_one_line(folder: Path, saver: str, pattern: str) -> None:
    with pytest.raises(TargetError) as caught:
        facts_of(saver, folder)
    assert re.search(pattern, caught.value.message), caught.value.message
    assert "\n" not in caught.value.message


def test_a_hanging_opener_is_told_with_its_place(folder: Path) -> None:
    with pytest.raises(TargetError, match=r"no answer after 2 s while opening .*bad.py.*_hangs"):
        facts_of("bad:hangs", folder, limit_s=2.0)


def test_a_memory_saver_has_both_apis_and_is_not_durable(folder: Path) -> None:
    facts = facts_of("toys:toy", folder)
    assert facts["saver_class"] == "langgraph.checkpoint.memory.InMemorySaver"
    assert facts["distribution"] == "langgraph-checkpoint"
    assert (facts["apis"], facts["durable"]) == (["sync", "async"], False)
    assert {"delete_thread", "history", "serializer", "early_writes"} <= set(facts["capabilities"])
    assert facts["absent"]["many_processes"] == "the target is not durable"


def test_what_only_raises_not_implemented_is_absent(folder: Path) -> None:
    facts = facts_of("good.py:official", folder)
    assert facts["apis"] == ["sync"]
    assert facts["operations"]["async"] == []
    assert facts["absent"]["prune"] == "not implemented: prune"
    assert "many_processes" in facts["capabilities"]
    assert (facts["known"], facts["drops"]) == (str(folder / "known.toml"), True)
    assert facts["packages"]["langgraph-checkpoint-sqlite"] == facts["version"]


def test_what_the_author_declines_is_absent_with_the_reason(folder: Path) -> None:
    facts = facts_of("good:official_async", folder)
    assert facts["apis"] == ["async"]
    assert "put" in facts["operations"]["sync"]
    assert facts["absent"]["sync"] == "declined: only for tests"
    assert facts["absent"]["prune"] == "declined: not planned"


def test_a_file_in_a_package_is_imported_as_part_of_it(tmp_path: Path) -> None:
    package = tmp_path / "mine"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "saver.py").write_text(TOY)
    (package / "testing.py").write_text("from .saver import toy\n")
    assert facts_of("mine/testing.py:toy", tmp_path)["name"] == "toy"


@pytest.mark.parametrize("name", ["types", "json", "pytest"])
def test_a_file_may_be_called_like_a_module_of_somebody_else(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "targets"
    folder.mkdir()
    (folder / f"{name}.py").write_text(TOY)
    assert facts_of(f"targets/{name}.py:toy", tmp_path)["name"] == "toy"
    assert sys.modules["pytest"] is pytest
