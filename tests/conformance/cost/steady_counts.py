"""Counts of what operations cost are equal in ten runs, five of them on a busy machine.

``python -m tests.conformance.cost.steady_counts`` (``make steady``) judges savers by the command
line, a run at a time in processes of its own, and ends with 1 if any verdict or series of counts
differs between runs. Names of savers after it have those judged alone. A run takes from ten
seconds to a minute for each saver; with ``--keep FOLDER`` what was seen stays there, and the same
command goes on where it was ended.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from tests.docs.costs import judged

from saverproof.families.cost.witnesses import WITNESSES
from saverproof.families.laws import GrowthOrder

SAVERS = (
    *("sqlite", "memory", "langgraph-sqlite", "langgraph-sqlite-async", "sqlite-snapshot"),
    *("lmdb", "objectstorage", "plainredis", "langgraph-postgres", "langgraph-mysql"),
)
HOW = ("--saver-profile=quick",)
RUNS, BUSY = 10, 4
HURRY = 5
"""Bytes that psycopg sends more for a pipeline that ends before the server has answered."""
BLOCKS = WITNESSES["blocks"].slack
"""Blocks that PostgreSQL may read more or fewer: it clears away dead entries of its indexes when it
comes by. No law takes so few for a difference.
"""
STEPS = {"kept": 32_768, "memory": WITNESSES["memory"].grain}
"""Bytes of the steps in which it is told what Python holds, in all and for an answer: what lies at
the edge of one, give or take a few hundred bytes of frames, may be told as either.
"""
NO_GROWTH = {GrowthOrder.CONSTANT.value, GrowthOrder.LOGARITHMIC.value}
"""The laws that no contract takes for growth: one step more or less makes one of the other."""
_NAMES = ("api", "contract", "question", "item", "witness")
_TOLD = ("sizes", "counts", "order")

Seen = Mapping[str, str]
"""What was judged or counted -> what came of it, both as texts."""


def seen_of(saver: Mapping[str, Any]) -> Seen:
    """Return the verdicts and all series of counts of a judged saver."""
    counts = {
        " / ".join(str(law[key]) for key in _NAMES): json.dumps([law[key] for key in _TOLD])
        for law in saver["cost"]["laws"]
    }
    asked = [each for each in saver["contracts"] if each["selected"]]
    return {**counts, **{each["id"]: str(each["verdict"]) for each in asked}}


def differing(runs: Sequence[Seen]) -> dict[str, list[str]]:
    """Return what is not the same in all runs, with what each run has."""
    seen: defaultdict[str, list[str]] = defaultdict(list)
    for name in {name: None for run in runs for name in run}:
        seen[name] = [run.get(name, "missing") for run in runs]
    return {name: told for name, told in seen.items() if len({*told}) > 1}


def is_known(name: str, told: Sequence[str]) -> bool:
    """Return whether runs differ by no more than a hurry, a few blocks or one step of memory."""
    witness = name.rpartition(" / ")[2]
    few = {"written": HURRY, "blocks": BLOCKS}
    if "missing" in told or witness not in {*few, *STEPS}:
        return False
    sizes, counts, orders = zip(*map(json.loads, told), strict=True)
    apart = [max(at_size) - min(at_size) for at_size in zip(*counts, strict=True)]
    if len({*map(tuple, sizes)}) > 1:
        return False
    if witness in few:
        return len({*orders}) == 1 and max(apart) <= few[witness]
    step = STEPS[witness]
    in_steps = all(count % step == 0 for each in counts for count in each)
    alike = len({*orders}) == 1 or NO_GROWTH.issuperset(orders)
    return alike and in_steps and max(apart) <= step


_LOOP = "import os\nwhile os.getppid() == {parent}: pass"
"""A loop ends with this process, however that comes."""


@contextmanager
def busy_machine() -> Iterator[None]:
    """Loops that want all of the processor, until the block ends."""
    loop = [sys.executable, "-c", _LOOP.format(parent=os.getpid())]
    loops = [subprocess.Popen(loop) for _ in range(BUSY)]
    try:
        yield
    finally:
        for each in loops:
            each.kill()
            each.wait()


def run_of(saver: str, number: int, kept: Path) -> Seen:
    """Return what one run saw, from the file of an earlier call if there is one."""
    if not kept.is_file():
        beside: Any = busy_machine() if number > RUNS // 2 else nullcontext()
        with beside:
            seen = seen_of(judged(saver, HOW))
        kept.write_text(json.dumps(seen), "utf-8")
    found: Seen = json.loads(kept.read_text("utf-8"))
    return found


def compared(saver: str, folder: Path) -> Counter[str]:
    """Judge a saver ten times; return how much was "seen", and how much of it "differs"."""
    runs: list[Seen] = []
    found: dict[str, list[str]] = {}
    for number in range(1, RUNS + 1):
        runs.append(run_of(saver, number, folder / f"{saver}-{number}.json"))
        found = differing(runs)
        _say(f"{saver}: run {number} of {RUNS}: {len(runs[0])} verdicts and series, ")
        _say(f"{len(found)} differ\n")
    known = {name for name, told in found.items() if is_known(name, told)}
    for name in found.keys() - known:
        _say("\n    ".join([f"{saver}: {name}", *found[name]]) + "\n")
    everything = {name for run in runs for name in run}
    return Counter(seen=len(everything), differs=len(found.keys() - known), known=len(known))


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def main(given: Sequence[str]) -> int:
    """Compare; return the exit status."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("savers", nargs="*", default=SAVERS)
    parser.add_argument("--keep", type=Path, help="where what was seen stays")
    asked = parser.parse_args(given)
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        counted = sum((compared(saver, folder) for saver in asked.savers), Counter[str]())
    seen, differs = counted["seen"], counted["differs"]
    told = f"{seen - differs} of {seen} verdicts and series of counts are equal in {RUNS} runs"
    _say(f"{', '.join(asked.savers)}: {told}, {RUNS // 2} of them beside {BUSY} busy loops")
    known = counted["known"]
    _say(
        f" ({known} but for a message that hurries a server, blocks that it clears, or one step "
        "of memory)\n"
        if known
        else "\n"
    )
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
