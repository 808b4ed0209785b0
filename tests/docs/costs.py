"""The table of docs/cost.md: what the family ``cost`` says of released savers.

``python -m tests.docs.costs`` (``make costs``) judges them and writes it anew. It needs the servers
of the tests, and takes minutes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "cost.md"
MARKED = re.compile(r"(?<=<!-- costs -->\n).*?(?=<!-- end of costs -->)", flags=re.DOTALL)
SAVERS = (
    *("memory", "sqlite", "sqlite-snapshot", "langgraph-sqlite"),
    *("langgraph-postgres", "langgraph-mysql", "plainredis", "lmdb"),
)
HOW = ("--saver-families=cost", "--saver-profile=quick", "--saver-api=sync", "--saver-budget=30m")
WORDS = {
    "held": "held",
    "violated": "grows",
    "unknown": "?",
    "not-exercised": "?",
    "not-applicable": "·",
}
"""Verdict -> what stands in the table."""
MUST = "**must**"
"""What stands there for a broken must; most of the family is advice."""


def table(savers: Sequence[Mapping[str, Any]]) -> str:
    """Return the table as Markdown: a contract in each row, a saver in each column."""
    verdicts = [
        {one["id"]: _in_a_word(one) for one in saver["contracts"] if one["family"] == "cost"}
        for saver in savers
    ]
    rows = [["", *(saver["saver"]["name"] for saver in savers)], ["---"] * (len(savers) + 1)]
    rows += [[f"`{name}`", *(one[name] for one in verdicts)] for name in verdicts[0]]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _in_a_word(contract: Mapping[str, Any]) -> str:
    broken = contract["verdict"] == "violated"
    return MUST if broken and contract["level"] == "must" else WORDS[contract["verdict"]]


def judged() -> list[dict[str, Any]]:
    """Return what a report says of the savers, in the order of ``SAVERS``.

    Raises:
        SystemExit: the run wrote no report; the text is what it printed.
    """
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider"),
                *(f"--saver={name}" for name in SAVERS),
                *HOW,
                "--saver-report=report",
            ],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        report = Path(folder, "report", "report.json")
        if not report.is_file():
            raise SystemExit(done.stdout + done.stderr)
        found = {one["saver"]["name"]: one for one in json.loads(report.read_text())["savers"]}
    return [found[name] for name in SAVERS]


if __name__ == "__main__":
    made = table(judged())
    PAGE.write_text(MARKED.sub(lambda _: made, PAGE.read_text("utf-8")), "utf-8")
