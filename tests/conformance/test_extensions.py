"""A family, a contract and a driver of another distribution: judged, reported and replayed."""

from pathlib import Path
from typing import Any

import pytest
from tests.conformance.plugin_support import Project

from saverproof.contracts.registry import TABLES
from saverproof.families.registry import FAMILIES

EXTENSION = str(Path(__file__).parents[1] / "extension")
BROKEN = """\
[saverproof.contracts]
labels = {value}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def judged(project: Project, saver: str, families: str) -> Any:
    return project.pytest(
        f"--saver={saver}",
        f"--saver-families={families}",
        "--saver-api=sync",
        "--saver-profile=quick",
        "--saver-report=out",
        PYTHONPATH=EXTENSION,
    )


def contracts_of(result: Any) -> dict[str, Any]:
    (saver,) = result.report("out")["savers"]
    return {one["id"]: one for one in saver["contracts"] if one["family"] == "labels"}


def test_every_table_of_the_kit_has_its_family_and_no_other() -> None:
    assert [family.table for family in FAMILIES] == list(TABLES)


def test_a_wrong_saver_breaks_an_invented_contract_and_is_replayed(project: Project) -> None:
    result = judged(project, "invented-wrong", "labels")
    assert result.status == 1
    found = contracts_of(result)
    assert found["labels/kept"]["verdict"] == "violated"
    (violation,) = found["labels/kept"]["violations"]
    assert (violation["expected"], violation["observed"]) == ("Invoice 7", "invoice 7")
    assert found["labels/unused"]["verdict"] == "not-exercised"
    assert found["labels/raising"]["verdict"] == "unknown"
    assert "LookupError: the check is broken" in found["labels/raising"]["reason"]
    assert (
        "checkpoints are found by their labels" in (project.folder / "out/report.html").read_text()
    )
    artefact = f"out/{violation['artefact']}"
    replay = project.saverproof("replay", artefact, PYTHONPATH=EXTENSION)
    assert (replay.status, "still failing" in replay.output) == (1, True)
    arguments = ("replay", artefact, "--saver=invented-right")
    mended = project.saverproof(*arguments, PYTHONPATH=EXTENSION)
    assert (mended.status, "fixed" in mended.output) == (0, True)


def test_a_right_saver_holds_it_and_its_driver_is_failed(project: Project) -> None:
    result = judged(project, "invented-right", "labels,atomicity")
    assert contracts_of(result)["labels/kept"]["verdict"] == "held"
    (saver,) = result.report("out")["savers"]
    assert any("insert into puts" in entry.get("detail", "") for entry in saver["faults"]["map"])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("nowhere:TABLE", "does not load: ModuleNotFoundError: No module named 'nowhere'"),
        ("json:dumps", "found function, expected a FamilyTable"),
    ],
)
def test_a_broken_entry_point_is_one_line(project: Project, value: str, said: str) -> None:
    project.write("more/broken-2.0.dist-info/METADATA", "Name: broken\nVersion: 2.0\n")
    project.write("more/broken-2.0.dist-info/entry_points.txt", BROKEN.format(value=value))
    result = project.pytest("--saver=memory", PYTHONPATH=str(project.folder / "more"))
    assert result.errors == [
        f"ERROR: broken: entry point saverproof.contracts, labels = {value}: {said}"
    ]
