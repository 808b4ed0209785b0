"""One verdict for a contract from what its items, one an API and sweep, said of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Evidence:
    """What the items of a run said of one contract."""

    inapplicable: str | None = None
    unknown: str | None = None
    unreported: list[str] = field(default_factory=list)
    checked: dict[str, int] = field(default_factory=lambda: {"sync": 0, "async": 0, "crossed": 0})

    def add(self, item: Mapping[str, Any], contract: str) -> None:
        """Take in what ``item`` says of ``contract``."""
        times = item.get("checked", {}).get(contract, 0)
        self.checked[item["api"]] = self.checked.get(item["api"], 0) + times
        self.unknown = self.unknown or item.get("unknown", {}).get(contract)
        self.inapplicable = self.inapplicable or item.get("inapplicable", {}).get(contract)


def decide(evidence: Evidence, violations: Sequence[Mapping[str, Any]]) -> tuple[str, str | None]:
    """The verdict and its reason.

    A violation outweighs all; it is known only if each one is. A search cut off, or an item
    that a killed run never judged, leaves the contract unknown even where another API held.
    """
    if violations:
        listed = [violation.get("known") for violation in violations]
        if all(listed) and listed[0]:
            return "known", listed[0]["reason"]
        return "violated", None
    if evidence.unknown:
        return "unknown", evidence.unknown
    judged = any(evidence.checked.values())
    if evidence.inapplicable and not judged:
        return "not-applicable", evidence.inapplicable
    if evidence.unreported:
        apis = ", ".join(sorted(set(evidence.unreported)))
        return "unknown", f"the run ended before its items were judged ({apis})"
    return ("held", None) if judged else ("not-exercised", "nothing in this run reached it")
