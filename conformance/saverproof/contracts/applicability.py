"""Decide whether a contract applies to a saver."""

from __future__ import annotations

from saverproof.contracts.contract import Contract
from saverproof.savers.facts import Facts


def why_inapplicable(contract: Contract, facts: Facts) -> str | None:
    """Return why the contract does not apply to the saver with these facts, or None if it does."""
    installed = facts["packages"]["langgraph-checkpoint"]
    if contract.level_at(installed) is None:
        return f"needs langgraph-checkpoint {contract.since}, found {installed}"
    if contract.durable and not facts["durable"]:
        return "the saver keeps its data in memory"
    for capability in sorted(contract.needs):
        if capability not in facts["capabilities"]:
            return f"{capability}: {facts['absent'].get(capability, 'absent')}"
    return None


def conditions(contract: Contract) -> str:
    """Describe what a contract needs of a saver and of the installed release; "" if nothing."""
    found = []
    if contract.since is not None:
        before = f" (before: {contract.before_since})" if contract.before_since else ""
        found.append(f"langgraph-checkpoint {contract.since} and newer{before}")
    if contract.durable:
        found.append("durable savers")
    if contract.needs:
        found.append(f"savers with {', '.join(sorted(contract.needs))}")
    return "; ".join(found)
