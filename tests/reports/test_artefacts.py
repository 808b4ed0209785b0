"""Artefacts: written and read back exactly, or refused with one line."""

import stat
from pathlib import Path
from typing import Any

import pytest

from saverproof_reports import ReportError, artefact, read_artefact, write_artefact

FIELDS: dict[str, Any] = {
    "contract": "upsert/put-replaces",
    "saver": "sqlite",
    "target": "my.module:saver",
    "versions": {"python": "3.11.7"},
    "api": "sync",
    "phase": "functional",
    "seed": 3,
    "program": [{"step": "put", "text": "half \ud800 a pair \x1b[31m"}],
}


def test_an_artefact_comes_back_exactly(tmp_path: Path) -> None:
    data = artefact(**FIELDS, fault_plan={"at": 2}, schedule=[0, 1])
    write_artefact(data, tmp_path / "one.json")
    assert read_artefact(tmp_path / "one.json") == data
    assert (tmp_path / "one.json").read_bytes().isascii()
    assert stat.S_IMODE((tmp_path / "one.json").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"contract": "nonsense"}, "contract: found"),
        ({"api": "both"}, "expected one of sync, async, crossed"),
        ({"program": None}, "program: found null, expected array or object"),
        ({"program": [float("nan")]}, "what JSON cannot hold"),
    ],
)
def test_what_is_no_artefact_is_not_written(tmp_path: Path, changes: Any, said: str) -> None:
    with pytest.raises(ReportError, match=said):
        write_artefact(artefact(**{**FIELDS, **changes}), tmp_path / "one.json")
    assert list(tmp_path.iterdir()) == []


def test_a_report_is_not_taken_for_an_artefact(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text('{"schema": "saverproof-report/1"}')
    with pytest.raises(ReportError, match="expected saverproof-artefact/1"):
        read_artefact(tmp_path / "one.json")
