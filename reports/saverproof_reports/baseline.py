"""An earlier report as the measure of a later run: only what got worse fails it."""

from collections.abc import Mapping
from typing import Any

Contract = Mapping[str, Any]


def excused(earlier: Contract | None, api: str) -> bool:
    """Whether a violation through `api` is nothing worse than `earlier` says of the contract.

    It is not where the contract was violated through that API already, or through another while
    this one was not judged; nor where the earlier report did not have the contract at all: the
    kit became stricter then, the saver did not become worse.
    """
    if earlier is None:
        return True
    if earlier["verdict"] != "violated":
        return False
    broken = {violation["api"] for violation in earlier["violations"]}
    return api in broken or not earlier["checked"].get(api)


class Baseline:
    """What an earlier `report` excuses. A saver that it does not have gets no excuse."""

    def __init__(self, report: Mapping[str, Any]) -> None:
        self._savers: dict[str, dict[str, Contract]] = {
            judged["saver"]["name"]: {one["id"]: one for one in judged["contracts"]}
            for judged in report["savers"]
        }

    def excuses(self, saver: str, contract: str, api: str) -> bool:
        """Whether `saver`, violating `contract` through `api`, is no worse than it was."""
        contracts = self._savers.get(saver)
        return contracts is not None and excused(contracts.get(contract), api)
