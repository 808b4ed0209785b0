"""Preload the process that trials are forked from: a target, what opens it, and graphs.

What is imported there need not be imported by each of hundreds of trials, and what is done there
once, such as making decoders, need not be done by them. But a process with running threads cannot
be forked: a module that starts threads when it is imported is left to each trial.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from saverproof.capability import Capability
from saverproof.families.graph.runner import Player
from saverproof.families.graph.scenarios import SCENARIOS, maker
from saverproof.programs.small import THREAD, unrelated
from saverproof.programs.steps.codec import decode, from_json, to_json
from saverproof.programs.steps.definitions import KINDS, Program
from saverproof.savers.execution.driver import ApiDriver, driver_of
from saverproof.savers.execution.own_ids import ids_for
from saverproof.savers.execution.settled_calls import Calls, perform
from saverproof.savers.execution.view import listed_facts
from saverproof.savers.facts import APIS
from saverproof.savers.targets.calling import api_of
from saverproof.savers.targets.event_loop import Loop, loop_for
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.opening import fresh_workspace, opened
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.target import Target
from saverproof_faults.drivers import SQLITE3
from saverproof_faults.io import available as io_unavailable
from saverproof_faults.kill.process import sharable, threads
from saverproof_faults.sqlite.library import unavailable as statements_unavailable

_LEAVING_S = 2.0
"""Seconds for threads that were joined to leave the system's list, which takes moments."""
_PROGRAM: Program = unrelated(THREAD)


def preload(target: Mapping[str, Any], apis: Sequence[str], scratch: str) -> None:
    """Import a target, and everything that using it and graphs would import later.

    No saver is opened in this process, from which all others are forked. A child opens it once
    through each API, and reports which modules that imported.
    """
    ref = TargetRef.from_json(target)
    if not hasattr(os, "fork"):
        load(ref)
        return
    names, lonely = _answer_of_child(partial(_used_once, ref, apis, Path(scratch))) or ((), True)
    if lonely or _answer_of_child(partial(_lonely_after_importing, ref, names)) is not False:
        _import(ref, names)
    if _answer_of_child(_threads_left_by_warming) == 1:
        _warm()
    # This looks at modules once, so that children that intercept statements need not do so.
    SQLITE3.install()()


def _import(ref: TargetRef, names: Sequence[str]) -> None:
    load(ref)
    for name in names:
        try:
            importlib.import_module(name)
        except Exception:  # noqa: BLE001 - a module may not be one to be imported by its name
            continue


def _lonely_after_importing(ref: TargetRef, names: Sequence[str]) -> bool:
    """Import the modules; return True if none starts a thread or opens a socket or a file to write.

    Processes forked from this one would lack the thread and share the socket or file.
    """
    before = sharable()
    _import(ref, names)
    return threads() == 1 and not sharable() - before


def _answer_of_child(find_out: Callable[[], Any]) -> Any:
    """Return what a function returns in a child process, or None if it does not finish there."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            answer = json.dumps(find_out()).encode()
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(answer)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    # A process that a saver ended has told nothing.
    return json.loads(answer) if answer else None


def _used_once(ref: TargetRef, apis: Sequence[str], scratch: Path) -> tuple[list[str], bool]:
    """Return the modules that using the target imports, and whether no thread or open file is
    left.
    """
    before, shared = set(sys.modules), sharable()
    target = load(ref)
    for api in apis:
        try:
            _open(target, api, scratch)
        except Exception:  # noqa: BLE001 - what does not work is told of by the trials
            continue
    with suppress(Exception):  # it is tried again where it counts
        _warm()
    return sorted(set(sys.modules) - before), threads() == 1 and not sharable() - shared


def _open(target: Target, api: str, scratch: Path) -> None:
    with (
        loop_for(api) as loop,
        fresh_workspace(scratch, target) as workspace,
        opened(target, workspace, loop) as saver,
    ):
        _use(driver_of(saver, api, loop, ids_for(target, workspace)))


def _use(driver: ApiDriver) -> None:
    calls = Calls(lambda current: driver.saver.get_next_version(current, None))
    for call in calls.settle(from_json(to_json(_PROGRAM))):
        perform(driver, call)
    listed_facts(driver, (THREAD,))


# --- what is done once, for all --------------------------------------------------------------


def _threads_left_by_warming() -> int:
    _warm()
    return threads()


def _warm() -> None:
    """Do what every trial does, with LangGraph's saver in memory, and leave nothing open."""
    for kind in KINDS.values():
        # None is no such object. To find that out, a decoder is made for the kind, and kept.
        with suppress(ValueError):
            decode(kind, None)
    statements_unavailable()
    io_unavailable()
    for api in APIS:
        with loop_for(api) as loop:
            _use(driver_of(InMemorySaver(), api, loop))
            _play(api, loop)
    # A thread that was joined may not have left the system's list of them yet.
    deadline = time.monotonic() + _LEAVING_S
    while threads() > 1 and time.monotonic() < deadline:
        time.sleep(0.001)


def _play(api: str, loop: Loop) -> None:
    """Import every graph, and run one."""
    able = frozenset(Capability)
    playable = [scenario for scenario in SCENARIOS if scenario.objection(able) is None]
    makers = [maker(scenario.graph, api) for scenario in playable]
    player = Player(makers[0], InMemorySaver(), api_of(api, loop), how={})
    for _ in player.play(playable[0].program):
        continue
