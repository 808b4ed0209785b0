"""The findings of a run as SARIF 2.1.0, which GitHub's code scanning and editors show."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from saverproof_reports.markup import web
from saverproof_reports.mending import FIX, MATTERS, fix_of
from saverproof_reports.unsettled import heading

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_NO_FILE = "pyproject.toml"
"""The file at which a finding is shown if its saver has none in the project: each result needs a
place.
"""


def sarif(report: Mapping[str, Any]) -> str:
    """Return the findings of ``report`` as SARIF, ending in a newline.

    A broken must is an error, one that is unsettled or excused by a baseline a warning, advice a
    note; what the author lists as known is suppressed, with the reason.
    """
    results = [result for judged in report["savers"] for result in _results(judged)]
    ids = list(dict.fromkeys(result["ruleId"] for result in results))
    for result in results:
        result["ruleIndex"] = ids.index(result["ruleId"])
    driver = {
        "name": "saverproof",
        "version": report["environment"]["packages"].get("saverproof", ""),
        "informationUri": "https://saverproof.github.io/saverproof/",
        "rules": [_rule(_first(report, name)) for name in ids],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    whole = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(whole, ensure_ascii=True, indent=1) + "\n"


def _first(report: Mapping[str, Any], contract: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    return next(
        (judged, one)
        for judged in report["savers"]
        for one in judged["contracts"]
        if one["id"] == contract and (one["violations"] or "unsettled" in one)
    )


def _rule(found: tuple[Mapping[str, Any], Mapping[str, Any]]) -> dict[str, Any]:
    judged, contract = found
    texts = [(MATTERS, contract.get("matters")), (FIX, fix_of(judged, contract))]
    said = [f"{name}: {text}" for name, text in texts if text] or [contract["statement"]]
    page = web(contract.get("page") or contract.get("link"))
    return {
        "id": contract["id"],
        "shortDescription": {"text": contract["statement"]},
        "help": {"text": "\n\n".join(said)},
        **({"helpUri": page} if page else {}),
        "properties": {"tags": [contract["family"], contract["level"]]},
    }


def _results(judged: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    saver = judged["saver"]["name"]
    for contract in judged["contracts"]:
        for violation in contract["violations"]:
            level = "note" if contract["level"] == "should" else "error"
            level = "warning" if level == "error" and violation.get("baseline") else level
            result = _result(judged, contract, level, f"{saver}: {violation['summary']}")
            result["partialFingerprints"] = {
                "saverproof/1": f"{saver} {contract['id']} {violation['api']} {violation['phase']}"
            }
            result["properties"] = {key: violation[key] for key in ("api", "phase", "steps")}
            if known := violation.get("known"):
                result["suppressions"] = [{"kind": "external", "justification": known["reason"]}]
            yield result
        if "unsettled" in contract:
            said = f"{saver}: {heading([contract])}"
            fails = contract["unsettled"]["fails"]
            yield _result(judged, contract, "error" if fails else "warning", said)


def _result(
    judged: Mapping[str, Any], contract: Mapping[str, Any], level: str, said: str
) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": _file_of(judged)}, "region": {"startLine": 1}}
    return {
        "ruleId": contract["id"],
        "level": level,
        "message": {"text": f"{said}. Promised: {contract['statement']}"},
        "locations": [{"physicalLocation": place}],
    }


def _file_of(judged: Mapping[str, Any]) -> str:
    """Return the file of the target, relative to the project, or a file that any project has."""
    target = judged["saver"].get("target") or ""
    file = target.rpartition(":")[0] if ":" in target else target
    # An address cannot climb out of the project.
    inside = file.endswith(".py") and not file.startswith(("/", ".."))
    return file.replace("\\", "/") if inside else _NO_FILE
