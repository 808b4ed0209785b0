"""``saverproof init``: savers that it has never seen, from their class to a verdict."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.conformance.shared_forks import share_forks

from saverproof.run.cli import main
from saverproof.run.known.reading import read_known
from saverproof.savers.targets.target import Target
from saverproof.scripts.opening import opening_of

SAVERS = '''
import contextlib
import sqlite3
from pathlib import Path

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver


class OfAFolder(BaseCheckpointSaver):
    """By its constructor; keeps all it has in one file of a folder."""

    def __init__(self, directory: Path, *, cache_size: int = 10) -> None:
        super().__init__()
        file = Path(directory) / "all.db"
        self.connection = sqlite3.connect(file, check_same_thread=False)
        self.inner = SqliteSaver(self.connection)

    def put(self, *given):
        return self.inner.put(*given)

    def put_writes(self, *given):
        return self.inner.put_writes(*given)

    def get_tuple(self, config):
        return self.inner.get_tuple(config)

    def list(self, config, **given):
        return self.inner.list(config, **given)

    def close(self):
        self.connection.close()


class ByConnString(SqliteSaver):
    @classmethod
    @contextlib.contextmanager
    def from_conn_string(cls, conn_string: str):
        with SqliteSaver.from_conn_string(conn_string) as saver:
            yield saver


class AsyncOnly(AsyncSqliteSaver):
    """Made on the running event loop; no class method opens it."""

    from_conn_string = None

    def __init__(self, connection: aiosqlite.Connection) -> None:
        super().__init__(connection)


class OnAServer(SqliteSaver):
    from_conn_string = None

    def __init__(self, cluster, *, region) -> None:
        raise AssertionError("nobody can guess these")


class InTheWorkingFolder(SqliteSaver):
    from_conn_string = None

    def __init__(self, conn_string: str = "mine.db") -> None:
        super().__init__(sqlite3.connect(conn_string, check_same_thread=False))


class ByEngine(SqliteSaver):
    """Made with an engine, as those over SQLAlchemy are; it opens the file in its address."""

    from_conn_string = None

    def __init__(self, engine) -> None:
        super().__init__(sqlite3.connect(engine.url.database, check_same_thread=False))


class Refuses(SqliteSaver):
    from_conn_string = None

    def __init__(self, path: str) -> None:
        raise PermissionError("no licence for " + type(self).__name__)


class NoSaver:
    pass
'''


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command makes its own folder the first on the path, for itself and its children."""
    share_forks()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("invented_savers.py").write_text(SAVERS)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The arguments of pytest that would have judged a saver; each run finds nothing wrong."""
    given: list[list[str]] = []

    def run(arguments: list[str]) -> int:
        given.append(arguments)
        return 0

    monkeypatch.setattr("saverproof.run.cli.init.run_pytest", run)
    monkeypatch.setattr("saverproof.run.cli.judge.run_pytest", run)
    return given


def init(*arguments: str, answers: str | None = None) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["init", *arguments], input=answers)
    return result.exit_code, result.output


@pytest.mark.parametrize(
    ("name", "opens"),
    [
        ("OfAFolder", "saver = OfAFolder(workspace.path)"),
        ("ByEngine", 'ByEngine(create_engine(f"sqlite:///{workspace.path}/checkpoints.db"))'),
        ("ByConnString", "with ByConnString.from_conn_string(str(workspace.path /"),
        ("AsyncOnly", "connection = await aiosqlite.connect(workspace.path /"),
    ],
)
def test_a_saver_never_seen_is_opened(name: str, opens: str, judged: list[list[str]]) -> None:
    status, output = init(f"invented_savers:{name}", "--yes")
    assert status == 0, output
    text = Path("saverproof_target.py").read_text()
    assert opens in text
    assert "    # durable=False" in text
    (command,) = judged
    function = text.rpartition("def ")[2].partition("(")[0]
    assert f"--saver=saverproof_target.py:{function}" in command
    source = importlib.import_module("saverproof_target")
    (found,) = (one for one in vars(source).values() if isinstance(one, Target))
    opening = opening_of(found)
    assert opening is not None
    assert "saverproof" not in " ".join((*opening.imports, *opening.local, *opening.before))
    del sys.modules["saverproof_target"]


def test_the_authors_own_store_is_left_alone(judged: list[list[str]]) -> None:
    """Its default is a file of the working folder, which all workspaces would share."""
    Path("mine.db").write_bytes(b"the author's")
    assert init("invented_savers:InTheWorkingFolder", "--yes")[0] == 0
    assert (
        "InTheWorkingFolder(conn_string=str(workspace.path / "
        in Path("saverproof_target.py").read_text()
    )
    assert Path("mine.db").read_bytes() == b"the author's"


def test_a_saver_in_memory_is_said_to_be_one(judged: list[list[str]]) -> None:
    assert init("langgraph.checkpoint.memory:InMemorySaver", "--yes")[0] == 0
    text = Path("saverproof_target.py").read_text()
    assert "    durable=False," in text
    assert len(judged) == 1


def test_what_was_written_is_formatted_and_used_by_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--saver-families=upsert --saver-known=none")
    Path("tests").mkdir()
    status, output = init("langgraph.checkpoint.sqlite:SqliteSaver", "-y", "--name", "official")
    assert "official" in Path("tests/saverproof_target.py").read_text()
    # The official saver has flaws that the quick profile finds.
    assert status == 1, output
    assert Path(".saverproof/report.html").is_file()
    assert "saverproof known .saverproof -o tests/saverproof_known.toml" in output
    formatted = [sys.executable, "-m", "black", "--check", "--line-length=100", "tests"]
    subprocess.run(formatted, check=True)
    workflow = Path(".github/workflows/saverproof.yml").read_text()
    assert "pytest --saver=tests/saverproof_target.py:sqlite_saver --saver-strict" in workflow
    assert "${{ github.run_id }}" in workflow
    drafted = CliRunner().invoke(
        main, ["known", ".saverproof", "-o", "tests/saverproof_known.toml"]
    )
    assert drafted.exit_code == 0, drafted.output
    assert read_known(Path("tests/saverproof_known.toml"))


def test_files_that_are_there_stay(judged: list[list[str]]) -> None:
    Path("saverproof_known.toml").write_text("# mine")
    status, output = init("langgraph.checkpoint.sqlite:SqliteSaver", "--yes")
    assert status == 0
    assert "saverproof_known.toml (is there already, and stays)" in output
    assert Path("saverproof_known.toml").read_text() == "# mine"
    assert judged


def test_what_nobody_can_guess_is_one_edit_away(judged: list[list[str]]) -> None:
    status, output = init("invented_savers:OnAServer", "--yes")
    assert status == 2
    assert "What it needs could not be guessed" in output
    assert "make saverproof_target.py open it, then run: pytest --saver=" in output
    text = Path("saverproof_target.py").read_text()
    assert (
        "# What it needs could not be guessed.\n    saver = OnAServer(cluster=..., region=...)"
        in text
    )
    assert not judged


def test_the_terminal_says_why_nothing_opened(judged: list[list[str]]) -> None:
    status, output = init("invented_savers:Refuses", "--yes")
    assert status == 2
    assert "  Refuses(str(workspace.path)): " in output
    assert output.count("no licence for Refuses") > 2


def test_a_package_hands_its_savers_on(judged: list[list[str]]) -> None:
    package = Path("handing")
    package.mkdir()
    (package / "__init__.py").write_text("from handing.store import MySaver\n")
    (package / "store.py").write_text(
        "from langgraph.checkpoint.memory import InMemorySaver\n"
        "class MySaver(InMemorySaver):\n    pass\n"
    )
    assert "handing has no 'Your'; its savers: MySaver" in init("handing:Your", "--yes")[1]


def judge(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["judge", *arguments])
    return result.exit_code, result.output


def test_a_class_is_judged_and_nothing_but_the_folder_of_results_is_written(
    judged: list[list[str]],
) -> None:
    before = {path.name for path in Path().iterdir()}
    status, output = judge("invented_savers:ByConnString", "--saver-families=upsert", "-n", "2")
    assert status == 0, output
    file = ".saverproof/targets/by_conn_string.py"
    assert judged[0] == [
        *("-p", "no:cacheprovider", f"--saver={file}:by_conn_string", "--saver-profile=quick"),
        *("--saver-families=upsert", "-n", "2"),
    ]
    # Python itself keeps what it has compiled of the saver's module.
    there = {path.name for path in Path().iterdir()} - {"__pycache__"}
    assert there == before | {".saverproof"}
    assert "    # known=" in Path(file).read_text()
    assert Path(file).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "given", ["evening.py:Notes", "./evening.py:Notes", "src/evening.py:Notes"]
)
def test_a_class_may_be_named_by_its_file(given: str, judged: list[list[str]]) -> None:
    text = "from langgraph.checkpoint.memory import InMemorySaver\nclass Notes(InMemorySaver): ..."
    Path("evening.py").write_text(text)
    status, output = judge(given)
    assert status == 0, output
    assert judged[0][2] == "--saver=.saverproof/targets/notes.py:notes"
    assert "from evening import Notes" in Path(".saverproof/targets/notes.py").read_text()
    assert init(given, "--yes")[0] == 0


@pytest.mark.parametrize("saver", ["memory", "a/file.py:mine", "saverproof_savers.targets:memory"])
def test_what_pytest_takes_is_handed_on(saver: str, judged: list[list[str]]) -> None:
    status, output = judge(saver, "--saver-profile=deep")
    assert status == 0, output
    assert judged[0][2:] == [f"--saver={saver}", "--saver-profile=deep"]


def test_without_a_saver_the_project_says_what_is_judged(judged: list[list[str]]) -> None:
    status, output = judge("-x")
    assert status == 2
    assert "SAVER: found none, and no [tool.saverproof] in pyproject.toml" in output
    Path("pyproject.toml").write_text('[tool.saverproof]\nsaver = "memory"\nprofile = "default"\n')
    assert judge("-x")[0] == 0
    assert judged[0][2:] == ["--saver=memory", "--saver-profile=default", "-x"]


@pytest.mark.parametrize(
    ("saver", "said"),
    [
        (
            "invented_savers:Refuses",
            "Nothing that was tried opens it; saverproof init invented_sav",
        ),
        ("no_such_module:Saver", "no_such_module does not import: ModuleNotFoundError"),
        ("invented_savers:NoSaver", "is a class without put and get_tuple"),
    ],
)
def test_what_cannot_be_judged_is_told_in_one_line(saver: str, said: str) -> None:
    status, output = judge(saver)
    assert status == 2
    assert said in output.splitlines()[-1]
    assert "Traceback" not in output


def test_the_savers_of_the_project_are_found(judged: list[list[str]]) -> None:
    Path("invented_savers.py").unlink()
    package = Path("src", "mine")
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "store.py").write_text(
        "from langgraph.checkpoint.memory import InMemorySaver\n"
        "class MySaver(InMemorySaver):\n    pass\n"
    )
    sys.path.insert(0, str(Path("src").absolute()))
    status, output = init("--yes")
    assert (status, "found mine.store:MySaver" in output) == (0, True), output
    (package / "other.py").write_text((package / "store.py").read_text())
    status, output = init("--yes")
    assert status == 2
    assert "found the savers mine.other:MySaver, mine.store:MySaver here, expected one" in output


def test_nothing_is_written_where_the_author_says_no(judged: list[list[str]]) -> None:
    status, output = init("langgraph.checkpoint.memory:InMemorySaver", answers="n\n")
    assert status == 1
    assert "write them?" in output
    assert not Path("saverproof_target.py").exists()
    assert not judged


@pytest.mark.parametrize(
    ("saver", "said"),
    [
        ("invented_savers", "expected module:Class"),
        ("/else/where.py:OfAFolder", "expected module:Class"),
        ("no_such_module:Saver", "no_such_module does not import: ModuleNotFoundError"),
        ("invented_savers:Nothing", "its savers: OfAFolder, ByConnString, AsyncOnly, OnAServer,"),
        ("invented_savers:NoSaver", "is a class without put and get_tuple"),
    ],
)
def test_what_is_no_savers_class_is_told_in_one_line(saver: str, said: str) -> None:
    status, output = init(saver, "--yes")
    assert status == 2
    assert said in output
    assert "Traceback" not in output
