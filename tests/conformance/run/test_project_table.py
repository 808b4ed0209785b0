"""``[tool.saverproof]`` in a project's pyproject.toml: pytest alone judges there."""

from pathlib import Path

import pytest
from tests.conformance.plugin_support import FACTS, FAKE_JUDGE, Project, Result, count

from saverproof.run.project.options import ProjectTableError, project_options
from saverproof.run.project.table import project_table

PYPROJECT = """
[tool.pytest.ini_options]
addopts = "--strict-markers -m 'not slow'"
markers = ["slow"]
testpaths = ["tests"]

[tool.saverproof]
saver = "toys.py:toy"
profile = "quick"
families = ["interface", "upsert"]
"""
OWN = """
import pytest

def test_own():
    pass

@pytest.mark.slow
def test_slow():
    raise AssertionError
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.write("pyproject.toml", PYPROJECT)
    project.write("tests/test_own.py", OWN)
    project.write("fake/fake_judge.py", FAKE_JUDGE)
    return project


def run(project: Project, *arguments: str) -> Result:
    path = str(project.folder / "fake")
    return project.pytest("-p", "fake_judge", *arguments, PYTHONPATH=path, FAKE_FACTS=str(FACTS))


def test_pytest_alone_judges_beside_the_tests_of_the_project(project: Project) -> None:
    result = run(project)
    assert result.status == 0, result.output
    assert "toy keeps all" in result.output
    assert "profile quick" in result.output
    assert result.ran["passed"] == 2 * count("interface", "upsert") + 1, "addopts count"


def test_workers_judge_as_well(project: Project) -> None:
    result = run(project, "-n", "1", "--saver-families=interface")
    assert result.ran["passed"] == 2 * count("interface") + 1, result.output


def test_what_is_typed_counts_more(project: Project) -> None:
    result = run(project, "--saver-families=interface", "--saver-api=sync", "-m", "saverproof")
    assert result.ran["passed"] == count("interface"), result.output


def test_named_tests_run_without_the_suite(project: Project) -> None:
    result = run(project, "tests/test_own.py")
    assert result.status == 0, result.output
    assert result.ran == {"passed": 1}
    assert "breaks" not in result.output
    assert "keeps" not in result.output


def test_node_ids_of_contracts_work_without_naming_the_saver(project: Project) -> None:
    result = run(project, "saverproof::upsert/put-replaces[toy-sync]")
    assert result.ran["passed"] == 1, result.output


def test_a_violation_fails_the_run_of_the_project(project: Project) -> None:
    project.script(upsert={"findings": ["upsert/put-replaces"]})
    result = run(project)
    assert result.status == 1
    assert "toy breaks 1 of" in result.output


def test_a_bad_table_ends_in_one_line(project: Project) -> None:
    project.write("pyproject.toml", '[tool.saverproof]\nsaver = "toys.py:toy"\nprofil = "quick"\n')
    result = run(project)
    assert result.status == 4
    assert result.errors == [
        f"ERROR: {project.folder}/pyproject.toml:3: tool.saverproof: found the key 'profil'; did "
        "you mean profile? expected saver, profile, budget, api, families, contracts, "
        "contracts-version, known, report, strict, lenient"
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('profile = "fast"', "profile: found 'fast', expected quick or default or deep"),
        ("profile = 3", "profile: found 3, expected quick or default or deep"),
        ('budget = "soon"', "budget: found 'soon', expected a time above 0 such as 90s, 10m or 2h"),
        ('families = ["upsrt"]', "families: found 'upsrt'; did you mean upsert?"),
        ("families = []", "families: found an empty list, expected a list of names"),
        ("families = 1", "families: found 1, expected a list of names"),
        ('contracts = "a/b"', "contracts: found 'a/b'; saverproof list shows what there is"),
        ('known = "none.toml"', "known: found no file 'none.toml' in "),
        ('strict = "yes"', "strict: found 'yes', expected true or false"),
        ('"api" = "any"', "api: found 'any', expected both or sync or async"),
    ],
)
def test_a_value_that_is_none_names_its_line(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "pyproject.toml").write_text(
        f'[project]\nname = "x"\n[tool.saverproof]\nsaver = "memory"\n{line}\n'
    )
    table = project_table(tmp_path)
    assert table is not None
    with pytest.raises(ProjectTableError) as caught:
        project_options(table, tmp_path)
    assert caught.value.message.startswith(f"{tmp_path}/pyproject.toml:5: tool.saverproof.{said}")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ('"sqlit"', "saver: no target has that name; did you mean sqlite"),
        ('"none.py"', "saver: no such file, expected path/to/file.py:attribute"),
        ("[]", "saver: found an empty list, expected the name or place of a target, or a list"),
    ],
)
def test_a_saver_that_is_none_names_its_line(tmp_path: Path, value: str, said: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.saverproof]\nsaver = {value}\n")
    table = project_table(tmp_path)
    assert table is not None
    with pytest.raises(ProjectTableError, match=f"pyproject.toml:2: tool.saverproof.{said}"):
        project_options(table, tmp_path)


def test_paths_are_those_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.saverproof]\nsaver = "a/t.py:my"\nknown = "k.toml"\nbudget = 90\nstrict = true\n'
    )
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "t.py").touch()
    (tmp_path / "k.toml").touch()
    table = project_table(tmp_path / "a" / "b")
    assert table is not None
    assert project_options(table, tmp_path / "a" / "b") == [
        "--saver=../t.py:my",
        "--saver-known=../../k.toml",
        "--saver-budget=90",
        "--saver-strict",
    ]


@pytest.mark.parametrize("word", ["shipped", "none"])
def test_known_may_be_a_word_in_place_of_a_file(tmp_path: Path, word: str) -> None:
    (tmp_path / "pyproject.toml").write_text(
        f'[tool.saverproof]\nsaver = "memory"\nknown = "{word}"\n'
    )
    table = project_table(tmp_path)
    assert table is not None
    assert project_options(table, tmp_path) == ["--saver=memory", f"--saver-known={word}"]


@pytest.mark.parametrize("text", ["[tool.saverproof", "[tool.other]\nx = 'saverproof'\n", ""])
def test_a_project_without_the_table_is_left_alone(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert project_table(tmp_path) is None


MARKED = """
import pytest

@pytest.mark.saverproof("toys.py:toy", profile="quick", families=["interface"], api="sync")
def test_interface(saverproof_report):
    assert saverproof_report.passed, saverproof_report.output
    assert saverproof_report.contracts["interface/complete"]["verdict"] == "held"

@pytest.mark.saverproof("toys.py:toy", profiles="quick")
def test_misspelled(saverproof_report):
    pass

def test_unnamed(saverproof_report):
    pass

@pytest.mark.saverproof("toys.py:nothing")
def test_nothing(saverproof_report):
    pass
"""


def test_a_marked_test_judges_by_itself(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("test_marked.py", MARKED)
    result = project.pytest("--strict-markers", "test_marked.py")
    assert result.ran == {"passed": 1, "errors": 3}, result.output
    for line in (
        "the marker saverproof: found 'profiles', expected one of profile, api, families, contrac",
        "the fixture saverproof_report: found no target in the marker saverproof and no one saver",
        "toys.py has no attribute 'nothing'",
    ):
        assert line in result.output
    assert "Traceback" not in result.output
