"""The process that the trials of a target are forked from, kept from one item to the next.

Starting it takes as long as dozens of trials: it imports LangGraph. It opens no saver, so nothing
of one item can reach the next one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from saverproof.items import Plan
from saverproof.process.scratch import in_memory
from saverproof_faults.kill import Harness

_MODULE = "saverproof_trials_of_this_target"


class _Kept:
    """The harness that is kept, and for which plans."""

    wanted = False
    harness: Harness | None = None
    key = ""


def keep_harness() -> None:
    """From now on, have this process keep the harness of an item for those that follow."""
    _Kept.wanted = True


def release_harness() -> None:
    """End the harness that is kept, if there is one, and keep none any more."""
    _Kept.wanted = False
    _end()


@contextmanager
def harness_for(plan: Plan) -> Iterator[Harness]:
    """A harness whose trials can open the plan's saver at once, through whichever API.

    Raises:
        HarnessError: it cannot be started.
    """
    if not _Kept.wanted:
        with _new(plan) as harness:
            yield harness
        return
    key = json.dumps([plan.target, sys.path])
    if _Kept.harness is None or not _Kept.harness.is_open or _Kept.key != key:
        _end()
        _Kept.harness, _Kept.key = _new(plan).__enter__(), key
    yield _Kept.harness


def _end() -> None:
    if _Kept.harness is not None:
        _Kept.harness.close()
        _Kept.harness = None


def _new(plan: Plan) -> Harness:
    folder = Path(plan.folder)
    scratch = folder / "preloading"
    scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    apis = [api for api, operations in plan.facts["operations"].items() if operations]
    arguments = json.dumps([dict(plan.target), apis, str(scratch)])
    source = (
        "import json\n"
        "from saverproof.families.concurrency import (\n"
        "    child, firstuse, iteration, lockheld, read_side_effects)\n"
        "from saverproof.families.durability import child, graph_child, power_child\n"
        "from saverproof.families.preloading import preload\n"
        f"preload(*json.loads({arguments!r}))\n"
    )
    (folder / f"{_MODULE}.py").write_text(source, encoding="utf-8")
    return Harness(imports=[_MODULE], path=[*sys.path, str(folder)], scratch=in_memory())
