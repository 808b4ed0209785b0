"""An earlier report as the measure of a later run: only what got worse fails it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from saverproof_reports.comparing import paired

Contract = Mapping[str, Any]


def excused(earlier: Contract | None, api: str) -> bool:
    """Whether a violation through ``api`` is nothing worse than ``earlier`` says of the contract.

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


def excused_unsettled(earlier: Contract | None) -> bool:
    """Whether it is nothing worse than ``earlier`` that something of a contract is not settled: it
    was not settled before, or the contract was broken, or not known.
    """
    if earlier is None:
        return True
    return earlier["verdict"] in ("violated", "known") or bool(earlier.get("unsettled"))


@dataclass(frozen=True, slots=True)
class Baseline:
    """What an earlier report excuses: for each saver of the new run, contract id to what it says.

    Plain data, for another process. A saver that the report does not have gets no excuse.
    """

    savers: dict[str, dict[str, Any]]

    @classmethod
    def of(cls, report: Mapping[str, Any], savers: Iterable[Mapping[str, Any]]) -> Self:
        """What ``report`` excuses for ``savers``, each with its name and class.

        They belong together as in ``compare``: by name, by class, or as the only ones left.
        """
        pairs, _, _ = paired(report["savers"], [{"saver": saver} for saver in savers])
        return cls({str(new["saver"]["name"]): _told(old["contracts"]) for old, new in pairs})

    def excuses(self, saver: str, contract: str, api: str) -> bool:
        """Whether ``saver``, violating ``contract`` through ``api``, is no worse than it was."""
        contracts = self.savers.get(saver)
        return contracts is not None and excused(contracts.get(contract), api)

    def excuses_unsettled(self, saver: str, contract: str) -> bool:
        """Whether it is no worse than it was that something is not settled of ``contract``."""
        contracts = self.savers.get(saver)
        return contracts is not None and excused_unsettled(contracts.get(contract))


def _told(contracts: Iterable[Contract]) -> dict[str, Any]:
    return {
        contract["id"]: {
            "verdict": contract["verdict"],
            "checked": contract["checked"],
            "unsettled": "unsettled" in contract,
            "violations": [{"api": violation["api"]} for violation in contract["violations"]],
        }
        for contract in contracts
    }
