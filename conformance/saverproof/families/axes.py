"""Report which points of the axes an item touched."""

from __future__ import annotations

from collections.abc import Sequence

from saverproof.capability import Capability
from saverproof.families.tally import Tally, hidden
from saverproof.programs.axes.crossing import AxisAccount
from saverproof.programs.axes.log import AxisLog


def tell_of_axes(
    tally: Tally,
    touched: AxisLog,
    able: frozenset[str],
    *,
    heavy: bool,
    broken: Sequence[str] = (),
) -> None:
    """Report the points that were touched. Mark contracts about other points as not exercised.

    On a saver without flaws the programs reach all points. If contracts are ``broken``, they are
    therefore named as the reason.
    """
    account = AxisAccount(tally.plan.family, able, heavy, touched)
    tally.sections["axes"] = account.as_data()
    # A saver that keeps the newest checkpoint alone has few of the points of a history.
    if Capability.HISTORY in able:
        for contract, gap in account.gaps().items():
            if broken:
                tally.hide([contract], hidden(gap, ", ".join(broken)), broken)
            else:
                tally.not_exercised([contract], gap)
