"""An earlier report as the measure of a later run: the run fails only on what got worse."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from saverproof_reports.comparing import paired

Contract = Mapping[str, Any]


def excused(earlier: Contract | None, api: str) -> bool:
    """Return whether a violation through ``api`` is no worse than what ``earlier`` says.

    It is worse if the contract held in the earlier report. It is no worse in three cases: the
    contract was violated through that API already; it was violated through another API, and this
    one was not judged; or the earlier report lacks the contract, so that only the kit became
    stricter.
    """
    if earlier is None:
        return True
    if earlier["verdict"] != "violated":
        return False
    broken = {violation["api"] for violation in earlier["violations"]}
    return api in broken or not earlier["checked"].get(api)


def excused_unsettled(earlier: Contract | None) -> bool:
    """Return whether something unsettled of a contract is no worse than what ``earlier`` says.

    It is no worse if something was unsettled before, or the contract was broken or not known.
    """
    if earlier is None:
        return True
    return earlier["verdict"] in ("violated", "known") or bool(earlier.get("unsettled"))


@dataclass(frozen=True, slots=True)
class Baseline:
    """The excuses of an earlier report: for each saver of the new run, its contracts by id.

    It is plain data, which can be handed to another process. A saver that the report lacks gets no
    excuse.
    """

    savers: dict[str, dict[str, Any]]

    @classmethod
    def of(cls, report: Mapping[str, Any], savers: Iterable[Mapping[str, Any]]) -> Self:
        """Return what ``report`` excuses for ``savers``, each given with its name and class.

        Savers are matched as in ``compare``: by name, by class, or as the only ones left.
        """
        pairs, _, _ = paired(report["savers"], [{"saver": saver} for saver in savers])
        return cls({str(new["saver"]["name"]): _told(old["contracts"]) for old, new in pairs})

    def excuses(self, saver: str, contract: str, api: str) -> bool:
        """Return whether a violation of ``contract`` by ``saver`` is no worse than before."""
        contracts = self.savers.get(saver)
        return contracts is not None and excused(contracts.get(contract), api)

    def excuses_unsettled(self, saver: str, contract: str) -> bool:
        """Return whether something unsettled of ``contract`` is no worse than before."""
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
