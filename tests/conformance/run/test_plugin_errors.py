"""Bad input ends a run with one clear line and exit status 4, under xdist too."""

import re
from pathlib import Path

import pytest
from tests.conformance.plugin_support import BAD, Project, Result, count


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.write("bad.py", BAD)
    project.write("raising.py", "import json\nraise ValueError('half\\nconfigured')\n")
    project.write("leaving.py", "import sys\nsys.exit('no licence')\n")
    project.write("syntax.py", "def broken(:\n")
    return project


def assert_one_line(result: Result, pattern: str) -> None:
    assert result.status == 4, result.output
    assert len(result.errors) == 1, result.output
    assert re.search(pattern, result.errors[0]), result.errors[0]
    assert "Traceback" not in result.output
    assert "INTERNALERROR" not in result.output


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
@pytest.mark.parametrize(
    ("saver", "pattern"),
    [
        (
            "sqlit",
            "--saver sqlit: no target has that name; "
            r"did you mean sqlite\b.*`saverproof list targets`.*module:attribute",
        ),
        ("raising:x", r"does not import: ValueError: half configured \(.*raising.py, line 2\)"),
        ("bad.py:number", r"number is an int, expected a target \(a function decorated"),
        ("bad:raises", "target '_raises': opening raised ConnectionError: no server at all"),
        ("bad:forgets", "a checkpoint that was put is gone when the saver is opened again"),
        ("bad:none", r"yielded None, expected a saver \(put and get_tuple"),
    ],
)
def test_a_bad_target_is_one_line(
    project: Project, saver: str, pattern: str, workers: tuple[str, ...]
) -> None:
    assert_one_line(project.pytest(f"--saver={saver}", *workers), pattern)


def test_who_asks_for_tracebacks_sees_the_authors_own_lines(project: Project) -> None:
    output = project.pytest("--saver=bad:raises", "--tb=short").output
    assert 'raise ConnectionError("no server' in output
    assert "contextlib.py" not in output


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        (["--saver-families=ordring"], "found 'ordring'; did you mean ordering"),
        (["--saver-families=upgrade"], "found upgrade, expected --saver-upgrade-from with it"),
        (["--saver-contracts=filter/equalty"], "found 'filter/equalty'; did you mean filter/equal"),
        (
            ["--saver-contracts=filter/equality", "--saver-families=upsert"],
            "found filter/equality, expected one of the families that --saver-families names",
        ),
        (["--saver-api=async", "--saver=bad:nothing"], "bad has no attribute 'nothing'"),
        (["--saver-known=none.toml"], r"none.toml: cannot be read: No such file"),
        (["--saver=bad:other"], "both are named 'toy', expected different names"),
        (["--saver=bad:alike"], "'toy' and 'Toy' would share their files in the report"),
        (["--hypothesis-seed=x"], "--hypothesis-seed: found 'x', expected an integer"),
    ],
)
def test_a_bad_option_is_one_line(project: Project, arguments: list[str], pattern: str) -> None:
    if "bad:" in arguments[0]:
        text = "from toys import toy\nfrom dataclasses import replace\nother = replace(toy)\n"
        project.write("bad.py", f"{text}alike = replace(toy, name='Toy')\n")
    assert_one_line(project.judge(*arguments), pattern)


@pytest.mark.parametrize(
    ("argument", "pattern"),
    [
        ("--saver-profile=fast", r"--saver-profile: .*'fast'.*quick"),
        ("--saver-watchdog=-1", "--saver-watchdog: found '-1', expected a number of seconds"),
        ("--saver-api=both?", "--saver-api: .*'both[?]'"),
    ],
)
def test_a_value_that_an_option_cannot_have_is_refused(
    project: Project, argument: str, pattern: str
) -> None:
    result = project.pytest("--saver=toys:toy", argument)
    assert result.status == 4
    assert re.search(pattern, result.output), result.output


def test_options_without_a_saver_are_refused(project: Project) -> None:
    result = project.pytest("--saver-profile=deep")
    assert_one_line(result, "--saver-profile: found no --saver, expected one beside it")


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_a_run_that_judges_nothing_is_no_success(
    project: Project, workers: tuple[str, ...]
) -> None:
    result = project.judge("-k", "nothing_of_that_name", *workers)
    assert_one_line(result, "no contract was judged; expected an item of the suite to run")


def test_a_run_of_somebody_elses_tests_judges_nothing(project: Project) -> None:
    project.write("test_other.py", "def test_other(): pass")
    assert_one_line(project.judge("test_other.py"), "no contract was judged")


def test_an_item_that_judges_nothing_is_skipped(project: Project) -> None:
    project.script(filter={"do": "nothing"})
    result = project.judge("--saver-families=filter,ordering")
    passed, skipped = 2 * count("ordering"), 2 * count("filter")
    assert result.status == 0
    assert result.ran == {"passed": passed, "skipped": skipped}


def test_a_plain_function_is_a_target_too(project: Project) -> None:
    project.write(
        "deep/plain.py",
        "from contextlib import asynccontextmanager\n"
        "from beside import Mine\n"
        "from saverproof import target\n"
        "@asynccontextmanager\n"
        "async def mine(workspace):\n"
        "    yield Mine(workspace.path)\n",
    )
    project.write("deep/beside.py", MINE)
    result = project.judge("--saver-families=filter", saver="deep/plain.py:mine")
    assert result.status == 0, result.output
    assert "saver: mine (beside.Mine, deep/plain.py; sync and async)" in result.output


MINE = """
import pickle
from langgraph.checkpoint.memory import InMemorySaver

class Mine(InMemorySaver):
    # Memory that outlives its process, in the simplest way.
    def __init__(self, folder):
        super().__init__()
        self.file = folder / "state"
        if self.file.exists():
            storage, writes, blobs = pickle.loads(self.file.read_bytes())
            for thread, namespaces in storage.items():
                self.storage[thread].update(namespaces)
            for key, value in writes.items():
                self.writes[key].update(value)
            self.blobs.update(blobs)

    def put(self, *args):
        result = super().put(*args)
        storage = {thread: dict(spaces) for thread, spaces in self.storage.items()}
        self.file.write_bytes(pickle.dumps((storage, dict(self.writes), dict(self.blobs))))
        return result
"""
