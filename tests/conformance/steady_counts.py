"""Counts of what operations cost are equal in ten runs, five of them on a busy machine.

``python -m tests.conformance.steady_counts`` judges by the command line, each time in processes of
its own, tells each series that differs, and ends with 1 if there is one. It takes ten minutes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeAlias

SAVERS = ("sqlite", "memory", "langgraph-sqlite", "langgraph-sqlite-async", "sqlite-snapshot")
RUNS, BUSY = 10, 4
_NAMES = ("api", "contract", "question", "item", "witness")
_TOLD = ("sizes", "counts", "order")

Series: TypeAlias = tuple[str, ...]


def judged(folder: Path, savers: tuple[str, ...] = SAVERS) -> dict[Series, str]:
    """The verdicts and all series of counts of one run."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    options = ["--saver-families=cost", "--saver-profile=quick", f"--saver-report={folder}"]
    chosen = [f"--saver={name}" for name in savers]
    ended = subprocess.run(
        [*command, *options, *chosen], cwd=folder, capture_output=True, check=False
    )
    written = folder / "report.json"
    if not written.is_file():
        raise SystemExit(f"no report was written:\n{ended.stdout.decode()}{ended.stderr.decode()}")
    report = json.loads(written.read_text("utf-8"))
    found: dict[Series, str] = {}
    for saver in report["savers"]:
        name = saver["saver"]["target"]
        found |= {
            (name, *(str(law[key]) for key in _NAMES)): str([law[key] for key in _TOLD])
            for law in saver["cost"]["laws"]
        }
        asked = [each for each in saver["contracts"] if each["selected"]]
        found |= {(name, each["id"]): str(each["verdict"]) for each in asked}
    return found


def differing(runs: list[dict[Series, str]]) -> dict[Series, list[str]]:
    """The series that are not the same in all runs, with what each run has."""
    seen: defaultdict[Series, list[str]] = defaultdict(list)
    for name in {name: None for run in runs for name in run}:
        seen[name] = [run.get(name, "missing") for run in runs]
    return {name: told for name, told in seen.items() if len({*told}) > 1}


@contextmanager
def busy_machine() -> Iterator[None]:
    """Loops that want all of the processor, until the block ends."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def main() -> int:
    """Compare; the exit status."""
    runs: list[dict[Series, str]] = []
    for number in range(RUNS):
        beside: Any = busy_machine() if number >= RUNS // 2 else nullcontext()
        with beside, tempfile.TemporaryDirectory() as folder:
            runs.append(judged(Path(folder)))
    found = differing(runs)
    for name, told in found.items():
        sys.stdout.write("\n    ".join([" / ".join(name), *told, ""]))
    said = f"{len(runs[0])} verdicts and series of counts, {len(found)} differ in {RUNS} runs\n"
    sys.stdout.write(said)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
