"""Texts beside a finding in every format: what it means to users of an agent, how to mend it."""

from collections.abc import Mapping
from typing import Any

Contract = Mapping[str, Any]

MATTERS = "What happens to agents"
FIX = "How to fix it"
AS_IF = "A saver with this mistake, and no other, shows the very same"
"""The words for a finding that a known mistake predicts."""


def fix_of(judged: Mapping[str, Any], contract: Contract) -> str:
    """Return how a broken contract is mended; "" if its report does not say.

    Where a known mistake shows what was seen, the fix is that of the contract which this mistake
    breaks: this one only follows from it.
    """
    fixes = {one["id"]: one.get("fix", "") for one in judged["contracts"]}
    causes = [one["mistake_of"] for one in contract["violations"] if one.get("mistake_of")]
    fix: str = contract.get("fix", "")
    return next((fixes[cause] for cause in causes if fixes.get(cause)), fix)


def mistakes(contract: Contract) -> list[str]:
    """Return the known mistakes that predict what the violations of a contract show."""
    found = (one.get("mistake") for one in contract["violations"])
    return list(dict.fromkeys(filter(None, found)))
