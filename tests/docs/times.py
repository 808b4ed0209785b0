"""The table of docs/time.md, from the estimates that a run's header states.

``python -m tests.docs.times`` writes it anew.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

from saverproof.contracts.registry import TABLES
from saverproof.savers.facts import Facts
from saverproof.suite.timing import in_words, time_plan

PAGE = Path(__file__).parents[2] / "docs" / "time.md"
MARKED = re.compile(r"(?<=<!-- times -->\n).*?(?=<!-- end of times -->)", flags=re.DOTALL)
PROFILES = ("quick", "default", "deep")
SPEEDS = {"local": (0.1, 2.0), "near": (2.0, 30.0), "far": (20.0, 200.0)}
"""What a saver is called here -> milliseconds of a call and of an opening."""


def table() -> str:
    """The table as Markdown: a row for each profile."""
    speeds = [f"{name}, {count}" for name in SPEEDS for count in ("one", "two")]
    rows = [["profile", *speeds], ["---", *["--:"] * len(speeds)]]
    for profile in PROFILES:
        times = [told(profile, speed, workers) for speed in SPEEDS for workers in (1, 2)]
        rows.append([profile, *times])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def told(profile: str, speed: str, workers: int) -> str:
    """How long a saver of that speed takes in all families through both APIs, in words."""
    call_ms, opens_ms = SPEEDS[speed]
    facts = cast(Facts, {"call_ms": call_ms, "opens_ms": opens_ms})
    usual = (table for table in TABLES if not table.asks_for)
    items = [(table.name, api) for table in usual for api in table.apis(("sync", "async"))]
    return in_words(time_plan(facts, items, profile, None, workers).estimate_s)


if __name__ == "__main__":
    PAGE.write_text(MARKED.sub(lambda _: table(), PAGE.read_text("utf-8")), "utf-8")
