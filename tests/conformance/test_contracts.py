"""The registry of contracts is complete, consistent, documented and cites what exists."""

from __future__ import annotations

import importlib
import re
from importlib.metadata import version
from pathlib import Path

import pytest

from saverproof.capability import Capability
from saverproof.contracts import (
    FAMILIES,
    Contract,
    Level,
    UnknownContract,
    contract,
    contracts,
    release,
)
from saverproof.contracts.page import render

PAGE = Path(__file__).parents[2] / "docs" / "contracts.md"
ALL = contracts()
IDS = {entry.id for entry in ALL}
# Sources cite the newest LangGraph; older ones lack some of the names.
CITED_RELEASE = "4.3"

each = pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.id)


def example(**changes: object) -> Contract:
    fields: dict[str, object] = {
        "id": "family/name",
        "level": Level.MUST,
        "statement": "It does.",
        "source": "somewhere",
        "wrong": "it does not",
    }
    return Contract(**(fields | changes))  # type: ignore[arg-type]


def test_ids_are_unique() -> None:
    assert len(IDS) == len(ALL)


@each
def test_id_is_family_and_name(entry: Contract) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*/[a-z]+(-[a-z]+)*", entry.id)
    assert entry.family in FAMILIES
    assert entry.id == f"{entry.family}/{entry.name}"


@each
def test_statement_is_one_sentence(entry: Contract) -> None:
    assert entry.statement.endswith(".")
    assert not re.search(r"[.!?] [A-Z]", entry.statement)


@each
def test_names_a_wrong_implementation(entry: Contract) -> None:
    assert entry.wrong
    assert "\n" not in entry.wrong
    assert not entry.wrong.endswith(".")


@each
def test_source_tells_where_to_look(entry: Contract) -> None:
    places = r"`langgraph\.|langchain-ai/langgraph#\d+|CVE-\d+-\d+|^advice|^saverproof: "
    assert re.search(places, entry.source)


@pytest.mark.skipif(
    release(version("langgraph-checkpoint")) < release(CITED_RELEASE),
    reason=f"sources are cited from langgraph-checkpoint {CITED_RELEASE}",
)
@each
def test_cited_names_exist(entry: Contract) -> None:
    for name in re.findall(r"`(langgraph\.[\w.]+)`", entry.source):
        assert resolves(name), f"{entry.id} cites {name}, which does not exist"


def resolves(name: str) -> bool:
    parts = name.split(".")
    found: object = importlib.import_module(parts[0])
    for end, part in enumerate(parts[1:], start=2):
        if not hasattr(found, part):
            try:
                importlib.import_module(".".join(parts[:end]))
            except ImportError:
                return False
        found = getattr(found, part)
    return True


@each
def test_implied_contracts_exist(entry: Contract) -> None:
    assert entry.implies <= IDS - {entry.id}


@each
def test_levels_and_releases_fit_together(entry: Contract) -> None:
    assert entry.since is not None or entry.before_since is None
    assert entry.before_since != entry.level


def test_deletion_needs_the_operation_it_judges() -> None:
    operations = {
        Capability.DELETE_THREAD,
        Capability.DELETE_FOR_RUNS,
        Capability.PRUNE,
        Capability.COPY_THREAD,
    }
    for entry in contracts("deletion"):
        assert len(entry.needs & operations) == 1, entry.id


def test_durability_is_judged_on_durable_savers_alone() -> None:
    assert all(entry.durable for entry in contracts("durability"))


def test_everything_may_break_with_the_base_operations() -> None:
    assert contract("interface/complete").implies == IDS - {"interface/complete"}


def test_families_partition_the_contracts() -> None:
    assert tuple(entry for family in FAMILIES for entry in contracts(family)) == ALL


def test_unknown_family_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="no family 'order'; known: interface, ordering"):
        contracts("order")


def test_unknown_id_offers_the_nearest() -> None:
    with pytest.raises(UnknownContract, match="nearest: ordering/list-newest-first"):
        contract("ordering/list-newest")


@pytest.mark.parametrize(
    ("since", "before_since", "installed", "level"),
    [
        (None, None, "2.1.0", Level.MUST),
        ("4.3", None, "4.3.0", Level.MUST),
        ("4.3", None, "4.10", Level.MUST),
        ("4.3", None, "4.2.9", None),
        ("4.3", Level.SHOULD, "3.0.1", Level.SHOULD),
        ("4.3", None, "4.3.0rc1", Level.MUST),
    ],
)
def test_level_depends_on_the_installed_release(
    since: str | None, before_since: Level | None, installed: str, level: Level | None
) -> None:
    assert example(since=since, before_since=before_since).level_at(installed) is level


def test_version_without_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match="version 'main': expected numbers"):
        release("main")


@each
def test_page_documents_the_contract(entry: Contract) -> None:
    page = PAGE.read_text()
    for text in (f"### {entry.id}\n", entry.statement, entry.source, entry.wrong):
        assert text in page


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text() == render(), (
        "run: python -m saverproof.contracts.page > docs/contracts.md"
    )
