"""The families that can be judged, by name.

This is imported only in the judge process, because families import LangGraph. All else knows
families by their tables (``saverproof.contracts.registry``).
"""

from __future__ import annotations

from functools import cache

from saverproof import extensions
from saverproof.contracts.registry import TABLES, tables
from saverproof.errors import ExtensionError
from saverproof.extensions import added
from saverproof.families.atomicity.family import AtomicityFamily
from saverproof.families.concurrency.family import ConcurrencyFamily
from saverproof.families.cost.family import CostFamily
from saverproof.families.durability.family import DurabilityFamily
from saverproof.families.expiry.family import FAMILY as EXPIRY
from saverproof.families.family import Family
from saverproof.families.functional.family import FunctionalFamily
from saverproof.families.graph.family import GraphFamily
from saverproof.families.items import ItemPlan, Outcome
from saverproof.families.machines.registry import FUNCTIONAL_FAMILIES
from saverproof.families.resources.family import ResourcesFamily
from saverproof.families.tally import Progress, Tally, tell_nobody
from saverproof.families.upgrade.family import UpgradeFamily
from saverproof.savers.targets.target import Target

FAMILIES: tuple[Family, ...] = (
    *(FunctionalFamily(table) for table in TABLES if table.name in FUNCTIONAL_FAMILIES),
    EXPIRY,
    GraphFamily(),
    CostFamily(),
    ResourcesFamily(),
    AtomicityFamily(),
    DurabilityFamily(),
    ConcurrencyFamily(),
    UpgradeFamily(),
)
"""The families of the kit."""


@cache
def _families() -> dict[str, Family]:
    found = {known.table.name: known for known in FAMILIES}
    # A protocol that is checked at run time is no type for mypy to make instances of.
    kind: type[Family] = Family  # type: ignore[type-abstract]
    for where, more in added(extensions.FAMILIES, kind):
        if more.table not in tables():
            raise ExtensionError(
                f"{where}: its table is not registered, expected an entry point "
                f"{extensions.CONTRACTS} for the family {more.table.name!r}"
            )
        found[more.table.name] = more
    return found


def family(name: str) -> Family:
    """Return the family of this name.

    Raises:
        ExtensionError: none judges that name, or what another distribution adds cannot be used.
    """
    found = _families().get(name)
    if found is None:
        raise ExtensionError(
            f"no family judges {name!r}, expected an entry point {extensions.FAMILIES} for it"
        )
    return found


def judged(plan: ItemPlan, target: Target, progress: Progress = tell_nobody) -> Outcome:
    """Judge a plan, and return the outcome. No error of the saver is raised.

    Raises:
        SaverproofError: the target could not be opened, or there is no room for workspaces.
    """
    tally = Tally(plan, progress)
    family(plan.family).judge(plan, target, tally)
    return tally.outcome()
