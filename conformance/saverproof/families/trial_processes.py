"""The process that the trials of a target are forked from, kept from one item to the next.

Starting it takes as long as dozens of trials, because it imports LangGraph. It opens no saver, so
nothing of one item can reach the next.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from saverproof.families.items import ItemPlan
from saverproof.families.preloading import preload
from saverproof.process.heartbeat import beating
from saverproof.process.scratch import in_memory
from saverproof_faults.kill import Harness

_MODULE = "saverproof_trials_of_this_target"


class _Kept:
    """The kept harness, and the plans that it suits. None is kept while ``children`` is empty."""

    children: tuple[ModuleType, ...] = ()
    harness: Harness | None = None
    key = ""


def keep_harness(children: Iterable[ModuleType]) -> None:
    """Keep the harness of an item for the items that follow, from now on.

    ``children`` are the modules, of all families, whose functions run in trials.
    """
    _Kept.children = tuple(children)


def release_harness() -> None:
    """End the kept harness, if there is one, and stop keeping any."""
    _Kept.children = ()
    _end()


@contextmanager
def harness_for(plan: ItemPlan, children: Iterable[ModuleType]) -> Iterator[Harness]:
    """Yield a harness whose trials can open the plan's saver at once, through any API.

    Trials run functions of the modules ``children``. Signs of life are given until the block ends.

    Raises:
        HarnessError: the harness cannot be started.
    """
    Path(plan.folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    with beating():
        if not _Kept.children:
            with _new(plan, children) as harness:
                yield harness
            return
        key = json.dumps([plan.target, sys.path])
        if _Kept.harness is None or not _Kept.harness.is_open or _Kept.key != key:
            _end()
            _Kept.harness, _Kept.key = _new(plan, _Kept.children).__enter__(), key
        yield _Kept.harness


def _end() -> None:
    if _Kept.harness is not None:
        _Kept.harness.close()
        _Kept.harness = None


def _new(plan: ItemPlan, children: Iterable[ModuleType]) -> Harness:
    folder = Path(plan.folder)
    scratch = folder / "preloading"
    scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    apis = [api for api, operations in plan.facts["operations"].items() if operations]
    arguments = json.dumps([dict(plan.target), apis, str(scratch)])
    source = (
        f"import json, {', '.join(module.__name__ for module in children)}\n"
        f"from {preload.__module__} import {preload.__name__}\n"
        f"{preload.__name__}(*json.loads({arguments!r}))\n"
    )
    (folder / f"{_MODULE}.py").write_text(source, encoding="utf-8")
    return Harness(imports=[_MODULE], path=[*sys.path, str(folder)], scratch=in_memory())
