"""The folder that a report is written to, and reading it back."""

import stat
from pathlib import Path
from typing import Any

import pytest
from tests.reports.sample import comparison_report, good_report

from saverproof_reports import ReportError, read_artefact, read_report, validate, write_report
from saverproof_reports.storage import remove_report


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    path = write_report(comparison_report(), tmp_path / "out")
    assert path == tmp_path / "out" / "report.json"
    assert read_report(path) == read_report(tmp_path / "out")
    assert validate(read_report(path)) == []


def test_every_reproducer_and_artefact_that_is_named_is_there(tmp_path: Path) -> None:
    report = read_report(write_report(comparison_report(), tmp_path))
    violations = [
        found
        for judged in report["savers"]
        for contract in judged["contracts"]
        for found in contract["violations"]
    ]
    assert len(violations) == 23
    for violation in violations:
        compile((tmp_path / violation["reproducer"]).read_text(), "reproducer", "exec")
        assert read_artefact(tmp_path / violation["artefact"])["api"] == violation["api"]
        assert "artefact_data" not in violation


def test_files_and_folders_are_their_owners_alone(tmp_path: Path) -> None:
    write_report(comparison_report(), tmp_path / "deep" / "out")
    modes = {stat.S_IMODE(path.stat().st_mode) & 0o77 for path in (tmp_path / "deep").rglob("*")}
    assert modes == {0}
    assert stat.S_IMODE((tmp_path / "deep").stat().st_mode) == 0o700


def test_a_folder_of_the_user_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    write_report(good_report(), tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_the_reproducers_of_an_earlier_run_go_and_other_files_stay(tmp_path: Path) -> None:
    write_report(comparison_report(), tmp_path)
    (tmp_path / "reproducers" / "mine.py").write_text("pass")
    write_report(good_report(), tmp_path)
    assert [path.name for path in (tmp_path / "reproducers").iterdir()] == ["mine.py"]
    assert list((tmp_path / "artefacts").iterdir()) == []


def test_a_report_that_breaks_its_schema_is_not_written(tmp_path: Path) -> None:
    report = good_report()
    report["savers"][0]["contracts"][0]["verdict"] = "fine"
    with pytest.raises(ReportError, match="breaks its own schema"):
        write_report(report, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_full_disk_leaves_the_earlier_report_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_report(good_report(), tmp_path)
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("saverproof_reports.files.os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_report(comparison_report(), tmp_path)
    assert path.read_bytes() == before
    assert not list(tmp_path.rglob(".*"))


def _whole(tmp_path: Path) -> str:
    return write_report(good_report(), tmp_path / "whole").read_text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text[: len(text) // 2], "is not whole JSON"),
        (lambda text: "", "is not whole JSON"),
        (lambda text: text.replace("report/1", "report/2"), "found schema saverproof-report/2"),
        (lambda text: "[]", "found a list"),
        (lambda text: "{}", "found no schema"),
        (lambda text: "\x00\x01", "is not whole JSON"),
        (lambda text: '{"a":' * 100_000, "nested too deeply"),
        (lambda text: text.replace('"complete": true', '"complete": 1'), "complete: found 1"),
    ],
    ids=["torn", "empty", "newer", "list", "foreign", "binary", "deep", "wrong-type"],
)
def test_a_file_that_cannot_be_used_gets_one_line(tmp_path: Path, change: Any, said: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(change(_whole(tmp_path)))
    with pytest.raises(ReportError) as caught:
        read_report(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_not_text_get_one_line(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(ReportError, match="not UTF-8"):
        read_report(tmp_path)


def test_a_missing_file_gets_one_line(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"report\.json: cannot be read: No such file"):
        read_report(tmp_path)


def test_a_report_names_no_file_outside_its_folder(tmp_path: Path) -> None:
    text = write_report(comparison_report(), tmp_path).read_text()
    inside = '"reproducer": "reproducers/'
    (tmp_path / "report.json").write_text(text.replace(inside, inside + "../"))
    with pytest.raises(ReportError, match="expected text like"):
        read_report(tmp_path)


def test_a_report_is_removed_with_its_files_and_nothing_else(tmp_path: Path) -> None:
    write_report(comparison_report(), tmp_path)
    (tmp_path / "reproducers" / "mine.py").write_text("kept")
    remove_report(tmp_path)
    assert [path.name for path in sorted(tmp_path.rglob("*"))] == ["reproducers", "mine.py"]


def test_a_report_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    for name in ("report.json", "report.html"):
        (tmp_path / name).write_text("{}")
    remove_report(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
