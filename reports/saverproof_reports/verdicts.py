"""Decide on one verdict for a contract from what its items say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SETTLES = frozenset({"violated", "known", "not-applicable"})
"""Verdicts after which a difference that may break the contract is no longer open."""
NOT_SELECTED = "not selected in this run"
"""The reason why a contract was not exercised that the run was not asked about."""


@dataclass(slots=True)
class Evidence:
    """The evidence on one contract from the items of a run.

    ``selected`` says whether the run asked about it; ``ran`` whether an item of its family ended.
    """

    inapplicable: str | None = None
    unknown: str | None = None
    unexercised: str | None = None
    unreported: list[str] = field(default_factory=list)
    selected: bool = True
    ran: bool = True
    checked: dict[str, int] = field(default_factory=lambda: {"sync": 0, "async": 0, "crossed": 0})

    @property
    def is_judged(self) -> bool:
        """True if the run judges it: it was asked about, it applies, and its family has items."""
        applies = not self.inapplicable or any(self.checked.values())
        return self.selected and applies and bool(self.ran or self.unreported)

    def count(self, item: Mapping[str, Any], contract: str) -> None:
        """Count how often ``item`` judged by ``contract``."""
        times = item.get("checked", {}).get(contract, 0)
        self.checked[item["api"]] = self.checked.get(item["api"], 0) + times

    def excuse(self, item: Mapping[str, Any], contract: str) -> None:
        """Add why ``item`` did not judge by ``contract``, which it might have done."""
        self.unknown = self.unknown or item.get("unknown", {}).get(contract)
        self.unexercised = self.unexercised or item.get("unexercised", {}).get(contract)
        self.inapplicable = self.inapplicable or item.get("inapplicable", {}).get(contract)


def decide(evidence: Evidence, violations: Sequence[Mapping[str, Any]]) -> tuple[str, str | None]:
    """Return the verdict and its reason.

    A violation outweighs everything; the verdict is "known" only if each violation is known. A
    search that was cut off, or an item that a killed run never judged, leaves the contract unknown
    even if another API held. An item that had no way to look leaves the contract not exercised,
    even if another API held.
    """
    if violations:
        listed = [violation.get("known") for violation in violations]
        if all(listed) and listed[0]:
            return "known", listed[0]["reason"]
        return "violated", None
    if not evidence.selected:
        return "not-exercised", NOT_SELECTED
    if evidence.unknown:
        return "unknown", evidence.unknown
    if evidence.unexercised:
        return "not-exercised", evidence.unexercised
    judged = any(evidence.checked.values())
    if evidence.inapplicable and not judged:
        return "not-applicable", evidence.inapplicable
    if evidence.unreported:
        apis = ", ".join(sorted(set(evidence.unreported)))
        return "unknown", f"the run ended before its items were judged ({apis})"
    if judged:
        return "held", None
    return "not-exercised", "nothing in this run reached it" if evidence.ran else NOT_SELECTED


def settles(left: Mapping[str, Any], verdicts: Mapping[str, str]) -> bool:
    """Return whether these verdicts explain differences that an item left to other families."""
    return any(verdicts.get(one) in SETTLES for one in left["contracts"])
