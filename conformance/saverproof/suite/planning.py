"""Plans the items of a target: one for each family of contracts and API."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from saverproof.capability import Capability
from saverproof.contracts.advice import page_of
from saverproof.contracts.applicability import why_inapplicable
from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.links import link_of
from saverproof.contracts.registry import contracts, tables
from saverproof.contracts.sets import contract_set
from saverproof.savers.facts import Facts


def planned(facts: Facts, apis: str) -> Iterator[tuple[str, str]]:
    """Yield the (family, api) pairs for a target; ``apis`` is "sync", "async" or "both".

    A family gets no item if none of its contracts applies to the target, or if nobody asked for it.
    """
    chosen = [api for api in facts["apis"] if apis in (api, "both")]
    there = [
        table
        for table in tables()
        if (not table.asks_for or facts.get(table.asks_for))
        and not all(why_inapplicable(contract, facts) for contract in table.contracts)
    ]
    for table in there:
        if not table.long:
            yield from ((table.name, api) for api in table.apis(chosen))
    for api in chosen:
        yield from ((table.name, api) for table in there if table.long)


def item_id(facts: Facts, family: str, api: str) -> str:
    """Return an item's name in pytest."""
    return f"{family}[{facts['name']}-{api}]"


def chosen(facts: Facts, apis: str, families: Collection[str] | None) -> list[tuple[str, str]]:
    """Return the (family, api) pairs of the families that a run is limited to; None for all
    families.
    """
    return [
        (family, api)
        for family, api in planned(facts, apis)
        if families is None or family in families
    ]


def shared_store(shares: str) -> str:
    """Return one line on a target whose workspaces share a store; ``shares`` is what shows it."""
    return (
        f"workspaces of this target share a store: {shares}; judged with ids that nothing else "
        "uses, and without lists over all threads"
    )


def only_api(contract: Contract) -> str | None:
    """Return the only API through which a contract can be judged, or None if both can."""
    needed = [api for api in (Capability.SYNC, Capability.ASYNC) if api in contract.needs]
    # A contract that needs both is judged by items that compare them.
    return str(needed[0]) if len(needed) == 1 else None


def level_in(pinned: str | None, contract: Contract, installed: str) -> Level | None:
    """Return the level of a contract in this run, or None if it does not apply.

    ``pinned`` is the contract set that the run pins, if any.
    """
    if pinned is None:
        return contract.level_at(installed)
    return contract_set(pinned).level_at(contract, installed)


def saver_event(
    facts: Facts,
    items: list[tuple[str, str]],
    selected: Collection[str] | None,
    pinned: str | None = None,
) -> Mapping[str, Any]:
    """Return the report event about a target, sent before its items run.

    ``selected`` are the contracts that the run is about; None for all. Contracts newer than the set
    ``pinned`` only advise. The form is in ``saverproof_reports.events``.
    """
    installed = facts["packages"]["langgraph-checkpoint"]
    return {
        "event": "saver",
        "saver": {
            "name": facts["name"],
            "class": facts["saver_class"],
            "distribution": facts["distribution"],
            "version": facts["version"],
            "target": facts["ref"]["saver"],
        },
        "target": facts["ref"],
        "workspaces": shared_store(shares) if (shares := facts.get("shares")) else None,
        "titles": {table.name: table.title for table in tables()},
        "items": [list(pair) for pair in items],
        "contracts": [
            {
                "id": contract.id,
                "family": contract.family,
                "level": str(level_in(pinned, contract, installed) or contract.level),
                "since": contract.since,
                "statement": contract.statement,
                "source": contract.source,
                "link": link_of(contract.source),
                "matters": contract.matters,
                "fix": contract.fix,
                "page": page_of(contract),
                "reason": why_inapplicable(contract, facts),
                "selected": selected is None or contract.id in selected,
                **({"apis": [api]} if (api := only_api(contract)) else {}),
            }
            for contract in contracts()
        ],
    }
