"""Advice on a broken contract: what it means to users of an agent, and how its saver is mended."""

from __future__ import annotations

from saverproof.contracts.contract import Contract
from saverproof.contracts.registry import TABLES, UnknownContract, contract

_PAGE = "https://saverproof.github.io/saverproof/contracts/"


def page_of(promised: Contract) -> str | None:
    """Return the documentation page on a contract, or None if another distribution adds it."""
    ours = any(promised.id == one.id for table in TABLES for one in table.contracts)
    # The site's headings lose the slash in their anchors.
    return f"{_PAGE}#{promised.id.replace('/', '')}" if ours else None


def advice(id: str, mistake_of: str = "") -> list[tuple[str, str]]:
    """Return what is shown beside a finding, each text with a name of one word.

    ``mistake_of`` is the contract that the finding's known mistake breaks: fixing that one fixes
    the finding. An unknown contract has no advice.
    """
    try:
        promised = contract(id)
        cause = contract(mistake_of or id)
    except UnknownContract:
        return []
    said = [
        ("matters", promised.matters),
        ("fix", cause.fix or promised.fix),
        ("more", page_of(promised) or ""),
    ]
    return [(name, text) for name, text in said if text]
