"""What the process that trials are forked from imports: the target, and what opening it needs."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from saverproof.execution.driver import AsyncDriver, SyncDriver
from saverproof.execution.settled_calls import Calls, perform
from saverproof.execution.view import look
from saverproof.programs.small import THREAD, unrelated
from saverproof.targets.loading import load
from saverproof.targets.opening import EventLoop, fresh_workspace, opened
from saverproof.targets.reference import TargetRef

MODULE = "saverproof_trials_of_this_target"
"""The name of the module that :func:`write_module` writes."""


def write_module(
    folder: Path, target: Mapping[str, Any], api: str, children: Iterable[str]
) -> None:
    """A module that preloads a target when it is imported, by whichever process.

    It imports the modules ``children`` first, whose functions run in processes of their own.
    """
    scratch = folder / "preloading"
    scratch.mkdir(mode=0o700, exist_ok=True)
    source = (
        "import json\n"
        f"import {', '.join(children)}\n"
        "from saverproof.execution.preloading import preload\n"
        f"preload(json.loads({json.dumps(dict(target))!r}), {api!r}, {str(scratch)!r})\n"
    )
    (folder / f"{MODULE}.py").write_text(source, encoding="utf-8")


def preload(target: Mapping[str, Any], api: str, scratch: str) -> None:
    """Import a target, and what it imports only when it is opened.

    A saver is not to be opened here, in the process that all others are forked from: a child
    opens it once, and tells what it had to import.
    """
    ref = TargetRef.from_json(target)
    load(ref)
    if not hasattr(os, "fork"):
        return
    for name in _imported_by_opening(ref, api, Path(scratch)):
        try:
            importlib.import_module(name)
        except Exception:  # noqa: BLE001 - a module may not be one to be imported by its name
            continue


def _imported_by_opening(ref: TargetRef, api: str, scratch: Path) -> list[str]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            told = json.dumps(_opened_once(ref, api, scratch)).encode()
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(told)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    # A saver that cannot be opened is told of by the trials themselves.
    names: list[str] = json.loads(answer) if answer else []
    return names


def _opened_once(ref: TargetRef, api: str, scratch: Path) -> list[str]:
    before = set(sys.modules)
    target = load(ref)
    with (
        EventLoop() as loop,
        fresh_workspace(scratch, target) as workspace,
        opened(target, workspace, loop) as saver,
    ):
        driver = SyncDriver(saver) if api == "sync" else AsyncDriver(saver, loop)
        calls = Calls(lambda current: saver.get_next_version(current, None))
        for call in calls.settle(unrelated(THREAD)):
            perform(driver, call)
        look(driver, (THREAD,))
    return sorted(set(sys.modules) - before)
