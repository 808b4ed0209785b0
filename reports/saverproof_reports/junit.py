"""Properties for JUnit XML, which CI servers show beside a test."""

from collections.abc import Mapping
from typing import Any

from saverproof_reports.text import one_line

Property = tuple[str, str]


def item_properties(item: Mapping[str, Any]) -> list[Property]:
    """Return the properties of one test item, from its ``item`` event (see ``events``)."""
    checked = item.get("checked", {})
    violated = dict.fromkeys(finding["contract"] for finding in item.get("findings", ()))
    return _properties(
        {
            "saver": item["saver"],
            "family": item["family"],
            "api": item["api"],
            "operations": item.get("operations", 0),
            "judged": sum(checked.values()),
            "contracts": sum(1 for times in checked.values() if times),
            "violated": ", ".join(violated),
            "unknown": ", ".join(item.get("unknown", {})),
        }
    )


def run_properties(report: Mapping[str, Any]) -> list[Property]:
    """Return the properties of the whole suite, from its report."""
    run, environment = report["run"], report["environment"]
    shared = {"profile": run["profile"], "seed": run["seed"], "python": environment["python"]}
    packages = {f"version.{name}": text for name, text in environment["packages"].items()}
    savers = {
        f"{judged['saver']['name']}.{level}.{verdict}": count
        for judged in report["savers"]
        for level, tally in judged["summary"].items()
        for verdict, count in tally.items()
        if count
    }
    return _properties({**shared, **packages, **savers})


def _properties(values: Mapping[str, object]) -> list[Property]:
    return [
        (f"saverproof.{one_line(name, 120)}", one_line(str(value), 1000))
        for name, value in values.items()
    ]
