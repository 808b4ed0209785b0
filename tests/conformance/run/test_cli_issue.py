"""A finding as an issue for the project of its saver."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.reports.sample import finding, run_event, saver_events

from saverproof.contracts.registry import contract
from saverproof.run.cli import main
from saverproof_reports import report_of, write_report

TILE = "ordering/pages-tile"
ZERO = "ordering/limit-is-a-prefix"


def issued(folder: Path, contract_id: str, *findings: Any) -> Result:
    events = [run_event(), *saver_events("my-saver", [*findings]), {"event": "end"}]
    write_report(report_of(events), folder)
    (file,) = (folder / "artefacts").glob(f"*{contract_id.replace('/', '-')}*")
    return CliRunner().invoke(main, ["issue", str(file)])


def test_an_issue_has_all_that_the_bug_form_asks_for(tmp_path: Path) -> None:
    result = issued(tmp_path, TILE, finding(TILE))
    assert result.exit_code == 0
    text = result.stdout
    headings = [
        line for line in text.splitlines() if line.startswith("#") and "# Exits" not in line
    ]
    assert headings == [
        "# my-saver: two rows of a failed batch of five came back",
        "## Example Code",
        "## Error Message and Stack Trace (if applicable)",
        "## Description",
        "## System Info",
    ]
    for said in (
        "from langgraph.checkpoint.sqlite import SqliteSaver",
        "expected: writes of task 1: nothing",
        contract(TILE).statement,
        "3. `fail before row 3 of INSERT INTO writes`",
        "langgraph-checkpoint-sqlite 3.1.2",
        f"Found by saverproof, contract `{TILE}`.",
    ):
        assert said in text
    assert "timing" not in text


def test_what_breaks_by_the_same_cause_gets_no_issue_of_its_own(tmp_path: Path) -> None:
    root, other = finding(TILE, also_shows=[ZERO], needs=["a"]), finding(ZERO, needs=["a", "b"])
    result = issued(tmp_path, TILE, root, other)
    assert f"The same cause also breaks `{ZERO}`" in result.stdout
    result = issued(tmp_path, ZERO, root, other)
    assert f"{TILE} has the same cause: an issue on it is the one to file" in result.stderr


def test_an_issue_of_a_race_says_that_it_hangs_on_timing(tmp_path: Path) -> None:
    race = finding("concurrency/no-torn-reads", phase="concurrency", reproducer="")
    text = issued(tmp_path, "concurrency/no-torn-reads", race).stdout
    assert "It hangs on timing: one run shows it and the next may not." in text
    assert "# No script shows this by itself" in text


HERE = """\
import asyncio
import sys

from langgraph.checkpoint.base import empty_checkpoint

sys.path.insert(1, sys.path[0] + "/../..")

from my_saver import MySaver

raise SystemExit(1)
"""
ANYWHERE = """\
import asyncio

from langgraph.checkpoint.base import empty_checkpoint

from my_saver import MySaver

raise SystemExit(1)
"""


def test_an_issue_names_no_folder_of_its_author(tmp_path: Path) -> None:
    text = issued(tmp_path, TILE, finding(TILE, reproducer=HERE)).stdout
    assert ANYWHERE in text


def test_an_artefact_alone_is_enough(tmp_path: Path) -> None:
    issued(tmp_path / "run", TILE, finding(TILE))
    (file,) = (tmp_path / "run" / "artefacts").iterdir()
    (tmp_path / "elsewhere").mkdir()
    copy = file.rename(tmp_path / "elsewhere" / "one.json")
    result = CliRunner().invoke(main, ["issue", str(copy)])
    assert result.exit_code == 0
    assert "two rows of a failed batch of five came back" in result.stdout


@pytest.mark.parametrize("text", ["", "{}", '{"schema": "saverproof-report/1"}'])
def test_what_is_no_artefact_is_told_in_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "one.json"
    file.write_text(text)
    result = CliRunner().invoke(main, ["issue", str(file)])
    assert result.exit_code == 2
    assert str(file) in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.output
