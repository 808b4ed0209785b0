"""The results of the field report: of each run only what the page needs, small enough to keep."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from typing import Any

from field_packages import FIELD, Release

from saverproof_reports.wording import left_out_phrase, saver_sentence

RESULTS = FIELD / "results"
DRAWN = FIELD / "drawn.json"
_SHOWN = 160
"""Characters of what was expected and observed that a result keeps."""

Result = dict[str, Any]


def reduced(
    report: Mapping[str, Any], release: Release, scripts: Mapping[str, int | None] | None = None
) -> Result:
    """Return what the page needs of a report.

    ``scripts`` has, for broken musts, the exit status of the script that shows it; None where
    there is no script.
    """
    (judged,) = report["savers"]
    installed = report["environment"]["packages"]
    return {
        **_of(release),
        "class": judged["saver"]["class"],
        "code": f"{judged['saver']['distribution']} {judged['saver']['version']}",
        "api": release.api,
        "kit": installed["saverproof"],
        "langgraph-checkpoint": installed["langgraph-checkpoint"],
        "python": report["environment"]["python"],
        "profile": report["run"]["profile"],
        "budget_s": report["run"].get("budget_s"),
        "seconds": round(report["run"]["duration_s"]),
        "sentence": saver_sentence(judged),
        "left_out": left_out_phrase(judged),
        "beside": [*dict.fromkeys(one["contract"] for one in judged.get("beside", ()))],
        "broken": [
            _broken(one, scripts or {})
            for one in judged["contracts"]
            if one["verdict"] == "violated"
        ],
        "others": _others(judged["contracts"]),
    }


def _broken(contract: Mapping[str, Any], scripts: Mapping[str, int | None]) -> dict[str, Any]:
    first = contract["violations"][0]
    found = {
        "id": contract["id"],
        "level": contract["level"],
        "apis": sorted({violation["api"] for violation in contract["violations"]}),
        "seen": first["summary"],
        "expected": _short(first["expected"]),
        "observed": _short(first["observed"]),
    }
    if contract["id"] in scripts:
        found["script"] = scripts[contract["id"]]
    return found


def _others(contracts: list[Mapping[str, Any]]) -> dict[str, dict[str, list[str]]]:
    """Return the contracts that are not broken, by level and verdict."""
    found: dict[str, dict[str, list[str]]] = {"must": {}, "should": {}}
    for one in contracts:
        if one["verdict"] != "violated":
            found[one["level"]].setdefault(one["verdict"], []).append(one["id"])
    return found


def _short(text: str) -> str:
    return textwrap.shorten(text, _SHOWN, placeholder=" …")


def failure(release: Release, step: str, said: str, seconds: float) -> Result:
    """Return the result of a release that could not be judged: which step failed, and its words."""
    return {
        **_of(release),
        "seconds": round(seconds),
        "failed": {"step": step, "said": _short(said)},
    }


def _of(release: Release) -> Result:
    return {
        "name": release.name,
        "distribution": release.distribution,
        "version": release.version,
        "target": release.target,
    }


def write(result: Result) -> str:
    """Write a result to its file, and return its name."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{result['name']}-{result['version']}.json"
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return path.name


def results() -> list[Result]:
    """Return every result, by name, the newest release first."""
    found: list[Result] = [json.loads(path.read_text("utf-8")) for path in RESULTS.glob("*.json")]
    in_order = sorted(found, key=lambda one: _release(one["version"]), reverse=True)
    return sorted(in_order, key=lambda one: str(one["name"]))


def drawn() -> list[Result]:
    """Return the broken musts that were drawn last, each with the status of its script."""
    if not DRAWN.exists():
        return []
    found: list[Result] = json.loads(DRAWN.read_text("utf-8"))
    return found


def _release(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]
