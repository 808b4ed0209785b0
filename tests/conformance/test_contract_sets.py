"""Pinned contract sets: what is newer than the pin advises."""

import json
import tomllib
from pathlib import Path

import pytest
from tests.conformance.plugin_support import Project

from saverproof.contracts import sets
from saverproof.contracts.contract import Level
from saverproof.contracts.registry import contract, contracts
from saverproof.errors import SaverproofError

ROOT = Path(__file__).parents[2]
REPLACES = "upsert/put-replaces"


def test_the_release_in_the_metadata_has_a_set() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found = sets.contract_set(".".join(project["version"].split(".")[:2]))
    assert {one.id for one in contracts()} & found.levels.keys()


def test_a_contract_that_is_newer_than_the_pin_advises(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = {"upsert/put-is-idempotent": "must", "filter/none": "should"}
    monkeypatch.setattr(sets, "_sets", lambda: {"2020.1": levels})
    pinned = sets.contract_set("2020.1")
    assert pinned.level_at(contract("upsert/put-is-idempotent"), "4.3") is Level.MUST
    assert pinned.level_at(contract(REPLACES), "4.3") is Level.SHOULD
    assert REPLACES in pinned.newer()
    assert "filter/none" not in pinned.newer()


def test_a_should_of_today_is_none_the_less_one(monkeypatch: pytest.MonkeyPatch) -> None:
    advice = next(one for one in contracts() if one.level is Level.SHOULD and not one.since)
    monkeypatch.setattr(sets, "_sets", lambda: {"2020.1": {advice.id: "must"}})
    assert sets.contract_set("2020.1").level_at(advice, "4.3") is Level.SHOULD


def test_a_set_that_is_none_names_those_that_exist() -> None:
    with pytest.raises(SaverproofError, match=r"no contract set '2020.1', expected one of 2026.11"):
        sets.contract_set("2020.1")


def test_a_release_writes_its_set_and_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "sets.json"
    monkeypatch.setattr(sets, "_FILE", file)
    monkeypatch.setattr(sets, "_sets", lambda: {"2020.1": {"a/b": "must"}})
    sets.write("2026.12.3")
    written = json.loads(file.read_text("utf-8"))
    assert list(written) == ["2020.1", "2026.12"]
    assert written["2020.1"] == {"a/b": "must"}
    assert written["2026.12"][REPLACES] == "must"


OLD = """
from saverproof.contracts import sets
sets._sets = lambda: {"2020.1": {"interface/complete": "must"}}
"""


def test_a_run_with_a_pin_is_green_where_only_newer_contracts_break(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("fake/old_sets.py", OLD)
    project.script(upsert={"findings": [REPLACES]})
    asked = ("--saver-families=upsert,interface", "--saver-api=sync")
    result = project.judge("-p", "old_sets", "--saver-contracts-version=2020.1", *asked)
    assert result.status == 0, result.output
    assert "contracts: those of 2020.1; " in result.output
    assert f"ADVICE {REPLACES} (sync)" in result.output
    assert result.report()["run"]["contracts_version"] == "2020.1"
    result = project.judge("--saver-contracts-version=2020.1", *asked)
    assert result.status == 4
    assert result.errors == [
        "ERROR: --saver-contracts-version: found no contract set '2020.1', expected one of 2026.11"
    ]
