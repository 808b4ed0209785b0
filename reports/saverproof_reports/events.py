"""Make a run's report from its events. The events of a killed run give a report as well.

Events are plain dicts with ``event`` naming their kind; other kinds and fields are ignored:

``run``    ``environment`` and ``run``, as in report.json; sent again, later fields win. If
           ``run.lenient`` is true, unsettled differences fail nothing.
``saver``  ``saver`` (as in report.json); ``target`` (how a process finds it again);
           ``contracts`` (each as in report.json, without verdict, checked and violations; one
           with a ``reason`` is not applicable, one whose ``selected`` is false is not asked
           about in this run, and only items of the ``apis`` that one may have can judge it);
           ``items`` (the planned ``[family, api]`` pairs);
           ``titles`` (what each family is about, by name); ``workspaces`` (one line, if they
           share a store).
``item``   one item judged: ``saver`` (name), ``family``, ``api``, ``seed``, ``checked`` (contract
           id to count), ``findings``, ``handed`` (findings of contracts of other families),
           ``unsettled`` (contract id to ``times``, ``why``, ``steps`` and ``program``: differences
           that nothing explains), ``excuses`` (contract id to ``known`` and ``baseline``, as
           findings have them, for what is unsettled), ``hidden_by`` (contract id to the
           contracts whose breach is in the way of judging it), ``unknown``, ``unexercised`` and
           ``inapplicable`` (contract id to reason), ``operations``, ``saver_s``, ``total_s``,
           ``extra`` (sections: faults, crash, power, concurrency, cost, resources, programs, axes,
           budget, differences) and ``stale``.
``earlier``  ``report``: the report of an earlier run in the same folder (``carry_over``). What
           this run did not judge is taken over from it.
``end``    everything planned was judged.

A finding has ``contract``, ``api``, ``phase``, ``summary``, ``expected``, ``observed``, ``steps``,
``program`` and ``reproducer`` (source text), and may have ``fault_plan``, ``schedule``, ``stacks``,
``known`` (reason and link, if the author lists it) and ``baseline`` (true if an earlier report
excuses it).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from saverproof_reports.artefacts import artefact
from saverproof_reports.assembly import assemble
from saverproof_reports.axes import merge_axes
from saverproof_reports.carry_over import continued
from saverproof_reports.entries import is_of_another
from saverproof_reports.hidden import in_the_way, not_answered
from saverproof_reports.sections import (
    merge_concurrency,
    merge_costs,
    merge_crash,
    merge_differences,
    merge_faults,
    merge_power,
    merge_programs,
    merge_resources,
)
from saverproof_reports.steadiness import is_steady
from saverproof_reports.unsettled import unsettled, with_unsettled
from saverproof_reports.verdicts import NOT_SELECTED, Evidence, decide

Event = Mapping[str, Any]
_VIOLATION = (
    "api",
    "phase",
    "summary",
    "expected",
    "observed",
    "steps",
    "stacks",
    "known",
    "baseline",
    "needs",
    "goes_without",
    "also_shows",
    "may_break",
    "mistake",
    "mistake_of",
    "mistakes_alike",
    "showed",
    "seen_by",
)


def report_of(events: Iterable[Event]) -> dict[str, Any]:
    """Make the report of a run from its events. It is complete if an ``end`` is among them."""
    environment: dict[str, Any] = {"python": "", "platform": "", "packages": {}}
    run: dict[str, Any] = {
        "profile": "unknown",
        "seed": 0,
        "started": "1970-01-01T00:00:00Z",
        "duration_s": 0.0,
        "workers": 0,
    }
    savers: dict[str, Event] = {}
    items: dict[str, list[Event]] = {}
    complete = False
    earlier: Event | None = None
    for event in events:
        match event.get("event"):
            case "run":
                environment |= event.get("environment", {})
                run |= event.get("run", {})
            case "saver":
                savers[event["saver"]["name"]] = event
            case "item":
                items.setdefault(event["saver"], []).append(event)
            case "earlier":
                earlier = event["report"]
            case "end":
                complete = True
    versions = {"python": environment["python"], **environment["packages"]}
    lenient = bool(run.get("lenient"))
    judged = [
        _judged(saver, items.get(name, []), versions, complete=complete, lenient=lenient)
        for name, saver in savers.items()
    ]
    report = assemble(environment, run, judged, complete)
    return report if earlier is None else continued(report, earlier)


def contracts_of_item(saver: Event, item: Event) -> list[dict[str, Any]]:
    """Return the contracts of an item's family, and others that it found broken.

    Each has the verdict that this item alone gives it. Contracts that were not selected, or that
    the item's API cannot show, are left out.
    """
    broken = {finding["contract"] for finding in item.get("findings", [])}
    alone = {**item, "handed": ()}
    contracts = [
        _contract(contract, saver, [alone], [], {})
        for contract in saver["contracts"]
        if (contract["family"] == item["family"] or contract["id"] in broken)
        and contract.get("selected", True)
        and _is_shown_by(contract, item["api"])
    ]
    open_ = unsettled([item], _verdicts(contracts), {one["id"] for one in contracts})
    return [with_unsettled(one, open_.get(one["id"]), lenient=False) for one in contracts]


def _judged(
    saver: Event,
    items: list[Event],
    versions: Mapping[str, str],
    *,
    complete: bool,
    lenient: bool,
) -> dict[str, Any]:
    planned = [(family, api) for family, api in saver.get("items", [])]
    # Workers finish in any order; the report of a run must not depend on it.
    rank = {pair: number for number, pair in enumerate(planned)}
    items = sorted(items, key=lambda item: rank.get((item["family"], item["api"]), len(rank)))
    reported = {(item["family"], item["api"]) for item in items}
    unreported = [] if complete else [pair for pair in planned if pair not in reported]
    extras = [item.get("extra") or {} for item in items]
    contracts = [
        _contract(contract, saver, items, unreported, versions) for contract in saver["contracts"]
    ]
    hiding = in_the_way(items, contracts)
    contracts = [
        _contract(contract, saver, items, unreported, versions, hides=contract["id"] in hiding)
        for contract in saver["contracts"]
    ]
    verdicts = _verdicts(contracts) | _seen_beside(items, contracts)
    asked = {one["id"] for one in saver["contracts"] if one.get("selected", True)} | hiding
    open_ = unsettled(items, verdicts, asked)
    contracts = [with_unsettled(one, open_.get(one["id"]), lenient=lenient) for one in contracts]
    left = not_answered(items, contracts)
    contracts = [with_unsettled(one, left.get(one["id"]), lenient=lenient) for one in contracts]
    beside = list(_beside(saver, items, contracts, versions))
    differences = [extra["differences"] for extra in extras if extra.get("differences")]
    return {
        "saver": saver["saver"],
        "contracts": contracts,
        **({"beside": beside} if beside else {}),
        "titles": saver.get("titles", {}),
        **({"workspaces": line} if (line := saver.get("workspaces")) else {}),
        "faults": merge_faults(extra["faults"] for extra in extras if extra.get("faults")),
        "crash": merge_crash(extra["crash"] for extra in extras if extra.get("crash")),
        "power": merge_power(extra["power"] for extra in extras if extra.get("power")),
        **_optional(extras, "concurrency", merge_concurrency),
        **_optional(extras, "cost", merge_costs),
        **_optional(extras, "resources", merge_resources),
        **_optional(extras, "programs", merge_programs),
        **_optional(extras, "axes", merge_axes),
        **({"differences": merge_differences(differences, verdicts)} if differences else {}),
        **_budget(items),
        "timing": {
            "operations": sum(item.get("operations", 0) for item in items),
            "saver_s": round(sum(item.get("saver_s", 0.0) for item in items), 3),
            "total_s": round(sum(item.get("total_s", 0.0) for item in items), 3),
        },
        "stale": [entry for item in items for entry in item.get("stale", [])],
    }


def _verdicts(contracts: Iterable[Event]) -> dict[str, str]:
    return {contract["id"]: contract["verdict"] for contract in contracts}


def _budget(items: list[Event]) -> dict[str, Any]:
    """Return what the items were given, took and left out, if any had less time than it needed."""
    limited = [
        {"family": item["family"], "api": item["api"], **item["extra"]["budget"]}
        for item in items
        if (item.get("extra") or {}).get("budget")
    ]
    return {"budget": limited} if limited else {}


def _optional(
    extras: list[Any], name: str, merge: Callable[[Iterable[Event]], dict[str, Any]]
) -> dict[str, Any]:
    """Return a section that some items have, if any item has it."""
    parts = [extra[name] for extra in extras if extra.get(name)]
    return {name: merge(parts)} if parts else {}


def _contract(
    contract: Event,
    saver: Event,
    items: list[Event],
    unreported: list[tuple[str, str]],
    versions: Mapping[str, str],
    *,
    hides: bool = False,
) -> dict[str, Any]:
    """Return a contract with its verdict. A contract that ``hides`` a must counts as selected, even
    if the run did not ask for it.
    """
    identity, family = contract["id"], contract["family"]
    evidence = Evidence(inapplicable=contract.get("reason"))
    evidence.selected = hides or contract.get("selected", True)
    evidence.unreported = [api for planned, api in unreported if planned == family]
    evidence.ran = hides or any(
        item["family"] == family and _is_shown_by(contract, item["api"]) for item in items
    )
    for item in items:
        evidence.count(item, identity)
        if _is_shown_by(contract, item["api"]):
            evidence.excuse(item, identity)
    found = [
        (item, one) for item in items for one in item.get("findings", ()) if _is_of(one, identity)
    ]
    if not found and evidence.is_judged:
        found = list(_handed(items, identity))
    # The first violation is the one that the first screen tells.
    found.sort(key=lambda pair: is_of_another(pair[1], identity))
    violations = [_violation(one, item, saver, versions) for item, one in found]
    verdict, reason = decide(evidence, violations)
    return {
        **contract,
        "selected": evidence.selected and reason != NOT_SELECTED,
        "verdict": verdict,
        "reason": reason,
        "checked": evidence.checked,
        "violations": violations,
    }


def _is_shown_by(contract: Event, api: str) -> bool:
    return "apis" not in contract or api in contract["apis"]


def _is_of(finding: Event, contract: str) -> bool:
    return bool(finding["contract"] == contract)


def _handed(items: Iterable[Event], contract: str) -> Iterator[tuple[Event, Event]]:
    """Yield the violations of a contract that items of other families saw, each with its item.

    Of each API it is the one with the fewest steps.
    """
    plainest: dict[str, tuple[Event, Event]] = {}
    for item in items:
        for one in item.get("handed", ()):
            known = plainest.get(one["api"])
            if _is_of(one, contract) and (known is None or _length(one) < _length(known[1])):
                plainest[one["api"]] = item, {**one, "seen_by": item["family"]}
    yield from plainest.values()


def _length(finding: Event) -> int:
    return len(finding.get("steps", ()))


def _seen_beside(items: Iterable[Event], contracts: Iterable[Event]) -> dict[str, str]:
    """Return the contracts that the run is not about and that items saw broken, as violated.

    They have no verdict of their own, and settle what other items left open all the same.
    """
    handed = {one["contract"] for item in items for one in item.get("handed", ())}
    return {
        one["id"]: "violated"
        for one in contracts
        if one["id"] in handed and not one["selected"] and not one["violations"]
    }


def _beside(
    saver: Event, items: list[Event], contracts: Iterable[Event], versions: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield the violations of contracts that the run is not about."""
    for contract in contracts:
        if not contract["selected"] and not contract["violations"]:
            for item, one in _handed(items, contract["id"]):
                yield {"contract": contract["id"], **_violation(one, item, saver, versions)}


def _violation(
    finding: Event, item: Event, saver: Event, versions: Mapping[str, str]
) -> dict[str, Any]:
    violation = {key: finding[key] for key in _VIOLATION if finding.get(key) is not None}
    violation["reproducer_source"] = finding.get("reproducer") or ""
    if finding.get("program") is not None:
        violation["artefact_data"] = artefact(
            contract=finding["contract"],
            saver=saver["saver"]["name"],
            target=saver.get("target") or saver["saver"]["name"],
            versions=versions,
            api=finding["api"],
            phase=finding["phase"],
            seed=item.get("seed", 0),
            program=finding["program"],
            fault_plan=finding.get("fault_plan"),
            schedule=finding.get("schedule"),
            summary=finding["summary"],
            steps=finding.get("steps", ()),
            steady=is_steady(finding),
        )
    return violation
