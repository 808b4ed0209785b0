"""The table of docs/cost.md: what the family ``cost`` says of released savers.

``python -m tests.docs.costs`` (``make costs``) judges them one after the other, and writes the
column of each when it is known; ``python -m tests.docs.costs plainredis lmdb`` judges those alone.
It needs the servers of the tests and objectstorage, and takes ten minutes. It ends with 1 if there
is no script for what a saver is accused of.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from saverproof.contracts.registry import contracts

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "cost.md"
MARKED = re.compile(r"(?<=<!-- costs -->\n).*?(?=<!-- end of costs -->)", flags=re.DOTALL)
SAVERS = (
    *("memory", "sqlite", "sqlite-snapshot", "langgraph-sqlite"),
    *("langgraph-postgres", "langgraph-mysql", "plainredis", "objectstorage", "lmdb"),
)
OF_THE_FIELD = {"objectstorage": "targets.objectstorage:objectstorage"}
"""Targets that are not shipped: they are found in ``field``."""
HOW = ("--saver-profile=quick", "--saver-api=sync", "--saver-budget=30m")
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

Verdicts = Mapping[str, str]
"""Contract -> what stands in the table, of one saver."""


def judged(name: str, how: Sequence[str]) -> dict[str, Any]:
    """Return what a report says of a saver.

    Raises:
        SystemExit: the run wrote no report; the text is what it printed.
    """
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider"),
                *(f"--saver={OF_THE_FIELD.get(name, name)}", "--saver-families=cost"),
                *(*how, "--saver-report=report"),
            ],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT / "field")},
            capture_output=True,
            text=True,
            check=False,
        )
        report = Path(folder, "report", "report.json")
        if not report.is_file():
            raise SystemExit(done.stdout + done.stderr)
        (saver,) = json.loads(report.read_text("utf-8"))["savers"]
    return dict(saver)


def verdicts_of(saver: Mapping[str, Any]) -> Verdicts:
    """Return the column of a saver."""
    return {one["id"]: _in_a_word(one) for one in saver["contracts"] if one["family"] == "cost"}


def _in_a_word(contract: Mapping[str, Any]) -> str:
    broken = contract["verdict"] == "violated"
    return MUST if broken and contract["level"] == "must" else WORDS[contract["verdict"]]


def without_script(saver: Mapping[str, Any]) -> list[str]:
    """Return the contracts that a saver is said to break, without a script that shows it."""
    return [
        one["id"]
        for one in saver["contracts"]
        if any(not violation["reproducer"] for violation in one["violations"])
    ]


def table(columns: Mapping[str, Verdicts]) -> str:
    """Return the table as Markdown: a contract in each row, a saver in each column."""
    rows = [["", *SAVERS], ["---"] * (len(SAVERS) + 1)]
    for contract in contracts("cost"):
        told = [columns.get(name, {}).get(contract.id, "") for name in SAVERS]
        rows.append([f"`{contract.id}`", *told])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def columns_of(page: str) -> dict[str, Verdicts]:
    """Return the columns of the table that stands on a page."""
    found = MARKED.search(page)
    assert found is not None
    head, _, *rows = [
        [cell.strip(" `") for cell in line.split("|")[1:-1]] for line in found[0].splitlines()
    ]
    return {
        name: {row[0]: row[place] for row in rows} for place, name in enumerate(head[1:], start=1)
    }


def main(names: Sequence[str]) -> int:
    """Judge savers, and write what is known after each; return the exit status."""
    unshown = []
    for name in names or SAVERS:
        saver = judged(name, HOW)
        verdicts, lacking = verdicts_of(saver), without_script(saver)
        page = PAGE.read_text("utf-8")
        made = table({**columns_of(page), name: verdicts})
        PAGE.write_text(MARKED.sub(lambda _, made=made: made, page), "utf-8")  # type: ignore[misc]
        accused = [id for id, word in verdicts.items() if word in (MUST, WORDS["violated"])]
        sys.stdout.write(f"{name}: breaks {', '.join(accused) or 'nothing'}\n")
        sys.stdout.flush()
        unshown += [f"{name} {contract}" for contract in lacking]
    sys.stdout.write(f"without a script: {', '.join(unshown) or 'none'}\n")
    return 1 if unshown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
