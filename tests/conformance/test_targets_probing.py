"""Finding a target, and getting to know it in a child process."""

import re
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from tests.conformance.plugin_support import BAD, TOY
from tests.conformance.shared_forks import share_forks

from saverproof.errors import TargetError
from saverproof.process.environment import Setting
from saverproof.process.servers import Servers
from saverproof.savers.facts import Facts
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.finding import find
from saverproof.savers.targets.probe_absent import absent_capabilities
from saverproof.savers.targets.probe_calls import Prober, find_operations
from saverproof.savers.targets.probing import probe
from saverproof.savers.targets.target import Target

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
    share_forks()
    folder = tmp_path_factory.mktemp("targets")
    (folder / "bad.py").write_text(BAD)
    (folder / "good.py").write_text(GOOD)
    (folder / "toys.py").write_text(TOY)
    (folder / "raising.py").write_text("import json\nraise ValueError('half\\nconfigured')\n")
    (folder / "leaving.py").write_text("import sys\nsys.exit('no licence')\n")
    (folder / "syntax.py").write_text("def broken(:\n")
    (folder / "misused.py").write_text(
        "import saverproof\nx = saverproof.target(name='a b')(print)"
    )
    return folder


def facts_of(saver: str, folder: Path, silence_s: float = 30.0) -> Facts:
    with Servers() as servers:
        return probe(find(saver, folder), Setting.current(folder), servers, silence_s)


@pytest.mark.parametrize(
    ("saver", "pattern"),
    [
        (
            "sqlit",
            "--saver sqlit: no target has that name; "
            r"did you mean sqlite\b.*`saverproof list targets`.*module:attribute",
        ),
        ("", r"^--saver has no name: expected one of the \d+ that `saverproof list targets` shows"),
        ("nowhere:x", "--saver nowhere:x: nowhere does not import: ModuleNotFoundError"),
        ("raising:x", r"does not import: ValueError: half configured \(.*raising.py, line 2\)"),
        ("leaving:x", r"does not import: SystemExit: no licence \(.*leaving.py, line 2\)"),
        ("syntax.py:x", "syntax.py does not import: SyntaxError"),
        ("bad:rases", r"bad has no attribute 'rases'; did you mean raises\?; its targets: raises"),
        ("bad.py:number", r"number is an int, expected a target \(a function decorated"),
        ("bad:Broken", "Broken is a class, expected a target"),
        ("bad:generator", "target 'generator' is a plain generator; put @contextmanager above it"),
        ("bad:twice", r"takes \(workspace, other\), expected one argument, the Workspace"),
        (
            "bad:raises",
            r"'_raises': opening raised ConnectionError: no server at all \(.*bad.py, line 21\)",
        ),
        ("bad:leaves", r"'_leaves': opening raised SystemExit: no licence \(.*bad.py, line "),
        ("bad:bare", r"'_bare': .* yielded an? object, expected a saver"),
        ("bad:never_yields", "'_never_yields': the function ended without a yield, expected one"),
        (
            "bad:uses_another",
            "'_uses_another': opening raised RuntimeError: generator didn't yield",
        ),
        ("bad:yields_again", "'_yields_again': the function yielded twice, expected one yield"),
        ("misused:x", r"name is 'a b', expected 1 to 60 .* \(.*misused.py, line 2\)"),
        ("bad:forgets", "a checkpoint that was put is gone when the saver is opened again"),
        ("bad:keeps_in_process", "is gone when the saver is opened from another process"),
        ("bad:none", r"yielded None, expected a saver \(put and get_tuple"),
        ("bad:dictionary", "yielded a dict, expected a saver"),
        ("bad:broken", "put raised LookupError: no such table; .*expected it to store a first"),
        ("bad:nameless", "by its text `opening`, opening raised NameError: name 'Nowhere' is not"),
        ("bad:unfinished", r"opening ends with 'x = os.sep'; expected statements and, at their"),
        ("bad:no_python", r"opening is no Python: '\(' was never closed .*; expected statements"),
        ("bad:exits", r"ended itself with status 3 while opening the saver \(could not go on\)"),
        ("bad:crashes", r"the process died: SIGSEGV while opening the saver \(.*bad.py.*_crashes"),
        (
            "bad:driver",
            "drivers: driver 'json', operational: json has no exception 'OperationalErr",
        ),
        ("missing.py:x", "missing.py does not exist, expected a Python file"),
        ("bad.py", r"no @target stands at its top level; expected path/to/file.py:attribute"),
        ("syntax.py", r"syntax.py is no Python: invalid syntax \(line 1\)"),
        ("good.py", "its targets are official, official_async; expected path/to/file.py:attribute"),
        ("missing.py", "no such file, expected path/to/file.py:attribute"),
        ("bad:1x", "'1x' is no attribute name, expected module:attribute"),
        ("b ad:x", "'b ad' is no module name, expected module:attribute"),
    ],
)
def test_a_bad_target_is_one_line(folder: Path, saver: str, pattern: str) -> None:
    with pytest.raises(TargetError) as caught:
        facts_of(saver, folder)
    assert re.search(pattern, caught.value.message), caught.value.message
    assert "\n" not in caught.value.message


def test_a_file_with_one_target_needs_no_attribute(folder: Path) -> None:
    ref = find("toys.py", folder)
    assert (ref.file, ref.attribute) == (str(folder / "toys.py"), "toy")


def test_a_missing_extra_is_named(folder: Path, tmp_path: Path) -> None:
    # The folder is first on the path, and hides the package of the official SQLite saver.
    hiding = tmp_path / "langgraph" / "checkpoint" / "sqlite.py"
    hiding.parent.mkdir(parents=True)
    hiding.write_text("raise ModuleNotFoundError('not installed')")
    pattern = r"ModuleNotFoundError.*; pip install 'saverproof\[langgraph-sqlite\]'"
    with pytest.raises(TargetError, match=pattern):
        facts_of("langgraph-sqlite", tmp_path)


def test_a_hanging_opener_is_told_with_its_place(folder: Path) -> None:
    with pytest.raises(TargetError, match=r"no answer after 2 s while opening .*bad.py.*_hangs"):
        facts_of("bad:hangs", folder, silence_s=2.0)


@pytest.mark.parametrize("saver", ["never_closes", "never_closes_on_its_loop"])
def test_a_saver_that_cannot_be_left_is_told_as_that(folder: Path, saver: str) -> None:
    with pytest.raises(TargetError, match=r"no answer after 2 s while closing the saver"):
        facts_of(f"bad:{saver}", folder, silence_s=2.0)


def test_a_memory_saver_has_both_apis_and_is_not_durable(folder: Path) -> None:
    facts = facts_of("toys:toy", folder)
    assert facts["saver_class"] == "langgraph.checkpoint.memory.InMemorySaver"
    assert facts["distribution"] == "langgraph-checkpoint"
    assert (facts["apis"], facts["durable"]) == (["sync", "async"], False)
    assert {"delete_thread", "history", "serializer", "early_writes"} <= set(facts["capabilities"])
    assert facts["absent"]["many_processes"] == "the target is not durable"


class KeepsTextInline(InMemorySaver):
    """Serializes only what is no text, as savers for Postgres and MySQL do."""

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        for value in checkpoint["channel_values"].values():
            if not isinstance(value, str):
                self.serde.dumps_typed(value)
        return config


def test_a_saver_that_keeps_texts_inline_is_found_to_use_its_serializer() -> None:
    target = Target(name="inline", open=lambda workspace: nullcontext(), durable=False)
    with EventLoop() as loop:
        prober = Prober(KeepsTextInline(), loop, lambda stage: None)
        absent = absent_capabilities(target, prober, find_operations(prober), ["sync"])
    assert "serializer" not in absent


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
