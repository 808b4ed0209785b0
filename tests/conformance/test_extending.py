"""The page on extending saverproof shows code that is there, and that runs."""

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from tests.reports.sample import comparison_report

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(?:python|ini)\n# (\S+)\n(.*?)```", PAGE, flags=re.DOTALL)
SHOWN = [(place, code) for place, code in BLOCKS if place != "run"]


def test_the_page_shows_each_kind_of_extension() -> None:
    assert len(BLOCKS) == PAGE.count("```") // 2
    assert len(SHOWN) == 6


@pytest.mark.parametrize(("place", "code"), SHOWN)
def test_code_of_the_extension_stands_on_the_page_as_it_is(place: str, code: str) -> None:
    assert code in (ROOT / place).read_text(encoding="utf-8")


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
