"""Merge runs that judged different parts of one saver into one run: the jobs of a CI matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from saverproof_reports.axes import merge_axes
from saverproof_reports.causes import causes
from saverproof_reports.sections import (
    merge_concurrency,
    merge_costs,
    merge_crash,
    merge_faults,
    merge_power,
    merge_programs,
    merge_resources,
)
from saverproof_reports.summary import summarise
from saverproof_reports.unsettled import joined_unsettled, with_unsettled, without_unsettled
from saverproof_reports.verdicts import settles

Data = Mapping[str, Any]
_SECTIONS: Mapping[str, Callable[[Iterable[Data]], dict[str, Any]]] = {
    "faults": merge_faults,
    "crash": merge_crash,
    "power": merge_power,
    "concurrency": merge_concurrency,
    "cost": merge_costs,
    "resources": merge_resources,
    "programs": merge_programs,
    "axes": merge_axes,
}
_COUNTED = ("seen", "shown", "explained", "unknown")
"""The counts of differences that are added up over the parts of a run."""


def joined(reports: Sequence[Data]) -> list[Data]:
    """Return the reports; those that judged different parts of the same savers become one.

    Their profile must be the same. Reports that judged the same contract are not parts of one run.
    """
    whole: list[Data] = []
    for report in reports:
        for place, other in enumerate(whole):
            if _are_parts(other, report):
                whole[place] = _whole(other, report)
                break
        else:
            whole.append(report)
    return whole


def _are_parts(one: Data, other: Data) -> bool:
    savers = [[judged["saver"] for judged in report["savers"]] for report in (one, other)]
    if savers[0] != savers[1] or one["run"]["profile"] != other["run"]["profile"]:
        return False
    pairs = zip(one["savers"], other["savers"], strict=True)
    return all(_judged_by(first).isdisjoint(_judged_by(second)) for first, second in pairs)


def _judged_by(judged: Data) -> set[str]:
    return {contract["id"] for contract in judged["contracts"] if _was_judged(contract)}


def _was_judged(contract: Data) -> bool:
    if contract["verdict"] == "not-applicable" or not contract.get("selected", True):
        return False
    # A contract that only another family saw broken was counted by no part.
    return any(contract["checked"].values()) or not contract["violations"]


def _whole(one: Data, other: Data) -> dict[str, Any]:
    runs = one["run"], other["run"]
    run = {**one["run"], "started": min(run["started"] for run in runs)}
    for figure in ("duration_s", "estimate_s"):
        if any(figure in run for run in runs):
            run[figure] = round(sum(run.get(figure, 0.0) for run in runs), 3)
    pairs = zip(one["savers"], other["savers"], strict=True)
    return {
        **one,
        "complete": one["complete"] and other["complete"],
        "run": run,
        "savers": [_saver(first, second) for first, second in pairs],
    }


def _saver(one: Data, other: Data) -> dict[str, Any]:
    there = {contract["id"]: contract for contract in other["contracts"]}
    contracts = [_contract(contract, there[contract["id"]]) for contract in one["contracts"]]
    left = [seen for part in (one, other) for seen in part.get("beside", ())]
    contracts = _settled(_with_what_was_seen_beside(contracts, (one, other)), left)
    sections = {
        name: merge([part[name] for part in (one, other) if name in part])
        for name, merge in _SECTIONS.items()
        if name in one or name in other
    }
    timing = {name: round(one["timing"][name] + other["timing"][name], 3) for name in one["timing"]}
    differences = [part["differences"] for part in (one, other) if "differences" in part]
    asked = {contract["id"] for contract in contracts if _was_judged(contract)}
    beside = [seen for seen in left if seen["contract"] not in asked]
    return {
        **{name: value for name, value in one.items() if name != "beside"},
        **({"beside": beside} if beside else {}),
        "summary": summarise(contracts),
        "contracts": contracts,
        "causes": causes(contracts),
        **sections,
        **({"differences": _added(differences, contracts, left)} if differences else {}),
        **{
            name: [*one.get(name, ()), *other.get(name, ())]
            for name in ("budget", "stale")
            if name in one or name in other
        },
        "timing": timing,
    }


def _added(
    differences: Sequence[Data], contracts: Iterable[Data], beside: Iterable[Data]
) -> dict[str, Any]:
    """Return the sums of all parts. A finding of one part explains what another part left open."""
    verdicts = _verdicts(contracts, beside)
    counts = {name: sum(part[name] for part in differences) for name in _COUNTED}
    unsettled: dict[str, int] = {}
    for part in differences:
        for name, times in part.get("unsettled", {}).items():
            if settles({"contracts": [name]}, verdicts):
                counts["unknown"] -= times
                counts["explained"] += times
            else:
                unsettled[name] = unsettled.get(name, 0) + times
    return counts | ({"unsettled": unsettled} if unsettled else {})


def _contract(one: Data, other: Data) -> Data:
    """Return a contract with the verdict of the part that was asked to judge it.

    Violations that the other part saw are added.
    """
    own, beside = (other, one) if _was_judged(other) else (one, other)
    found = [*own["violations"], *beside["violations"]]
    if beside["violations"]:
        return _broken(own, found)
    if found or own["verdict"] == "not-applicable":
        return own
    return _left_open(own, beside)


def _broken(contract: Data, found: Sequence[Data]) -> dict[str, Any]:
    listed = all(violation.get("known") for violation in found)
    return {
        **without_unsettled(contract),
        "violations": found,
        "verdict": "known" if listed else "violated",
        "reason": found[0]["known"]["reason"] if listed else None,
    }


def _left_open(own: Data, beside: Data) -> Data:
    """Return a contract that no part found broken, with what each part left open of it."""
    left = beside.get("unsettled")
    if left:
        known = own.get("unsettled")
        entry = joined_unsettled(known, left) if known else left
        fails = left["fails"] or bool(known and known["fails"])
        return with_unsettled(without_unsettled(own), entry, lenient=not fails)
    if own["verdict"] == "held" and beside["verdict"] == "unknown":
        return {**own, "verdict": "unknown", "reason": beside["reason"]}
    return own


def _with_what_was_seen_beside(contracts: Sequence[Data], parts: Sequence[Data]) -> list[Data]:
    """Return the contracts, with the violations that parts saw which were not asked about them."""
    seen: dict[str, list[Data]] = {}
    for part in parts:
        for found in part.get("beside", ()):
            plain = {name: value for name, value in found.items() if name != "contract"}
            seen.setdefault(found["contract"], []).append(plain)
    return [
        _broken(one, seen[one["id"]])
        if one["id"] in seen and _was_judged(one) and not one["violations"]
        else one
        for one in contracts
    ]


def _verdicts(contracts: Iterable[Data], beside: Iterable[Data]) -> dict[str, str]:
    """Return the verdicts of contracts, those as violated that some part saw broken beside."""
    verdicts = {contract["id"]: contract["verdict"] for contract in contracts}
    return verdicts | {seen["contract"]: "violated" for seen in beside}


def _settled(contracts: Sequence[Data], beside: Iterable[Data]) -> list[Data]:
    """Return the contracts without what the findings of another part settle."""
    verdicts = _verdicts(contracts, beside)
    return [
        without_unsettled(one)
        if one.get("unsettled") and settles(one["unsettled"], verdicts)
        else one
        for one in contracts
    ]
