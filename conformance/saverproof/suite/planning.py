"""Which items a target gets: a family of contracts through an API each."""

from collections.abc import Iterator, Mapping
from typing import Any

from saverproof.capability import Capability
from saverproof.contracts.links import link_of
from saverproof.contracts.registry import Contract, contracts
from saverproof.targets.facts import Facts

FAMILIES = (
    "interface",
    "ordering",
    "upsert",
    "pending-writes",
    "identity",
    "serialization",
    "channels",
    "isolation",
    "filter",
    "deletion",
    "delta-history",
    "parity",
    "lifecycle",
    "graph",
    "atomicity",
    "durability",
    "concurrency",
)
"""The families that have items, in the order in which they run."""

LONG = FAMILIES[FAMILIES.index("graph") :]
"""Those that take the longest: they run API by API, so that processes that share them in turn have
as much to do each."""


def planned(facts: Facts, apis: str) -> Iterator[tuple[str, str]]:
    """The (family, api) pairs for a target, where ``apis`` is "sync", "async" or "both".

    A family none of whose contracts applies to the target gets no item.
    """
    chosen = [api for api in facts["apis"] if apis in (api, "both")]
    there = [
        family
        for family in FAMILIES
        if not all(inapplicable(contract, facts) for contract in contracts(family))
    ]
    for family in there:
        if family == "parity":
            if len(chosen) == 2:
                yield family, "crossed"
        elif family not in LONG:
            yield from ((family, api) for api in chosen)
    yield from ((family, api) for api in chosen for family in there if family in LONG)


def inapplicable(contract: Contract, facts: Facts) -> str | None:
    """Why the contract does not apply to the target; None if it does."""
    installed = facts["packages"]["langgraph-checkpoint"]
    if contract.level_at(installed) is None:
        return f"langgraph-checkpoint {installed} predates it (since {contract.since})"
    if contract.durable and not facts["durable"]:
        return "the target is not durable"
    for capability in Capability:
        if capability in contract.needs and capability not in facts["capabilities"]:
            return f"{capability}: {facts['absent'].get(capability, 'absent')}"
    return None


def saver_event(facts: Facts, items: list[tuple[str, str]]) -> Mapping[str, Any]:
    """What the report is told of a target before its items run (``saverproof_reports.events``)."""
    installed = facts["packages"]["langgraph-checkpoint"]
    return {
        "event": "saver",
        "saver": {
            "name": facts["name"],
            "class": facts["saver_class"],
            "distribution": facts["distribution"],
            "version": facts["version"],
        },
        "target": facts["ref"],
        "items": [list(pair) for pair in items],
        "contracts": [
            {
                "id": contract.id,
                "family": contract.family,
                "level": str(contract.level_at(installed) or contract.level),
                "since": contract.since,
                "statement": contract.statement,
                "source": contract.source,
                "link": link_of(contract.source),
                "reason": inapplicable(contract, facts),
            }
            for contract in contracts()
        ],
    }
