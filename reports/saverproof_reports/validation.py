"""Check that a report fits its schema, and that its figures agree with one another."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from saverproof_reports.schemas import problems
from saverproof_reports.summary import summarise
from saverproof_reports.text import one_line


def validate(report: object) -> list[str]:
    """Return what is wrong with ``report``, one line each; [] if nothing is.

    Besides the schema: a contract that held was judged, a violated one shows how, no contract
    stands twice, and the summary counts what the contracts say.
    """
    found = problems("report-1", report)
    if found or not isinstance(report, Mapping):
        return found
    return [
        f"savers[{index}] ({one_line(judged['saver']['name'], 60)}): {line}"
        for index, judged in enumerate(report["savers"])
        for line in _disagreements(judged)
    ]


def _disagreements(judged: Mapping[str, Any]) -> Iterator[str]:
    contracts = judged["contracts"]
    for contract in contracts:
        yield from _contract_disagreements(contract)
    for identity, times in Counter(contract["id"] for contract in contracts).items():
        if times > 1:
            yield f"{identity}: found {times} times, expected once"
    counted = summarise(contracts)
    for level, tally in counted.items():
        said = {verdict: count for verdict, count in judged["summary"][level].items() if count}
        if said != {verdict: count for verdict, count in tally.items() if count}:
            yield f"summary.{level}: found {said}, the contracts say {tally}"


def _contract_disagreements(contract: Mapping[str, Any]) -> Iterator[str]:
    identity, verdict = contract["id"], contract["verdict"]
    if contract["family"] != identity.partition("/")[0]:
        yield f"{identity}: found family {one_line(contract['family'], 60)}"
    if verdict == "held" and not any(contract["checked"].values()):
        yield f"{identity}: found held, but it was never judged"
    if verdict in ("violated", "known") and not contract["violations"]:
        yield f"{identity}: found {verdict} without a violation that shows it"
    if verdict != "unknown" and contract.get("unsettled"):
        yield f"{identity}: found {verdict}, but something of it is not settled"
    if verdict not in ("violated", "known") and contract["violations"]:
        yield f"{identity}: found {verdict}, but it has violations"
