"""Writes standalone scripts that show a problem between callers, without the kit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from saverproof.families.concurrency.callers.records import OperationKind
from saverproof.families.concurrency.callers.workload import DELETING
from saverproof.families.concurrency.contract_ids import (
    COPY,
    DELETION,
    FIRST,
    INSTANCES,
    ITERATION,
    LATE,
    LOOP,
    NOTHING,
    ORDER,
    PROCESSES,
    PRUNE,
    THREADS,
    TORN,
)
from saverproof.families.concurrency.graphs.graph_scenes import SCENES as GRAPHS_SCENES
from saverproof.families.concurrency.held.held_putting import SCENE as HELD_PUT
from saverproof.families.concurrency.held.held_reading import SCENE as HELD_READ
from saverproof.families.concurrency.held.held_reading import STOPPED as STOPPED_READ
from saverproof.families.concurrency.held.reading_again import SCENE as READ_AGAIN
from saverproof.families.concurrency.histories.history_playing import Sharing
from saverproof.families.concurrency.histories.judging import WRONG_PARENT
from saverproof.families.concurrency.record import Problem
from saverproof.families.concurrency.scenes.agreeing import Asking
from saverproof.families.concurrency.scenes.crossing import SCENE as CROSSING
from saverproof.families.concurrency.scripts.graph_scripts import graph_imports, graph_words
from saverproof.families.concurrency.scripts.held_read_scripts import (
    HELD_READ_IMPORTS,
    held_put_words,
    held_read_words,
    read_again_words,
)
from saverproof.families.concurrency.scripts.instance_scripts import instances_script
from saverproof.families.concurrency.scripts.other_process import STARTED, as_the_other
from saverproof.families.concurrency.scripts.script_calls import listing_words, waiting_words
from saverproof.families.concurrency.upkeep.upkeep_rounds import SCENE as UPKEEP_SCENE
from saverproof.savers.targets.target import Target
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.flaky import tried_often
from saverproof.scripts.formatting import indented
from saverproof.scripts.opening import Opening, opening_of
from saverproof.scripts.script import complaint, main, promise_of
from saverproof.scripts.script import script as whole_script
from saverproof.scripts.verification import complains_alone
from saverproof_faults.counters import Waits

BY_CHANCE = frozenset({THREADS, PROCESSES, TORN, ORDER, FIRST, PRUNE, COPY, DELETION, LATE})
"""Contracts whose scripts depend on which caller comes first."""

SCHEDULING = "threads and tasks are scheduled differently each time"
"""The reason why a script plays its scene more than once: it is the comment beside the number of
times.
"""

_DELETIONS = {
    OperationKind.DELETE: "delete_thread(thread)",
    OperationKind.PRUNE_ALL: 'prune([thread], strategy="delete")',
}
"""How a script deletes a thread while a run goes on with it."""

_HELD_READS = frozenset({HELD_READ, STOPPED_READ})
"""The scenes in which another process comes between the statements of a read."""
_HELD = {*_HELD_READS, READ_AGAIN, HELD_PUT}
"""The scenes in which a call is held at a place: their scripts do not depend on chance."""
_WAITS = (f"from {Waits.__module__.rpartition('.')[0]} import {Waits.__name__}",)

# What comes out is Python, in which HTML's escapes would be errors.
_TEMPLATES = Environment(
    loader=PackageLoader("saverproof.families.concurrency.scripts", "templates"),
    autoescape=False,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def reproducer(target: Target, problem: Problem, scene: dict[str, Any], api: str) -> str:
    """Return the source of a script that was seen to show a problem; "" if none was."""
    opening = opening_of(target)
    if opening is None:
        return ""
    if problem.contract == THREADS and problem.sort == WRONG_PARENT:
        scene = {**scene, "parents": True}
    text = script(target, opening, problem.contract, scene, api)
    if not text:
        return ""
    if problem.contract in BY_CHANCE and scene.get("scene") not in _HELD:
        return tried_often(text, problem.contract, partial(_patient, text))
    return text if complains_alone(text, problem.contract) else ""


def _patient(text: str, times: int) -> str:
    """Return the script with ``times`` times as many repetitions."""
    repetitions = re.compile(rf"range\((\d+)\)(?=:  # {SCHEDULING})")
    return repetitions.sub(lambda found: f"range({times * int(found[1])})", text)


def script(target: Target, opening: Opening, name: str, scene: dict[str, Any], api: str) -> str:
    """Return the source of a script for a contract; "" if it cannot be shown without the kit."""
    if name in (PROCESSES, FIRST) and api == "sync" and opening.managed:
        # The saver lives on a loop, and is called from other threads.
        return ""
    held = scene.get("scene") in _HELD_READS
    if name == INSTANCES and not held:
        return instances_script(target, opening, Asking.from_json(scene), api)
    words: dict[str, Any] = {
        "durable": target.durable,
        "shared": scene.get("sharing") == Sharing.SHARED,
        "file": scene.get("file"),
    }
    if name == ITERATION and not scene.get("shifted"):
        words |= listing_words(api, scene["by"], scene["calls"])
        if not words["calls"]:
            return ""
    if scene.get("scene") == CROSSING or (
        scene.get("scene") in (READ_AGAIN, HELD_PUT) and "place" not in scene
    ):
        # What hangs would have to be watched from outside. No script has a second process that is
        # not called while something is held.
        return ""
    if scene.get("scene") == UPKEEP_SCENE:
        if "kind" not in scene:
            # The process hung or died. No template has the very calls that met.
            return ""
        words |= {"early": scene["early"], "deletion": _DELETIONS.get(scene["kind"], "")}
        if name == DELETION and scene["kind"] != OperationKind.DELETE_RUN:
            return ""
    imports: Sequence[str] = _WAITS
    if held:
        words |= held_read_words(scene, name)
        imports = HELD_READ_IMPORTS
    if scene.get("scene") == READ_AGAIN:
        words |= read_again_words(scene, name)
        imports = (*_WAITS, *HELD_READ_IMPORTS, "import concurrent.futures")
    if scene.get("scene") == HELD_PUT:
        words |= held_put_words(scene, name)
        imports = (*_WAITS, *HELD_READ_IMPORTS, "import concurrent.futures")
    if scene.get("scene") in GRAPHS_SCENES:
        told = graph_words(scene, api)
        if not told:
            return ""
        words |= told
        imports = graph_imports(scene, api)
    if name == LOOP:
        words["calls"] = waiting_words(scene["calls"])
        if not words["calls"]:
            return ""
    code = _Words(opening, api).fill(_template(name, scene), words)
    return whole_script(promise_of(name), target.name, opening, code.splitlines(), imports)


def _template(name: str, scene: dict[str, Any]) -> str:
    """Return the template for a contract, from this package."""
    if scene.get("scene") in GRAPHS_SCENES:
        return "graph_beside"
    if scene.get("scene") in _HELD_READS:
        return "held_read"
    if scene.get("scene") == READ_AGAIN:
        return "read_again"
    if scene.get("scene") == HELD_PUT:
        return "held_put"
    if name == FIRST:
        return "held" if scene.get("file") else "first_use"
    if scene.get("shifted"):
        return "shifted"
    if scene.get("parents"):
        return "parents"
    known = {
        ITERATION: "listing",
        LOOP: "waiting",
        NOTHING: "unknown_reads",
        ORDER: "followed",
        PROCESSES: "processes",
        PRUNE: "pruned",
        COPY: "copied",
        DELETION: "run_deleted",
        LATE: "deleted_beside" if scene.get("scene") == UPKEEP_SCENE else "late",
    }
    shared = "deleted" if scene.get("theme") == DELETING.name else "shared"
    return known.get(name, shared)


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


class _Words:
    """Fills in templates of scripts: how a saver is opened, and through which API it is called."""

    def __init__(self, opening: Opening, api: str) -> None:
        self.opening = opening
        self.calls = CallSource(api, opening.managed)
        self.unmanaged = CallSource(api, managed=False)
        """A writer of calls for functions of the script that may run in other threads."""

    def fill(self, template: str, words: dict[str, Any]) -> str:
        """Return the template's text with these words filled in."""
        api = self.calls.api
        environment = _TEMPLATES.overlay()
        environment.filters = {
            **environment.filters,
            "opened": lambda text: _text(self.opening.opened(text.splitlines())),
            "in_folder": lambda text, *managers: _text(
                self.opening.in_folder(text.splitlines(), *managers)
            ),
        }
        return environment.get_template(f"{template}.py.j2").render(
            words,
            api=api,
            define=self.unmanaged.define,
            wait=self.unmanaged.wait,
            a="" if api == "sync" else "a",
            run="" if api == "sync" else "run, ",
            switch="" if api == "sync" else "await asyncio.sleep(0)",
            meta='{"source": "input", "step": -1}',
            why_so_often=SCHEDULING,
            complaint=complaint,
            started=STARTED,
            opened_first=_text(self.opening.opened(["pass  # so that the driver is loaded"])),
            listing=lambda config: self.unmanaged.listing(api, "saver", config),
            result=lambda call: f"saver.{call}" if api == "sync" else f"(await saver.a{call})",
            together=self._together,
            run_of=self._run_of,
        )

    def _together(self, submitted: str, awaited: str) -> str:
        """Return lines that call functions side by side, in threads or tasks."""
        lines = ["sys.setswitchinterval(1e-6)"]
        if self.calls.api == "sync":
            lines += [
                "with ThreadPoolExecutor() as pool:",
                f"    parts = {submitted}",
                "answers = [part.exception() or part.result() for part in parts]",
            ]
        else:
            lines.append(f"answers = await asyncio.gather({awaited}, return_exceptions=True)")
        return "\n".join(lines)

    def _run_of(
        self,
        function: str,
        times: int,
        readers: Sequence[str] = (),
        more: Sequence[str] = (),
        elsewhere: str = "",
    ) -> str:
        """Return the end of a script: it opens savers in a folder and calls a function with them.
        The function ``elsewhere`` is called in another process, with a saver of its own.
        """
        names = dict.fromkeys(("saver", *readers))
        lines = [self.calls.function(function, "saver", *readers, *more)]
        for name in reversed(names):
            lines = self.opening.opened(lines, name)
        lines = self.opening.in_folder(lines)
        if times > 1:
            lines = [f"for _ in range({times}):  # {SCHEDULING}", *indented(lines)]
        if elsewhere:
            there = as_the_other(self.opening, [self.calls.function(elsewhere, "saver")])
            lines = [*there, *lines]
        return "\n".join(main(lines, coroutine=self.calls.in_coroutine))
