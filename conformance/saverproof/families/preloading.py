"""What the process that trials are forked from imports: the target, what opening it needs, graphs.

What is not imported there, each of hundreds of processes imports by itself.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from saverproof.capability import Capability
from saverproof.execution.driver import driver_of
from saverproof.execution.settled_calls import Calls, perform
from saverproof.execution.view import listed_facts
from saverproof.families.graph.runner import Player
from saverproof.families.graph.scenarios import SCENARIOS, maker
from saverproof.programs.small import THREAD, unrelated
from saverproof.targets.calling import api_of
from saverproof.targets.loading import load
from saverproof.targets.opening import EventLoop, fresh_workspace, opened
from saverproof.targets.reference import TargetRef
from saverproof.targets.target import Target


def preload(target: Mapping[str, Any], apis: Sequence[str], scratch: str) -> None:
    """Import a target, and what it, and graphs, import only when they are used.

    A saver is not to be opened here, in the process that all others are forked from: a child
    opens it once, through each API, and tells what it had to import.
    """
    ref = TargetRef.from_json(target)
    load(ref)
    if not hasattr(os, "fork"):
        return
    for name in _imported_by_using(ref, apis, Path(scratch)):
        try:
            importlib.import_module(name)
        except Exception:  # noqa: BLE001 - a module may not be one to be imported by its name
            continue


def _imported_by_using(ref: TargetRef, apis: Sequence[str], scratch: Path) -> list[str]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            told = json.dumps(_used_once(ref, apis, scratch)).encode()
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(told)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    # A process that a saver ended has told nothing.
    names: list[str] = json.loads(answer) if answer else []
    return names


def _used_once(ref: TargetRef, apis: Sequence[str], scratch: Path) -> list[str]:
    before = set(sys.modules)
    target = load(ref)
    for api in apis:
        for use in (_open, _play):
            try:
                use(target, api, scratch)
            except Exception:  # noqa: BLE001 - what does not work is told of by the trials
                continue
    return sorted(set(sys.modules) - before)


def _open(target: Target, api: str, scratch: Path) -> None:
    with (
        EventLoop() as loop,
        fresh_workspace(scratch, target) as workspace,
        opened(target, workspace, loop) as saver,
    ):
        driver = driver_of(saver, api, loop)
        calls = Calls(lambda current: saver.get_next_version(current, None))
        for call in calls.settle(unrelated(THREAD)):
            perform(driver, call)
        listed_facts(driver, (THREAD,))


def _play(target: Target, api: str, scratch: Path) -> None:
    """Import every graph, and run one, for which any saver will do."""
    able = frozenset(Capability)
    playable = [scenario for scenario in SCENARIOS if scenario.objection(able) is None]
    makers = [maker(scenario.graph, api) for scenario in playable]
    with EventLoop() as loop:
        player = Player(makers[0], InMemorySaver(), api_of(api, loop), how={})
        for _ in player.play(playable[0].program):
            continue
