"""Assemble a whole report from the results of a run."""

from collections.abc import Iterable, Mapping
from typing import Any

from saverproof_reports.causes import causes
from saverproof_reports.summary import summarise
from saverproof_reports.text import harmless, harmless_data, one_line, slug

SCHEMA = "saverproof-report/1"
_SOURCE_LIMIT = 65536
"""Most characters of a script: far longer than any that the kit writes."""
_NAME_LIMIT = 100
"""Most characters of a saver's name, which stands in headings and in names of files."""

_SECTIONS: dict[str, dict[str, Any]] = {
    "faults": {"points": 0, "injected": 0, "by_kind": {}},
    "crash": {
        "trials": 0,
        "kill_points": {},
        "recovery_ms": {"p50": 0, "p99": 0},
        "lost": 0,
        "torn": 0,
    },
    "power": {"images": 0, "lost_acknowledged_max": 0, "corrupt": 0},
    "timing": {"operations": 0, "saver_s": 0.0, "total_s": 0.0},
}


def assemble(
    environment: Mapping[str, Any],
    run: Mapping[str, Any],
    savers: Iterable[Mapping[str, Any]],
    complete: bool,
) -> dict[str, Any]:
    """Make a report, as ``schema/report-1.json`` describes it, from plain data of any content.

    Each of ``savers`` has ``saver`` and ``contracts``. Other sections are filled in if they are
    missing, and ``summary`` is counted here. A violation may carry ``reproducer_source``, the text
    of a script, and ``artefact_data`` (see ``artefact``): it then gets the paths to which
    ``write_report`` writes them. ``artefact_data`` is kept exactly, and leaves the report when it
    is written; everything else is made harmless and cut.
    """
    names: set[str] = set()
    return {
        "schema": SCHEMA,
        "complete": complete,
        "environment": harmless_data(environment),
        "run": harmless_data(run),
        "savers": [_judged(judged, names) for judged in savers],
    }


def _judged(judged: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    rest = {key: value for key, value in judged.items() if key != "contracts"}
    whole: dict[str, Any] = harmless_data(rest)
    whole["saver"] = harmless_data(judged["saver"], 2 * _NAME_LIMIT)
    whole["saver"]["name"] = one_line(judged["saver"]["name"], _NAME_LIMIT)
    saver = whole["saver"]["name"]
    contracts = [_contract(contract, saver, names) for contract in judged["contracts"]]
    beside = [_violation(one, saver, one["contract"], names) for one in judged.get("beside", ())]
    whole |= {"beside": beside} if beside else {}
    return {
        "saver": whole.pop("saver"),
        "summary": summarise(contracts),
        "contracts": contracts,
        "causes": causes(contracts),
        **{name: {**empty, **whole.pop(name, {})} for name, empty in _SECTIONS.items()},
        **{key: value for key, value in whole.items() if key not in ("summary", "causes")},
    }


def _contract(contract: Mapping[str, Any], saver: str, names: set[str]) -> dict[str, Any]:
    rest = {key: value for key, value in contract.items() if key != "violations"}
    checked = {"sync": 0, "async": 0, "crossed": 0, **contract.get("checked", {})}
    violations = [
        _violation(violation, saver, contract["id"], names)
        for violation in contract.get("violations", ())
    ]
    return {
        "since": None,
        "reason": None,
        **harmless_data(rest),
        "checked": checked,
        "violations": violations,
    }


def violation_name(saver: str, contract: str, api: str, phase: str) -> str:
    """Return the name of a violation's files, without their endings; several have it in common."""
    return f"{slug(saver, 30)}-{slug(contract)}-{slug(api)}-{slug(phase)}"


def _violation(
    violation: Mapping[str, Any], saver: str, contract: str, names: set[str]
) -> dict[str, Any]:
    exact = ("reproducer_source", "artefact_data")
    whole = harmless_data({key: value for key, value in violation.items() if key not in exact})
    name = _unused(violation_name(saver, contract, violation["api"], violation["phase"]), names)
    source, artefact = violation.get("reproducer_source"), violation.get("artefact_data")
    result = {"reproducer": None, "artefact": None, **whole}
    if source:
        result["reproducer"] = f"reproducers/{name}.py"
        result["reproducer_source"] = harmless(source, _SOURCE_LIMIT)
    if artefact:
        result["artefact"] = f"artefacts/{name}.json"
        result["artefact_data"] = artefact
    return result


def _unused(name: str, names: set[str]) -> str:
    candidate, number = name, 1
    while candidate in names:
        number += 1
        candidate = f"{name}-{number}"
    names.add(candidate)
    return candidate
