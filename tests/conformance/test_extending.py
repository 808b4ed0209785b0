"""The page on extending saverproof shows code that is there, and that runs."""

import configparser
import csv
import io
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.conformance.plugin_support import Project
from tests.reports.sample import comparison_report

from saverproof.run.cli import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(?:python|toml)\n# (\S+)\n(.*?)```", PAGE, flags=re.DOTALL)
SHOWN = [(place, code) for place, code in BLOCKS if place not in ("run", "pyproject.toml")]


def test_the_page_shows_each_kind_of_extension() -> None:
    # One more is a command.
    assert len(BLOCKS) == PAGE.count("```") // 2 - 1
    assert len(SHOWN) == 5


@pytest.mark.parametrize(("place", "code"), SHOWN)
def test_code_of_the_extension_stands_on_the_page_as_it_is(place: str, code: str) -> None:
    assert code in (ROOT / place).read_text(encoding="utf-8")


def test_the_entry_points_are_those_of_the_extension() -> None:
    announced = configparser.ConfigParser()
    announced.read(ROOT / "tests/extension/invented-1.0.dist-info/entry_points.txt")
    for place, code in BLOCKS:
        if place == "pyproject.toml":
            for group, points in tomllib.loads(code)["project"]["entry-points"].items():
                assert points == dict(announced[group])


def test_an_extension_is_written_that_judges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With its entry points as an installed distribution has them: `.ci/check-wheel` installs it.
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(main, ["init", "--extension", "our-labels"]).exit_code == 0
    folder = tmp_path / "saverproof-our-labels"
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    info = tmp_path / "site" / "ours-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ours\nVersion: 1\n")
    lines = [
        f"[{group}]\n{name} = {value}\n"
        for group, points in project["entry-points"].items()
        for name, value in points.items()
    ]
    (info / "entry_points.txt").write_text("".join(lines))
    path = os.pathsep.join((str(tmp_path / "site"), str(folder)))
    ran = Project(tmp_path).pytest(
        "--saver=memory", "--saver-families=our-labels", "--saver-api=sync", PYTHONPATH=path
    )
    assert ran.status == 0, ran.output
    assert "memory keeps the 1 must that applies" in ran.output


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Our Labels", "found 'Our Labels', expected a name such as labels"),
        ("upsert", "there is a family 'upsert' already"),
        ("there", "found saverproof-there, expected a new folder"),
    ],
)
def test_an_extension_that_cannot_be_is_told_in_one_line(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("saverproof-there").mkdir()
    result = CliRunner().invoke(main, ["init", "--extension", name])
    assert result.exit_code == 2
    assert said in result.output.splitlines()[-1]


def test_every_file_that_the_page_names_is_there() -> None:
    package = ROOT / "conformance" / "saverproof"
    judging = package / "judging"
    roots = (ROOT, package, ROOT / "reports", ROOT / "faults", judging, judging / "attribution")
    named = set(re.findall(r"`([\w/]+(?:/|\.py|\.json))`", PAGE)) - {
        "judging.py",
        "storage.py",
        "report.json",
    }
    assert {name for name in named if not any((root / name).exists() for root in roots)} == set()


def test_the_report_format_on_the_page_writes_every_verdict() -> None:
    (code,) = (code for place, code in BLOCKS if place == "run")
    defined: dict[str, Any] = {}
    exec(compile(code, "docs/extending.md", "exec"), defined)
    report = comparison_report()
    rows = list(csv.DictReader(io.StringIO(defined["verdicts_csv"](report))))
    contracts = [one for judged in report["savers"] for one in judged["contracts"]]
    assert [row["contract"] for row in rows] == [one["id"] for one in contracts]
    assert {row["verdict"] for row in rows} >= {"held", "violated"}
