"""The verdict of a run as a badge: the JSON that shields.io reads from an address (endpoint)."""

import json
from collections.abc import Mapping
from typing import Any

from saverproof_reports.wording import run_standing

_COLOURS = {"good": "brightgreen", "open": "yellow", "bad": "red"}


def badge(report: Mapping[str, Any]) -> str:
    """Return the badge of ``report`` as JSON, ending in a newline.

    It is green only if every must that applies held, and faults reached the saver. Whatever was not
    judged, or is known to be broken, keeps it from being green.
    """
    musts = [judged["summary"]["must"] for judged in report["savers"]]
    apply, held, broken, known = (
        sum(must.get(name, 0) for must in musts for name in names)
        for names in (
            ("held", "violated", "known", "unknown", "not-exercised"),
            ("held",),
            ("violated",),
            ("known",),
        )
    )
    standing = run_standing(report)
    if standing == "good" and held < apply:
        standing = "open"
    if broken:
        message = f"breaks {broken} of {apply} musts"
    else:
        message = f"keeps {held} of {apply} musts" + (f", {known} known" if known else "")
    if not report["complete"]:
        message += ", cut short"
    names = [judged["saver"]["name"] for judged in report["savers"]]
    shown = {
        "schemaVersion": 1,
        "label": f"saverproof: {names[0]}" if len(names) == 1 else "saverproof",
        "message": message if apply else "nothing judged",
        "color": _COLOURS[standing] if apply else "lightgrey",
    }
    return json.dumps(shown, indent=1) + "\n"
