"""What ``pytest --saver`` collects, wherever it is started; by workers too, some of it by night."""

import re
import shutil
import sys
from pathlib import Path

import pytest
from tests.conformance.forked_runs import SLOW_PLUGINS
from tests.conformance.plugin_support import Project, Result, count
from tests.nights import by_night

import saverproof
from saverproof.contracts.registry import family_table

IN_WORKERS_BY_NIGHT = [pytest.param((), id="alone"), by_night(("-n", "2"), id="xdist")]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def nodes(result: Result) -> list[str]:
    return [line for line in result.output.splitlines() if line.startswith("saverproof::")]


def test_without_saver_nothing_heavy_is_imported(project: Project) -> None:
    project.write(
        "test_light.py",
        "import sys\n"
        "def test_light():\n"
        "    ours = {name for name in sys.modules if name.startswith('saverproof')}\n"
        "    assert ours == {'saverproof', 'saverproof.run', 'saverproof.run.plugin',"
        " 'saverproof.run.plugin.suite_only', 'saverproof.run.plugin.options',"
        " 'saverproof.run.project', 'saverproof.run.project.choices',"
        " 'saverproof.run.project.table'}\n"
        "    heavy = ('langgraph', 'langchain_core', 'pydantic', 'click', 'rich', 'psutil')\n"
        "    assert not [name for name in heavy if name in sys.modules]\n",
    )
    result = project.run(sys.executable, "-m", "pytest", *SLOW_PLUGINS, "-q")
    assert result.status == 0, result.output


def test_the_node_ids_are_family_saver_and_api(project: Project) -> None:
    found = nodes(project.judge("--co", "-q"))
    assert found[:3] == [
        "saverproof::interface[toy-sync]",
        "saverproof::interface[toy-async]",
        "saverproof::ordering[toy-sync]",
    ]
    assert "saverproof::pending-writes[toy-async]" in found
    assert "saverproof::parity[toy-crossed]" in found


HOSTILE = {
    "conftest.py": "raise RuntimeError('a conftest of somebody else')",
    "tests/conftest.py": "raise RuntimeError('a conftest of somebody else')",
    "tests/test_failing.py": "def test_failing(): assert False",
    "pytest.ini": (
        "[pytest]\n"
        "addopts = --strict-markers -m unit -k other --doctest-modules --ignore-glob=* tests\n"
        "python_functions = check_*\n"
        "python_classes = Check*\n"
        "python_files = check_*.py\n"
        "usefixtures = database\n"
        "testpaths = tests\n"
        "norecursedirs = *\n"
        "xfail_strict = true\n"
        "filterwarnings = error\n"
    ),
}


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_a_hostile_folder_has_no_say(project: Project, workers: tuple[str, ...]) -> None:
    for name, text in HOSTILE.items():
        project.write(name, text)
    result = project.judge("--saver-families=ordering,upsert", *workers)
    assert result.status == 0, result.output
    assert result.outcomes["passed"] == 2 * count("ordering", "upsert")


def test_a_time_limit_for_other_tests_ends_no_item(project: Project) -> None:
    project.write(
        "pytest.ini",
        "[pytest]\nfaulthandler_timeout = 0.1\nfaulthandler_exit_on_timeout = true\n",
    )
    project.script(upsert={"do": "tell for a while"})
    result = project.judge("--saver-families=upsert", "--saver-api=sync")
    assert result.status == 0, result.output
    assert "Timeout" not in result.output


def test_all_families_that_programs_judge_have_one_name(project: Project) -> None:
    found = nodes(project.judge("--saver-families=functional", "--saver-api=sync", "--co", "-q"))
    assert "saverproof::ordering[toy-sync]" in found
    assert not any("graph" in node or "atomicity" in node for node in found)


def test_workers_of_xdist_begin_with_what_takes_longest(project: Project) -> None:
    result = project.judge("--saver-api=sync", "-n", "2", "-v")
    ran = re.findall(
        r"^\[(gw\d)\].* (?:PASSED|SKIPPED) saverproof::(\S+)/\S+\[", result.output, re.MULTILINE
    )
    assert len({family for _, family in ran}) == 17, result.output
    for worker in ("gw0", "gw1"):
        long = [family_table(family).long for name, family in ran if name == worker]
        assert long[0]
        assert long == sorted(long, reverse=True)


def test_an_installation_inside_the_project_does_not_bring_its_conftest_in(
    project: Project,
) -> None:
    project.write("conftest.py", "raise RuntimeError('a conftest of somebody else')")
    project.write("pytest.ini", "[pytest]\n")
    inside = project.folder / ".venv" / "lib"
    shutil.copytree(Path(saverproof.__path__[0]), inside / "saverproof")
    project.write("fake/fake_judge.py", "")
    result = project.run(
        sys.executable, "-m", "pytest", "--saver=toys.py:toy", "--co", "-q",
        PYTHONPATH=str(inside),
    )  # fmt: skip
    assert result.status == 0, result.output
    assert str(inside) not in result.output
    assert len(nodes(result)) == 35


def test_savers_and_settings_in_the_ini_file_still_count(project: Project) -> None:
    project.write(
        "pytest.ini", "[pytest]\naddopts = --saver-families upsert -m unit --saver-api=sync"
    )
    assert nodes(project.judge("--co", "-q")) == ["saverproof::upsert[toy-sync]"]


def test_a_node_id_of_the_suite_selects_its_item(project: Project) -> None:
    result = project.judge("saverproof::pending-writes[toy-async]", "--co", "-q")
    assert nodes(result) == ["saverproof::pending-writes[toy-async]"]


@pytest.mark.parametrize("workers", IN_WORKERS_BY_NIGHT)
def test_the_node_id_of_a_contract_runs_it_alone(
    project: Project, workers: tuple[str, ...]
) -> None:
    project.script(upsert={"findings": ["upsert/put-replaces", "upsert/put-is-idempotent"]})
    result = project.judge("saverproof::upsert/put-replaces[toy-sync]", "-v", *workers)
    assert result.outcomes["failed"] == 1, result.output
    assert "passed" not in result.outcomes
    again = re.findall(r"saverproof::upsert/put-replaces\[toy-sync\]", result.output)
    assert again


@pytest.mark.parametrize(
    ("ids", "items"),
    [
        (["upsert/put-replaces[toy]"], ["upsert[toy-sync]", "upsert[toy-async]"]),
        (
            ["upsert/put-replaces[toy-sync]", "filter/none[toy-async]", "ordering[toy-sync]"],
            ["upsert[toy-sync]", "filter[toy-async]", "ordering[toy-sync]"],
        ),
        (
            ["upsert/put-replaces[toy-sync]", "upsert/reput-keeps-writes[toy-sync]"],
            ["upsert[toy-sync]"],
        ),
        (["parity/same-answers[toy-crossed]"], ["parity[toy-crossed]"]),
    ],
)
def test_node_ids_of_contracts_stand_for_items(
    project: Project, ids: list[str], items: list[str]
) -> None:
    result = project.judge(*(f"saverproof::{one}" for one in ids), "--co", "-q")
    assert sorted(nodes(result)) == sorted(f"saverproof::{item}" for item in items)


def test_the_node_id_of_a_contract_leaves_other_savers_alone(project: Project) -> None:
    project.write("more.py", "from toys import toy as one\nimport dataclasses\n"
                  "other = dataclasses.replace(one, name='other')\n")  # fmt: skip
    result = project.judge(
        "--saver=more:other", "saverproof::filter/none[other-sync]", "--co", "-q"
    )
    assert nodes(result) == ["saverproof::filter[other-sync]"]


def test_the_node_id_of_a_contract_in_an_authors_module(project: Project) -> None:
    project.write("test_mine.py", AUTHORS_MODULE)
    result = project.judge("test_mine.py::filter/equality[toy-sync]", "-v")
    assert result.outcomes["passed"] == 1, result.output
    assert "test_mine.py::filter/equality[toy-sync] PASSED" in result.output


@pytest.mark.parametrize(
    ("node", "said"),
    [
        (
            "upsert/put-replace[toy-sync]",
            "no contract 'upsert/put-replace'; nearest: upsert/put-re",
        ),
        ("upsert/put-replaces[toy-crossed]", "found 'toy-crossed', expected one of toy-sync, toy-"),
        ("durability/resume[toy-sync]", "found 'toy-sync', expected a family that applies to the"),
    ],
)
def test_the_node_id_of_nothing_is_told_in_one_line(project: Project, node: str, said: str) -> None:
    result = project.judge(f"saverproof::{node}")
    assert result.status == 4
    assert result.errors[0].startswith(f"ERROR: saverproof::{node}: ")
    assert said in result.errors[0]


def test_last_failed_reruns_what_failed(project: Project) -> None:
    project.script(ordering={"findings": ["ordering/pages-tile"]})
    assert project.judge("-q").outcomes["failed"] == 2
    passed = 2 * count("ordering") - 2
    rerun = {"failed": 2, "passed": passed, "deselected": 33}
    assert project.judge("-q", "--lf").outcomes == rerun
    assert project.judge("-q", "--lf", "-n", "2").outcomes == {"failed": 2, "passed": passed}
    project.script()
    assert project.judge("-q", "--lf").outcomes == {"passed": passed + 2, "deselected": 33}
    # Nothing is left that failed, so that everything runs.
    assert "deselected" not in project.judge("-q", "--lf").outcomes


def test_keywords_select_by_family_saver_and_api(project: Project) -> None:
    result = project.judge("--co", "-q", "-k", "toy-sync and delta-history[")
    assert nodes(result) == ["saverproof::delta-history[toy-sync]"]


def test_keywords_select_by_contract(project: Project) -> None:
    result = project.judge("--co", "-q", "-k", "toy-sync and upsert/put-replaces")
    assert nodes(result) == ["saverproof::upsert[toy-sync]"]


@pytest.mark.parametrize("workers", IN_WORKERS_BY_NIGHT)
def test_contracts_are_selected_by_their_ids(project: Project, workers: tuple[str, ...]) -> None:
    project.script(
        upsert={"findings": ["upsert/put-is-idempotent"]},
        filter={"findings": ["filter/equality", "filter/nested"]},
    )
    chosen = "--saver-contracts=filter/equality, upsert/put-replaces"
    result = project.judge(chosen, "--saver-api=sync", *workers)
    assert result.outcomes["failed"] == result.outcomes["passed"] == 1, result.output
    (saver,) = result.report()["savers"]
    verdicts = {one["id"]: (one["verdict"], one["reason"]) for one in saver["contracts"]}
    assert verdicts["upsert/put-replaces"] == ("held", None)
    for other in ("upsert/put-is-idempotent", "filter/nested", "ordering/pages-tile"):
        assert verdicts[other] == ("not-exercised", "not selected in this run")
    assert "not judged" not in result.output


def test_each_contract_is_a_test(project: Project) -> None:
    found = ["filter/equality", "filter/dotted-key", "ordering/pages-tile"]
    project.script(
        filter={"findings": found[:2]},
        ordering={"findings": found[2:]},
        upsert={"unknown": {"upsert/put-replaces": "the search was cut off"}},
    )
    project.write("known.toml", '[[known]]\nid = "ordering/pages-tile"\nreason = "by design"\n')
    options = ("-rA", "-v", "--saver-api=sync", "--saver-families=filter,upsert,ordering")
    output = project.judge(*options, "--saver-known=known.toml", COLUMNS="300").output
    assert "saverproof::filter/equality[toy-sync] FAILED" in output
    assert "FAILED saverproof::filter/equality[toy-sync] - it is gone" in output
    assert "PASSED saverproof::filter/nested[toy-sync]" in output
    assert "XFAIL saverproof::filter/dotted-key[toy-sync] - advice: it is gone" in output
    assert "XFAIL saverproof::ordering/pages-tile[toy-sync] - known: by design" in output
    assert "saverproof::upsert/put-replaces[toy-sync] SKIPPED (unknown: the search" in output
    assert "[100%]" in output


def test_two_savers_run_side_by_side(project: Project) -> None:
    project.write("more.py", "from toys import toy as one\nimport dataclasses\n"
                  "other = dataclasses.replace(one, name='other')\n")  # fmt: skip
    found = nodes(project.judge("--saver=more:other", "--saver-families=filter", "--co", "-q"))
    assert found == [
        f"saverproof::filter[{name}-{api}]"
        for name in ("toy", "other")
        for api in ("sync", "async")
    ]


def test_a_parity_item_needs_both_apis(project: Project) -> None:
    found = nodes(project.judge("--saver-api=async", "--co", "-q"))
    assert found
    assert all(node.endswith("[toy-async]") for node in found)


AUTHORS_MODULE = """
from saverproof.suite import *

def test_my_own(saverproof_saver, saverproof_workspace):
    assert saverproof_workspace.path.is_dir()
    assert saverproof_saver.get_tuple({"configurable": {"thread_id": "1"}}) is None
"""


def test_an_authors_module_gets_the_suite_and_the_fixtures(project: Project) -> None:
    project.write("test_mine.py", AUTHORS_MODULE)
    project.write("test_other.py", "def test_other(): pass")
    result = project.judge("test_mine.py", "-v", "--saver-families=filter")
    assert result.status == 0, result.output
    assert "test_mine.py::filter/equality[toy-sync] PASSED" in result.output
    assert "test_mine.py::test_my_own[toy] PASSED" in result.output
    assert "test_other" not in result.output


def test_an_authors_module_is_skipped_without_saver(project: Project) -> None:
    project.write("test_mine.py", AUTHORS_MODULE)
    result = project.pytest("-q")
    assert result.status == 0, result.output
    assert result.outcomes["skipped"] == 2
