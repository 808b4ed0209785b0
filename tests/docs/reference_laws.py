"""What the savers cost that charts show beside any other: reports/saverproof_reports/
reference_laws.json.

``python -m tests.docs.reference_laws`` judges them and writes it anew, a law in each line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.docs.costs import ROOT, judged

FILE = ROOT / "reports" / "saverproof_reports" / "reference_laws.json"
NAMES: Mapping[str, str] = {"sqlite": "bundled SqliteSaver", "memory": "InMemorySaver"}
"""Target -> what it is called in charts."""
HOW = ("--saver-profile=default", "--saver-api=sync")
"""By the sizes of most runs."""
KEPT = ("question", "item", "witness", "order", "sizes", "counts")


def laws_of(saver: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what of a saver's laws is shipped."""
    return [{key: law[key] for key in KEPT} for law in saver["cost"]["laws"]]


def written(savers: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the file."""
    told = []
    for name, saver in savers.items():
        laws = ",\n".join(json.dumps(law) for law in laws_of(saver))
        head = f'"name": {json.dumps(NAMES[name])}, "class": "{saver["saver"]["class"]}"'
        told.append(f'{{{head}, "laws": [\n{laws}\n]}}')
    return f"[{', '.join(told)}]\n"


if __name__ == "__main__":
    FILE.write_text(written({name: judged(name, HOW) for name in NAMES}), "utf-8")
