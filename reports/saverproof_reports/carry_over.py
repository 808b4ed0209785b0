"""Carry over what a run did not judge from an earlier run in the same folder.

Each contract and violation that is carried over says so (``earlier``). It names when that run was,
and the version of the saver, the seed and the profile, which say whether the two may be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from saverproof_reports.assembly import assemble
from saverproof_reports.errors import ReportError
from saverproof_reports.side_files import with_artefacts
from saverproof_reports.storage import read_report
from saverproof_reports.unsettled import with_unsettled, without_unsettled

Data = Mapping[str, Any]
_FIGURES = {
    "faults": "points",
    "crash": "trials",
    "power": "images",
    "concurrency": "scenes",
    "cost": "laws",
    "resources": "held",
}
"""Sections of single families, each with a count that is zero if the family did not run."""


def earlier_report(folder: Path) -> dict[str, Any] | None:
    """Return the report in a folder, with the artefacts beside it; None if there is none."""
    try:
        return with_artefacts(read_report(folder), folder)
    except ReportError:
        return None


def continued(report: Data, earlier: Data) -> dict[str, Any]:
    """Return the report of a run, with what it did not judge from ``earlier``, marked as such.

    Only savers of the same name and class are carried over.
    """
    before = {judged["saver"]["name"]: judged for judged in earlier["savers"]}
    savers = []
    for judged in report["savers"]:
        old = before.get(judged["saver"]["name"])
        same = old is not None and old["saver"]["class"] == judged["saver"]["class"]
        savers.append(_continued(judged, old, earlier["run"]) if old and same else judged)
    plain = [_without_paths(judged) for judged in savers]
    return assemble(report["environment"], report["run"], plain, report["complete"])


def _continued(judged: Data, old: Data, run: Data) -> dict[str, Any]:
    mark = {
        "started": run["started"],
        "version": old["saver"]["version"],
        "seed": run["seed"],
        "profile": run["profile"],
    }
    before = {contract["id"]: contract for contract in old["contracts"]}
    ran = _apis_judged(judged)
    sections = {
        name: old[name]
        for name, figure in _FIGURES.items()
        if name in old and not judged.get(name, {}).get(figure)
    }
    return {
        **judged,
        **sections,
        "contracts": [
            _contract(contract, before[contract["id"]], mark, ran)
            if contract["id"] in before
            else contract
            for contract in judged["contracts"]
        ],
    }


def _contract(contract: Data, old: Data, mark: Data, ran: Mapping[str, set[str]]) -> Data:
    """Return a contract of this run, together with what an earlier run found through APIs that this
    run did not use.

    A contract that this run was not asked to judge is carried over as a whole. ``ran`` has the APIs
    of this run by family. ``mark`` marks what is carried over.
    """
    apis = ran[contract["family"]]
    if not contract.get("selected", True) and not contract["violations"]:
        if not _was_judged(old) or (contract.get("unsettled") and not old["violations"]):
            return contract
        kept = [_marked(violation, mark) for violation in old["violations"]]
        return {**old, "earlier": old.get("earlier", mark), "violations": kept, "selected": False}
    elsewhere = [_marked(found, mark) for found in old["violations"] if found["api"] not in apis]
    if elsewhere:
        found = [*contract["violations"], *elsewhere]
        listed = all(violation.get("known") for violation in found)
        return {
            **without_unsettled(contract),
            "violations": found,
            "verdict": "known" if listed else "violated",
            "reason": found[0]["known"]["reason"] if listed else None,
            "checked": {**old["checked"], **{api: contract["checked"][api] for api in apis}},
        }
    left = old.get("unsettled")
    if left and not contract["violations"] and not _looked_again(left, ran):
        lenient = not left["fails"]
        return with_unsettled(without_unsettled(contract), _marked(left, mark), lenient=lenient)
    return contract


def _looked_again(unsettled: Data, ran: Mapping[str, set[str]]) -> bool:
    """Return whether every item that had seen an unsettled difference has run again."""
    return all(part["api"] in ran.get(part["family"], ()) for part in unsettled["seen_by"])


def _apis_judged(judged: Data) -> dict[str, set[str]]:
    """Return the APIs through which each family was judged."""
    ran: dict[str, set[str]] = {}
    for contract in judged["contracts"]:
        apis = {api for api, times in contract["checked"].items() if times}
        apis |= {violation["api"] for violation in contract["violations"]}
        ran.setdefault(contract["family"], set()).update(apis)
    return ran


def _was_judged(contract: Data) -> bool:
    return bool(contract.get("selected", True) or contract.get("earlier"))


def _marked(seen: Data, mark: Data) -> dict[str, Any]:
    return {"earlier": mark, **seen}


def _without_paths(judged: Data) -> dict[str, Any]:
    """Return the saver's results without the paths of files, which are given anew."""
    contracts: Sequence[Data] = judged["contracts"]
    return {
        **judged,
        "contracts": [
            {**contract, "violations": list(_pathless(contract["violations"]))}
            for contract in contracts
        ],
        **({"beside": list(_pathless(judged["beside"]))} if "beside" in judged else {}),
    }


def _pathless(found: Sequence[Data]) -> Iterator[dict[str, Any]]:
    for violation in found:
        yield {k: v for k, v in violation.items() if k not in ("reproducer", "artefact")}
