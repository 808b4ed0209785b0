"""The command line as a user meets it."""

import subprocess
import sys
from pathlib import Path

import pytest
from click import Context
from click.testing import CliRunner
from markdown.extensions import toc

from saverproof.contracts.advice import page_of
from saverproof.contracts.registry import contract, contracts
from saverproof.errors import JudgeError
from saverproof.run.cli import main
from saverproof.run.plugin.options import SUITE_OPTIONS

SQLITE = "langgraph.checkpoint.sqlite.SqliteSaver"


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, arguments)
    return result.exit_code, result.output


def test_help_says_how_a_saver_is_judged() -> None:
    status, output = run("--help")
    assert status == 0
    assert "pytest --saver=sqlite" in output
    assert "list" in output


def test_every_command_and_option_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "options.md").read_text()
    for name in main.list_commands(Context(main)):
        assert f"| `saverproof {name}" in page
    for option in SUITE_OPTIONS:
        assert f"| `--{option.replace('_', '-')}" in page


def test_each_command_explains_itself() -> None:
    for name in main.list_commands(Context(main)):
        status, output = run(name, "--help")
        assert status == 0
        assert len(output.splitlines()) > 8, f"{name}: too little to learn from"


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (RuntimeError("a bug"), 2, "an error of saverproof itself"),
        (JudgeError("the judge broke", "where it broke"), 2, "where it broke"),
    ],
)
def test_only_an_answer_ends_with_status_1(
    error: BaseException, status: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> None:
        raise error

    monkeypatch.setattr("saverproof.run.cli.list.installed", fails)
    assert run("list", "targets")[0] == status
    assert said in run("list", "targets")[1]


@pytest.mark.parametrize(
    "arguments", [("list", "contracts"), ("explain", "upsert/put-replaces")], ids=" ".join
)
def test_a_reader_who_leaves_is_no_error(arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "saverproof", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert process.returncode == 141


def test_explain_tells_all_that_is_known_of_a_contract() -> None:
    status, output = run("explain", "upsert/put-replaces")
    promised = contract("upsert/put-replaces")
    assert status == 0
    for said in (
        "upsert/put-replaces (must)",
        promised.statement,
        promised.matters,
        promised.wrong,
        "ON CONFLICT DO NOTHING",
        promised.fix,
        "https://saverproof.github.io/saverproof/contracts/#upsertput-replaces",
    ):
        assert said in output


def test_explain_offers_the_nearest_contracts() -> None:
    status, output = run("explain", "upsert/put-replace")
    assert status == 2
    assert output.splitlines()[-1].startswith(
        "Error: Invalid value for CONTRACT: no contract 'upsert/put-replace'; nearest: upsert/put-r"
    )


def test_the_page_of_each_contract_is_a_heading_of_the_documentation() -> None:
    page = (Path(__file__).parents[3] / "docs" / "contracts.md").read_text()
    headings = {line.removeprefix("### ") for line in page.splitlines() if line[:4] == "### "}
    anchors = {toc.slugify(heading, "-") for heading in headings}
    for one in contracts():
        assert (page_of(one) or "").partition("#")[2] in anchors


def test_list_targets_names_the_bundled_ones() -> None:
    status, output = run("list", "targets")
    assert status == 0
    assert {"sqlite", "memory"} <= {line.split()[0] for line in output.splitlines() if line.strip()}


def test_list_contracts_shows_each_once_on_a_line() -> None:
    status, output = run("list", "contracts")
    assert status == 0
    for one in contracts():
        assert sum(one.id in line.split() for line in output.splitlines()) == 1
    assert all(line == line.rstrip() for line in output.splitlines())


def test_list_known_shows_the_flaws_of_each_release_on_a_line() -> None:
    status, output = run("list", "known")
    assert status == 0
    rows = [line.split(maxsplit=2) for line in output.splitlines()]
    (mended,) = (row[2] for row in rows if row[:2] == [SQLITE, "3.1.2"])
    (broken,) = (row[2] for row in rows if row[:2] == [SQLITE, "3.1.1"])
    assert "ordering/writes-sorted" in broken
    assert "ordering/writes-sorted" not in mended


def test_list_contracts_of_one_family() -> None:
    status, output = run("list", "contracts", "--family", "filter")
    assert status == 0
    assert "filter/equality" in output
    assert "ordering/" not in output


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nonsense"], "No such command 'nonsense'"),
        (
            ["list", "contracts", "--family", "ordring"],
            "found 'ordring', expected one of interface",
        ),
    ],
)
def test_bad_input_is_told_without_a_traceback(arguments: list[str], text: str) -> None:
    status, output = run(*arguments)
    assert status == 2
    assert text in output
    assert "Traceback" not in output
