"""``saverproof compare``, ``report`` and ``known``: from files to what a reader or CI needs."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.reports.sample import finding, run_event, saver_events

from saverproof.run.cli import main
from saverproof.run.known.reading import read_known
from saverproof_reports import Spool, read_artefact, read_report, report_of, write_report

TILE, TWICE, FILTER = "ordering/pages-tile", "upsert/put-replaces", "filter/equality"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def events(*findings: Any, name: str = "sqlite", **changes: Any) -> list[dict[str, Any]]:
    return [run_event(**changes), *saver_events(name, findings), {"event": "end"}]


def written(folder: Path, *findings: Any, **changes: Any) -> Path:
    """The path of a new report.json."""
    return write_report(report_of(events(*findings, **changes)), folder)


def without(contract: str, given: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events of a kit that does not have the contract yet."""
    left = json.loads(json.dumps(list(given)))
    for event in left:
        event.get("checked", {}).pop(contract, None)
        if "contracts" in event:
            event["contracts"] = [one for one in event["contracts"] if one["id"] != contract]
    return left


# --- compare -------------------------------------------------------------------------------


def test_compare_tells_a_fixed_flaw_from_a_new_one(tmp_path: Path) -> None:
    old = written(tmp_path / "old", finding(TILE))
    new = written(tmp_path / "new", finding(TWICE))
    result = run("compare", old, new)
    assert result.exit_code == 1
    assert "1 contract got worse; 1 got better." in result.output
    assert f"got worse: {TWICE} (must, held → violated)" in result.output
    assert f"got better: {TILE} (must, violated → held)" in result.output
    assert run("compare", old, old).exit_code == 0


def test_compare_takes_folders_and_writes_pages(tmp_path: Path) -> None:
    written(tmp_path / "old", finding(TILE))
    written(tmp_path / "new", finding(TILE), finding(TWICE))
    page, text = tmp_path / "page.html", tmp_path / "deep" / "text.md"
    result = run("compare", tmp_path / "old", tmp_path / "new", "--html", page, "--markdown", text)
    assert result.exit_code == 1
    assert f"<code>{TWICE}</code>" in page.read_text()
    assert f"| `{TWICE}` | must | held | violated |" in text.read_text()


def test_a_contract_added_by_an_upgrade_is_no_step_back(tmp_path: Path) -> None:
    older = report_of(without(TILE, events()))
    old = write_report(older, tmp_path / "old")
    result = run("compare", old, written(tmp_path / "new", finding(TILE)))
    assert result.exit_code == 0
    assert f"added: {TILE} (must, absent → violated)" in result.output


def test_a_renamed_saver_is_compared_and_the_name_told(tmp_path: Path) -> None:
    old = written(tmp_path / "old", finding(TILE), name="sqlite")
    new = written(tmp_path / "new", name="renamed", profile="deep")
    result = run("compare", old, new)
    assert result.exit_code == 0
    assert "sqlite → renamed" in result.output
    assert "different profile: default → deep" in result.output


@pytest.mark.parametrize("command", ["compare", "report", "known"])
def test_a_truncated_file_is_told_in_one_line(tmp_path: Path, command: str) -> None:
    path = written(tmp_path / "one")
    path.write_bytes(path.read_bytes()[:3000])
    result = run(command, *[path] * (2 if command == "compare" else 1))
    (line,) = result.output.splitlines()
    assert (result.exit_code, line.startswith(f"Error: {path}: is not whole JSON")) == (2, True)


def test_a_folder_without_a_report_is_told_in_one_line(tmp_path: Path) -> None:
    result = run("compare", tmp_path, tmp_path)
    (line,) = result.output.splitlines()
    assert result.exit_code == 2
    assert "report.json: cannot be read: No such file or directory" in line


# --- report --------------------------------------------------------------------------------


def test_several_reports_become_one_page(tmp_path: Path) -> None:
    one = written(tmp_path / "one", finding(TILE), name="sqlite")
    other = written(tmp_path / "other", name="memory", profile="deep")
    page = tmp_path / "page.html"
    assert run("report", one, other, "--html", page).exit_code == 0
    text = page.read_text()
    assert "1 of 2 savers breaks contracts: sqlite 1." in text
    assert "Profile default, deep, seed 0" in text


def test_without_an_option_a_report_is_printed(tmp_path: Path) -> None:
    result = run("report", written(tmp_path / "one", finding(TILE)))
    assert result.exit_code == 0
    assert result.output.startswith("# saverproof\n\n**sqlite breaks 1 of ")


def test_one_saver_of_several_runs_is_told_apart(tmp_path: Path) -> None:
    runs = [
        written(tmp_path / "one"),
        written(tmp_path / "two", profile="deep"),
        written(tmp_path / "three", profile="deep"),
    ]
    assert run("report", *runs, "--folder", tmp_path / "all").exit_code == 0
    names = [one["saver"]["name"] for one in read_report(tmp_path / "all")["savers"]]
    assert names == ["sqlite, default", "sqlite, run 2", "sqlite, run 3"]


def test_artefacts_and_scripts_go_with_a_report(tmp_path: Path) -> None:
    runs = [
        written(tmp_path / "one", finding(TILE)),
        written(tmp_path / "two", finding(TILE, program=[{"step": "other"}]), profile="deep"),
    ]
    assert run("report", *runs, "--folder", tmp_path / "all").exit_code == 0
    found = [
        violation
        for judged in read_report(tmp_path / "all")["savers"]
        for contract in judged["contracts"]
        for violation in contract["violations"]
    ]
    programs = [read_artefact(tmp_path / "all" / one["artefact"])["program"] for one in found]
    assert len(programs) == 2
    assert programs[0] != programs[1], "each has its own"
    assert all((tmp_path / "all" / one["reproducer"]).is_file() for one in found)


def test_a_finding_whose_artefact_is_gone_is_shown_without(tmp_path: Path) -> None:
    one = written(tmp_path / "one", finding(TILE))
    for file in (tmp_path / "one" / "artefacts").iterdir():
        file.unlink()
    result = run("report", one, "--folder", tmp_path / "all")
    assert result.exit_code == 0
    assert "saverproof replay" not in (tmp_path / "all" / "report.md").read_text()


def test_what_a_killed_run_had_finished_is_shown(tmp_path: Path) -> None:
    with Spool(tmp_path / "spool.jsonl") as spool:
        for event in events(finding(TILE))[:6]:
            spool.append(event)
    result = run("report", tmp_path)
    assert result.exit_code == 0
    assert "The run was cut short" in result.output
    assert TILE in result.output


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"event": "item"}\n', "is no spool of a run (KeyError 'saver')"),
        ("nonsense\n", "line 1: is not JSON, expected an event"),
    ],
)
def test_a_broken_spool_is_told_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "spool.jsonl").write_text(text)
    result = run("report", tmp_path)
    (line,) = result.output.splitlines()
    assert result.exit_code == 2
    assert said in line


def test_a_place_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    path = written(tmp_path / "one")
    for option in ("--html", "--folder"):
        result = run("report", path, option, path / "below")
        assert result.exit_code == 2
        assert "cannot be written: " in result.output.splitlines()[-1]


# --- known ---------------------------------------------------------------------------------


def test_a_draft_of_known_violations_can_be_used_at_once(tmp_path: Path) -> None:
    report = written(
        tmp_path / "out",
        finding(TILE, api="async"),
        finding(TWICE),
        finding(TWICE, api="async"),
        finding("filter/none"),
    )
    file = tmp_path / "tests" / "known.toml"
    result = run("known", report, "-o", file)
    assert result.exit_code == 0, result.output
    assert "2 entries, 2 with an example" in result.output
    entries = {entry.id: entry for entry in read_known(file)}
    assert entries.keys() == {TILE, TWICE}
    assert (entries[TILE].api, entries[TWICE].api) == ("async", None)
    for entry in entries.values():
        assert entry.reason == "two rows of a failed batch of five came back"
        assert Path(str(entry.example)).parent == tmp_path / "tests" / "known-examples"


def test_a_draft_says_how_its_saver_is_judged(tmp_path: Path) -> None:
    report = written(tmp_path / "out", finding(TWICE))
    data = json.loads(report.read_text())
    data["savers"][0]["saver"]["target"] = "tests/mine.py"
    report.write_text(json.dumps(data))
    assert run("known", report, "-o", tmp_path / "known.toml").exit_code == 0
    text = (tmp_path / "known.toml").read_text()
    assert "\n# pytest --saver=tests/mine.py --saver-known=THIS_FILE\n" in text


def test_reasons_that_are_known_are_kept(tmp_path: Path) -> None:
    listed = {"reason": 'it "is" so', "link": "https://example.org/1"}
    report = written(tmp_path / "out", finding(FILTER, known=listed))
    assert run("known", report.parent, "-o", tmp_path / "known.toml").exit_code == 0
    (entry,) = read_known(tmp_path / "known.toml")
    assert (entry.reason, entry.link) == (listed["reason"], listed["link"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'[[known]]\nid = "{TILE}"\nreason = "mine"', "has entries already, expected a new file"),
        ("mine", "is not TOML"),
    ],
)
def test_a_file_of_the_authors_is_left_alone(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text(text)
    result = run("known", written(tmp_path / "out", finding(TILE)), "-o", file)
    assert result.exit_code == 2
    assert said in result.output
    assert file.read_text() == text


def test_a_file_without_entries_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text("# none yet")
    result = run("known", written(tmp_path / "out", finding(TILE)), "-o", file)
    assert result.exit_code == 0, result.output
    assert [entry.id for entry in read_known(file)] == [TILE]


def test_nothing_to_list_writes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    result = run("known", written(tmp_path / "out", finding("filter/none")), "-o", file)
    assert (result.exit_code, file.exists()) == (0, False)
    assert "nothing of level must is violated" in result.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "found the savers sqlite, other, expected one; choose by --saver"),
        (("--saver", "third"), "--saver third: "),
    ],
)
def test_one_saver_of_a_report_has_to_be_named(
    tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    given = [*events(finding(TILE))[:-1], *saver_events("other"), {"event": "end"}]
    report = write_report(report_of(given), tmp_path / "out")
    result = run("known", report, "-o", tmp_path / "known.toml", *options)
    (line,) = result.output.splitlines()
    assert result.exit_code == 2
    assert said in line
