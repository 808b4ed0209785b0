"""What the documentation shows works: its commands, targets, settings and tables.

The pages on machines, on extending and on the bundled savers have tests of their own, and what
`saverproof init`, `verify` and `replay` do has, too: here their command lines are only read.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner
from packaging.requirements import Requirement
from tests.docs.compared import PAGE as REPORTS
from tests.docs.compared import PAIRS, Pair
from tests.docs.sample_report import sample_report
from tests.docs.sample_run import README, SHOWN, sample
from tests.docs.snippets import BLOCKS, ROOT, Block, blocks, commands
from tests.docs.times import MARKED, PAGE, table
from tests.reports.sample import good_report

import saverproof
from saverproof import Capability, Workspace
from saverproof.run.cli import main
from saverproof.run.known.reading import read_known
from saverproof.run.project.options import project_options
from saverproof.run.project.table import project_table
from saverproof.savers.targets.target import Target
from saverproof_reports import validate, write_report
from saverproof_savers.__main__ import import_command

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
TRIED_ELSEWHERE = {"machines.md", "extending.md", "savers.md", "servers.md"}
ONLY_READ = {"corpus", "init", "judge", "peer", "verify", "replay", "known"}
COMMANDS = list({" ".join(words): (page, words) for page, words in commands()}.values())
FILES = [one for one in blocks("python") if one.page not in TRIED_ELSEWHERE]
MODULES = ("my_saver", *(one.file.removesuffix(".py").replace("/", ".") for one in FILES))
THEIR_SAVER = """
from saverproof_savers import SqliteSaver


class MySaver(SqliteSaver):
    @classmethod
    def from_conn_string(cls, path, ttl=None):
        return cls.open(path)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An author's project with the files that the pages show, as the working folder."""
    (tmp_path / "my_saver.py").write_text(THEIR_SAVER)
    for block in FILES:
        (tmp_path / block.file).parent.mkdir(exist_ok=True)
        (tmp_path / block.file).write_text(block.code)
    # README's package is beside the module of the same name on the other pages.
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in {part for module in MODULES for part in (module, module.partition(".")[0])}:
        sys.modules.pop(name, None)


def test_each_block_says_what_it_is() -> None:
    kinds = {"sh", "python", "toml", "yaml", "ini", "sql", "text", "console"}
    assert {one.language for one in BLOCKS} <= kinds
    assert [one for one in FILES if not one.file] == []


@pytest.mark.parametrize(
    "arguments", [words[1:] for _, words in COMMANDS if words[0] == "pytest"], ids=" ".join
)
def test_pytest_knows_the_options(arguments: list[str], request: pytest.FixtureRequest) -> None:
    known, unknown = request.config._parser.parse_known_and_unknown_args(arguments)
    assert unknown == []
    assert known.saver
    named = {one for one in known.saver if not re.search(r":|\.py$", one)}
    assert named <= set(PROJECT["entry-points"]["saverproof.targets"])


@pytest.mark.parametrize(
    "words", [words for _, words in COMMANDS if words[0] == "saverproof"], ids=" ".join
)
def test_a_command_runs(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for word in words[2:]:
        folder = Path(word).parent if word.endswith(".json") else Path(word)
        if not word.startswith("-") and not folder.suffix:
            write_report(good_report(), folder)
    Path("artefacts").mkdir(exist_ok=True)
    if words[1] in ONLY_READ:
        Path(".saverproof", "artefacts").mkdir(parents=True, exist_ok=True)
        Path(".saverproof", "artefacts", "FILE.json").touch()
        command = main.get_command(click.Context(main), words[1])
        assert command is not None
        assert command.make_context(words[1], words[2:])
    else:
        result = CliRunner().invoke(main, words[1:])
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize("words", [words for _, words in COMMANDS if words[0] == "pip"])
def test_what_is_installed_is_offered(words: list[str]) -> None:
    wanted = [Requirement(word) for word in words[2:] if word not in (".", "YOUR-PACKAGE")]
    assert {one.name for one in wanted} == {"saverproof"}
    assert {extra for one in wanted for extra in one.extras} <= set(
        PROJECT["optional-dependencies"]
    )


def test_make_knows_its_targets() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    wanted = {words[1] for _, words in COMMANDS if words[0] == "make"}
    assert wanted
    assert {one for one in wanted if not re.search(rf"^{one}:", makefile, re.MULTILINE)} == set()


@pytest.mark.parametrize("words", [words for _, words in COMMANDS if words[0] == "python"])
def test_the_importer_knows_its_arguments(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("official.db").touch()
    assert words[:4] == ["python", "-m", "saverproof_savers", "import"]
    assert import_command.make_context("import", words[4:])


def test_nothing_else_is_typed() -> None:
    assert {words[0] for _, words in COMMANDS} <= {"pytest", "saverproof", "pip", "make", "python"}


@pytest.mark.parametrize(
    "block",
    [one for one in FILES if "@target" in one.code],
    ids=lambda block: f"{block.page} {block.file}",
)
def test_a_target_opens_a_saver_that_keeps_what_it_is_given(block: Block, project: Path) -> None:
    module = block.file.removesuffix(".py").replace("/", ".")
    if block.page == "README.md":
        (project / "my_saver" / "__init__.py").write_text(THEIR_SAVER)
    (target,) = (one for one in vars(import_module(module)).values() if isinstance(one, Target))
    workspace = Workspace(project, "w1")
    if block.file == "asynchronous.py":
        return
    with target.open(workspace) as saver:
        assert list(saver.list(None)) == []
    if target.check is not None:
        (project / "damaged.json").write_text("{")
        assert len(target.check(workspace)) == 1
    if target.drop is not None:
        assert (project / "data" / "w1").exists()
        target.drop(workspace)
        target.drop(workspace)
        assert not (project / "data" / "w1").exists()


def test_the_suite_is_imported_and_a_notebook_judges(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The one snippet that judges anything, which takes two seconds of processor time.
    import_module("notebook")
    assert capsys.readouterr().out == "True ()\nheld\n"
    assert import_module("test_conformance").__name__


def test_a_wrapped_connection_is_counted(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import_module("wrapped")
    assert "before the 1st statement of the operation" in capsys.readouterr().out


@pytest.mark.parametrize("block", blocks("toml"), ids=lambda block: block.page)
def test_settings_are_right(block: Block, tmp_path: Path) -> None:
    data = tomllib.loads(block.code)
    if "known" in data:
        file = tmp_path / "known.toml"
        file.write_text(block.code)
        (entry,) = read_known(file)
        assert entry.reason
    elif "tool" in data:
        (tmp_path / "pyproject.toml").write_text(block.code)
        (tmp_path / "tests").mkdir()
        (tmp_path / "tests" / "saverproof_target.py").write_text("@target\ndef my_saver(at): ...\n")
        table = project_table(tmp_path)
        assert table is not None
        assert len(project_options(table, tmp_path)) == len(data["tool"]["saverproof"])
    else:
        assert data["project"]


def test_every_capability_and_argument_of_a_target_is_told() -> None:
    page = (ROOT / "docs" / "target.md").read_text("utf-8")
    assert {str(one) for one in Capability if f"`{one}`" not in page} == set()
    for name in inspect.signature(saverproof.target).parameters:
        assert f"| `{name}` |" in page


def test_the_times_are_those_of_the_headers() -> None:
    (shown,) = MARKED.findall(PAGE.read_text("utf-8"))
    assert shown == table(), "run: make pages"


def test_what_the_readme_shows_of_a_run_is_what_a_run_says() -> None:
    # A real run, from the command to the script, though of one family through one API alone: it
    # takes some seconds of processor time, and nothing less shows what a user will see.
    (shown,) = SHOWN.findall(README.read_text("utf-8"))
    assert shown == sample(), "run: make pages"


def test_the_sample_report_is_one_of_today_and_names_nobodys_folders() -> None:
    report = sample_report()
    assert validate(report) == []
    text = json.dumps(report)
    assert "/root/" not in text
    assert "/home/" not in text


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.saver)
def test_what_is_shown_of_two_releases_is_what_their_reports_say(pair: Pair) -> None:
    assert pair.block().findall(REPORTS.read_text("utf-8")) == [pair.shown], "run: make pages"
    for report in pair.reports:
        assert validate(report) == []
        assert "/root/" not in json.dumps(report)


def test_links_of_the_readme_work_wherever_it_is_shown() -> None:
    files = f"{PROJECT['urls']['Repository']}/blob/main/"
    links = re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text("utf-8"))
    assert links
    assert [link for link in links if not link.startswith(files)] == []
    assert [one for one in links if not (ROOT / one.removeprefix(files)).is_file()] == []


def test_the_addresses_agree() -> None:
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    assert site["site_url"] == PROJECT["urls"]["Documentation"]
    assert site["repo_url"] == PROJECT["urls"]["Repository"]
