"""What the project says of itself in several places agrees."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGES = [ROOT / one for one in PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]]
FRAGMENT = re.compile(r"(?:\d+|\+[a-z0-9-]+)\.(?P<kind>[a-z]+)\.md")
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)")


def test_the_citation_has_the_version_of_the_distribution() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == PROJECT["project"]["version"]


def test_every_python_that_is_promised_is_tried() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    tried = workflow["jobs"]["quick"]["strategy"]["matrix"]["python"]
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    assert promised
    assert set(promised) <= set(tried)


def test_workflows_use_what_the_makefile_has() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    files = (ROOT / ".github/workflows").glob("*.yml")
    jobs = [
        job for file in files for job in yaml.safe_load(file.read_text("utf-8"))["jobs"].values()
    ]
    commands = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    parts = [job["strategy"]["matrix"].get("part", []) for job in jobs if "strategy" in job]
    wanted = {
        one for command in commands for one in re.findall(r"^make ([a-z-]+)", command, re.MULTILINE)
    }
    wanted |= {part for several in parts for part in several}
    assert "quick" in wanted
    assert "oldest" in wanted
    assert {one for one in wanted if not re.search(rf"^{one}:", makefile, re.MULTILINE)} == set()


def test_the_quick_loop_names_tests_that_are_there() -> None:
    said = subprocess.run(
        ["make", "--dry-run", "quick"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    words = [word for line in said.stdout.splitlines() for word in shlex.split(line)]
    named = {word.partition("::")[0] for word in words if word.startswith("tests/")}
    assert "tests/conformance/test_model.py" in named
    assert {one for one in named if not (ROOT / one).exists()} == set()


def test_fragments_are_named_by_a_kind_that_the_changelog_has() -> None:
    kinds = {kind["directory"] for kind in PROJECT["tool"]["towncrier"]["type"]}
    for path in (ROOT / "changes").iterdir():
        if path.name != "README.md":
            named = FRAGMENT.fullmatch(path.name)
            assert named, f"{path.name}: expected ISSUE.KIND.md or +a-few-words.KIND.md"
            assert named["kind"] in kinds, path.name
    page = (ROOT / "changes/README.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == kinds


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_each_package_has_a_readme_that_names_only_what_is_there(package: Path) -> None:
    text = (package / "README.md").read_text("utf-8")
    assert "**Public**" in text
    assert "**Where to start**" in text
    assert [link for link in LINK.findall(text) if not (package / link).exists()] == []
    start = text.partition("**Where to start**")[2]
    named = [one for one in re.findall(r"`([\w/.]+)`", start) if "/" in one or one.endswith(".py")]
    assert named
    assert [one for one in named if not (package / one).exists()] == []


def test_the_glossary_names_modules_that_are_there() -> None:
    page = (ROOT / "docs/glossary.md").read_text("utf-8")
    cells = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")]
    places = re.findall(r"`([^`]+)`", " ".join(row[-1] for row in cells))
    above = [ROOT, *(package for one in PACKAGES for package in (one, one.parent))]
    # LangGraph's own module is the only place outside the project.
    missing = {one for one in places if not any((folder / one).exists() for folder in above)}
    assert missing == {"langgraph.checkpoint.base"}


def test_the_glossary_says_each_word_once() -> None:
    page = (ROOT / "docs/glossary.md").read_text("utf-8")
    words = re.findall(r"^\| ([^|]+) \| [A-Z`]", page, re.MULTILINE)
    assert len(words) > 50
    assert [word for word in words if words.count(word) > 1] == []
