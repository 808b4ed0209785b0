"""Releases: versions, the changelog, and what a tag must be."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

ROOT = Path(__file__).parents[2]


@pytest.fixture
def release(tmp_path: Path) -> Iterator[ModuleType]:
    """The script of releases, in a copy of the files that it reads and writes."""
    for name in (".ci/release.py", "CHANGELOG.md", "CITATION.cff", "pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes" / "README.md").touch()
    specification = importlib.util.spec_from_file_location("release", tmp_path / ".ci/release.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["release"] = module
    specification.loader.exec_module(module)
    yield module
    del sys.modules["release"]


def write_changelog(release: ModuleType, text: str) -> None:
    (release.ROOT / "CHANGELOG.md").write_text(f"# Changelog\n\n{text}", "utf-8")


@pytest.mark.parametrize("version", ["", "1.0", "2026.13.0", "2026.03.0", "2026.3", "v2026.3.0"])
def test_a_version_that_is_no_date_is_refused(release: ModuleType, version: str) -> None:
    (objection,) = release.objections_to(version)
    assert repr(version) in objection


def test_a_release_without_a_change_is_refused(release: ModuleType) -> None:
    (objection,) = release.objections_to("2031.1.0")
    assert "no fragment" in objection
    (release.FRAGMENTS / "1.fix.md").write_text("It works.", "utf-8")
    assert release.objections_to("2031.1.0") == []


def test_fragments_beside_a_page_by_hand_are_told_by_name(release: ModuleType) -> None:
    write_changelog(release, "## 2031.1.0 (unreleased)\n\nAll of it.\n")
    assert release.objections_to("2031.1.0") == []
    (release.FRAGMENTS / "1.fix.md").write_text("It works.", "utf-8")
    (objection,) = release.objections_to("2031.1.0")
    assert "1.fix.md" in objection


def test_version_and_day_are_written_again_and_again(release: ModuleType) -> None:
    for version, day in (("2031.1.0", "2031-01-05"), ("2031.2.0", "2031-02-06")):
        release.write_version(version, day)
        assert release.project_version() == version
        citation = (release.ROOT / "CITATION.cff").read_text("utf-8")
        assert f"\nversion: {version}\ndate-released: {day}\nauthors:" in citation


def test_the_page_by_hand_is_dated_and_becomes_the_notes(release: ModuleType) -> None:
    write_changelog(release, "## 2031.1.0 (unreleased)\n\nAll of it.\n\n## 2030.1.0 (x)\n\nOld.\n")
    release.write_version("2031.1.0", "2031-01-05")
    release.write_changelog("2031.1.0", "2031-01-05")
    assert "## 2031.1.0 (2031-01-05)\n" in (release.ROOT / "CHANGELOG.md").read_text("utf-8")
    assert release.notes() == "All of it."


def test_fragments_become_the_newest_section(release: ModuleType) -> None:
    (release.FRAGMENTS / "7.fix.md").write_text("It works.", "utf-8")
    (release.FRAGMENTS / "+more.feature.md").write_text("There is more.", "utf-8")
    (release.FRAGMENTS / "8.verdict.md").write_text("It is red.", "utf-8")
    release.write_version("2031.1.0", "2031-01-05")
    release.write_changelog("2031.1.0", "2031-01-05")
    told = release.notes().split("\n\n")
    # What may turn a run red comes first.
    assert told[::2] == ["### What may turn a run red or green", "### New", "### Mended"]
    link = "https://github.com/saverproof/saverproof/issues"
    assert told[1::2] == [
        f"- It is red. ([#8]({link}/8))",
        "- There is more.",
        f"- It works. ([#7]({link}/7))",
    ]
    assert release.fragments() == []


def test_a_tag_of_another_version_is_refused_in_one_line(release: ModuleType) -> None:
    result = CliRunner().invoke(release.main, ["tagged", f"v{release.project_version()}"])
    assert result.exit_code == 0, result.output
    result = CliRunner().invoke(release.main, ["tagged", "v1"])
    assert result.exit_code == 1
    assert result.output.startswith("Error: the tag is 'v1', expected 'v20")
    assert result.output.count("\n") == 1
