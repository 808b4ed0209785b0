"""The life of a process of a trial, from its first moment to its last."""

import faulthandler
import gc
import importlib
import json
import mmap
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from saverproof_faults.kill.acks import MEMORY_SIZE, Acks
from saverproof_faults.kill.plan import Json
from saverproof_faults.kill.process import signal_on_death_of_parent

BEGAN = b"b"
READY = b"r"


@dataclass(frozen=True, slots=True)
class Descriptors:
    """The open files that a process of a trial starts with.

    It reports progress on ``status``. If it has ``go``, it waits for that to be closed before it
    begins.
    """

    memory: int
    status: int
    output: int
    stacks: int
    go: int | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """The task of one process.

    ``slot`` is None for a process that only looks: it gets no ``Acks``.
    """

    body: str
    arguments: Mapping[str, Json]
    slot: int | None
    place: int | None

    def call(self, function: Callable[..., Json], memory: mmap.mmap) -> Json:
        """Call the function with the arguments that its kind expects."""
        if self.slot is None:
            return function(self.arguments)
        acks = Acks(memory, self.slot, self.place)
        acks.begin()
        return function(acks, self.arguments)


def live(task: Task, files: Descriptors, parent: int) -> NoReturn:
    """Run the body, report its outcome, and end this process without returning.

    ``parent`` is the process that must be alive: without it nobody would ever end this one.
    """
    code = 1
    try:
        signal_on_death_of_parent(signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(code)
        _settle_in(files)
        outcome = _outcome(task, files)
        _tell(files.status, json.dumps(outcome).encode())
        code = 0 if "value" in outcome else 1
    except BaseException:  # noqa: BLE001 - nobody is left to raise it to
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def find_function(body: str) -> Callable[..., Json]:
    """Return the function that 'module:function' names.

    Exceptions of importing the module are passed on.
    """
    module, _, path = body.partition(":")
    found: Any = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    if not callable(found):
        raise TypeError(f"{body} is a {type(found).__name__}, not a function")
    return found  # type: ignore[no-any-return]


def _settle_in(files: Descriptors) -> None:
    os.dup2(files.output, 1)
    os.dup2(files.output, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # The harness ends a hang by SIGABRT, whose handler writes every thread's stack.
    faulthandler.enable(files.stacks, all_threads=True)


def _outcome(task: Task, files: Descriptors) -> dict[str, Json]:
    try:
        function = find_function(task.body)
        gc.enable()
        if files.go is not None:
            _tell(files.status, READY)
            os.read(files.go, 1)
        memory = mmap.mmap(files.memory, MEMORY_SIZE)
        _tell(files.status, BEGAN)
        began = time.perf_counter()
        value = task.call(function, memory)
        outcome = {"value": value, "duration_s": time.perf_counter() - began}
        json.dumps(outcome)
    except BaseException:  # noqa: BLE001 - whatever ends the body is the trial's result
        outcome = {"exception": traceback.format_exc()}
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return outcome


def _tell(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
