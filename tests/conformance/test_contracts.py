"""The registry of contracts is complete, consistent, documented and cites what exists."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from saverproof.capability import Capability
from saverproof.contracts import (
    Contract,
    Level,
    UnknownContract,
    contract,
    contracts,
    families,
    release,
)
from saverproof.contracts.page import render, with_links

PAGE = Path(__file__).parents[2] / "docs" / "contracts.md"
ALL = contracts()
IDS = {entry.id for entry in ALL}
# Sources cite the newest LangGraph; older ones lack some of the names.
CITED_RELEASE = "4.3"


def failing(holds: Callable[[Contract], bool]) -> list[str]:
    """The ids of the contracts for which something does not hold."""
    return [entry.id for entry in ALL if not holds(entry)]


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


def test_ids_are_family_and_name() -> None:
    def holds(entry: Contract) -> bool:
        well_formed = re.fullmatch(r"[a-z]+(-[a-z]+)*/[a-z]+(-[a-z]+)*", entry.id) is not None
        known = entry.family in families()
        return well_formed and known and entry.id == f"{entry.family}/{entry.name}"

    assert failing(holds) == []


def test_statements_are_one_sentence() -> None:
    def holds(entry: Contract) -> bool:
        return entry.statement.endswith(".") and not re.search(r"[.!?] [A-Z]", entry.statement)

    assert failing(holds) == []


def test_all_name_a_wrong_implementation() -> None:
    def holds(entry: Contract) -> bool:
        return bool(entry.wrong) and "\n" not in entry.wrong and not entry.wrong.endswith(".")

    assert failing(holds) == []


def test_all_say_why_they_matter_and_how_to_keep_them() -> None:
    def holds(entry: Contract) -> bool:
        return all(text.endswith(".") for text in (entry.matters, entry.fix))

    assert failing(holds) == []


def test_sources_tell_where_to_look() -> None:
    places = r"`langgraph\.|langchain-ai/langgraph#\d+|CVE-\d+-\d+|^advice|^saverproof: "
    assert failing(lambda entry: re.search(places, entry.source) is not None) == []


@pytest.mark.skipif(
    release(version("langgraph-checkpoint")) < release(CITED_RELEASE),
    reason=f"sources are cited from langgraph-checkpoint {CITED_RELEASE}",
)
def test_cited_names_exist() -> None:
    cited = [
        (entry.id, name)
        for entry in ALL
        for name in re.findall(r"`(langgraph\.[\w.]+)`", entry.source)
    ]
    assert cited
    assert [(where, name) for where, name in cited if not resolves(name)] == []


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


def test_implied_contracts_exist() -> None:
    assert failing(lambda entry: entry.implies <= IDS - {entry.id}) == []


def test_levels_and_releases_fit_together() -> None:
    def holds(entry: Contract) -> bool:
        has_release = entry.since is not None or entry.before_since is None
        return has_release and entry.before_since != entry.level

    assert failing(holds) == []


def test_deletion_needs_the_operation_it_judges() -> None:
    operations = {
        Capability.DELETE_THREAD,
        Capability.DELETE_FOR_RUNS,
        Capability.PRUNE,
        Capability.COPY_THREAD,
    }
    for entry in contracts("deletion"):
        # What is put again asks for no operation of its own.
        needed = 0 if entry.id == "deletion/copy-by-putting" else 1
        assert len(entry.needs & operations) == needed, entry.id


def test_durability_is_judged_on_durable_savers_alone() -> None:
    assert all(entry.durable for entry in contracts("durability"))


def test_everything_may_break_with_the_base_operations() -> None:
    assert contract("interface/complete").implies == IDS - {"interface/complete"}


def test_families_partition_the_contracts() -> None:
    assert tuple(entry for family in families() for entry in contracts(family)) == ALL


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


def test_the_page_documents_every_contract() -> None:
    page = PAGE.read_text()

    def holds(entry: Contract) -> bool:
        source = with_links(entry.source)
        told = (f"### {entry.id}\n", entry.statement, entry.wrong, entry.matters, entry.fix, source)
        return all(text in page for text in told)

    assert failing(holds) == []


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text() == render(), "run: make pages"
