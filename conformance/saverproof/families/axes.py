"""Which points of the axes a saver has, and what an item tells of those it touched."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.families.tally import Tally
from saverproof.items import ItemPlan
from saverproof.programs.axes.crossing import AxisAccount
from saverproof.programs.axes.log import AxisLog
from saverproof.programs.axes.table import DURABLE, OWN_STORE
from saverproof.targets.target import Target


def able_of(plan: ItemPlan, target: Target) -> frozenset[str]:
    """What points of axes may need of a saver, and this one has."""
    able = {*plan.facts["capabilities"], *([DURABLE] if plan.facts["durable"] else [])}
    shared = target.ref is not None and target.ref.shares_store
    return frozenset(able if shared else {*able, OWN_STORE})


def tell_of_axes(tally: Tally, touched: AxisLog, able: frozenset[str], *, heavy: bool) -> None:
    """Tell what was touched, and that contracts were not exercised that speak of what was not."""
    account = AxisAccount(tally.plan.family, able, heavy, touched)
    tally.sections["axes"] = account.as_data()
    # A saver that keeps the newest checkpoint alone has few of the points of a history.
    if Capability.HISTORY in able:
        for contract, gap in account.gaps().items():
            tally.not_exercised([contract], gap)
