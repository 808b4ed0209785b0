"""Draw broken musts by seed, and keep what came of it when each was judged anew."""

from __future__ import annotations

import json
import random

from field_packages import Release
from field_page import newest, savers
from field_results import DRAWN, Result, drawn


def draw(count: int, seed: int) -> list[tuple[Release, list[str]]]:
    """Return ``count`` of the broken musts on the page, by release, and forget those of before."""
    accused = [
        (one.release, finding.id)
        for one in newest([each for each in savers() if each.judged])
        for finding in one.findings
    ]
    chosen = random.Random(seed).sample(accused, min(count, len(accused)))
    found: dict[Release, list[str]] = {}
    for release, contract in chosen:
        found.setdefault(release, []).append(contract)
    _write([])
    return list(found.items())


def note(release: Release, contract: str, seed: int, status: int | None) -> None:
    """Add what the script of a drawn must did: 1 if it showed it, None if there was none to run."""
    row = {"saver": release.stem, "contract": contract, "seed": seed, "script": status}
    _write([*drawn(), row])


def _write(rows: list[Result]) -> None:
    DRAWN.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
