"""Standalone scripts that show what is wrong between callers: no part of the kit is in them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from saverproof.contracts.registry import contract
from saverproof.families.concurrency import script_templates_many as crowds
from saverproof.families.concurrency import script_templates_one as hammers
from saverproof.families.concurrency.contract_ids import FIRST, ITERATION, NOTHING, ORDER, PROCESSES
from saverproof.families.concurrency.histories import Crowd
from saverproof.families.concurrency.record import Problem
from saverproof.families.concurrency.workload import DELETING
from saverproof.scripts.layout import LONGEST
from saverproof.scripts.opening import Opening, opening_of, opens_asynchronously
from saverproof.scripts.source import WIDTH, folded, quoted
from saverproof.scripts.trying import complains_alone
from saverproof.targets.target import Target

TIMES = 10
"""Threads and tasks never take the same turns twice: so often a script plays its scene."""

_SYNC = {
    "await": "",
    "def": "def",
    "list": "list",
    "for": "for",
    "a": "",
    "left": "",
    "right": "",
    "listed": "saver.list(CONFIG)",
    "turn": "",
    "crowd": crowds.CROWD,
    "both": crowds.BOTH,
    "readers": crowds.READERS,
    "running": "",
    "run": "",
    "look": "look(path)",
    "show": "show()",
}
_ASYNC = {
    "await": "await ",
    "def": "async def",
    "list": "alist",
    "for": "async for",
    "a": "a",
    "left": "(",
    "right": ")",
    "listed": "[one async for one in saver.alist(CONFIG)]",
    "turn": "await asyncio.sleep(0)",
    "crowd": crowds.ASYNC_CROWD,
    "both": crowds.ASYNC_BOTH,
    "readers": crowds.ASYNC_READERS,
    "running": crowds.RUN,
    "run": "run, ",
    "look": "run(look, path)",
    "show": "asyncio.run(show())",
}
_FOLDER = "tempfile.TemporaryDirectory() as path"


def reproducer(target: Target, problem: Problem, scene: dict[str, Any], api: str) -> str:
    """The source of a script that shows a problem by itself, or "" if none was seen to."""
    opening = opening_of(target)
    if opening is None:
        return ""
    text = script(target, opening, problem.contract, scene, api)
    return text if text and complains_alone(text, problem.contract) else ""


def script(target: Target, opening: Opening, name: str, scene: dict[str, Any], api: str) -> str:
    """The source of a script for a contract; "" for one that cannot be shown without the kit."""
    managed = opens_asynchronously(target)
    if name in (PROCESSES, FIRST) and api == "sync" and managed:
        # The saver lives on a loop, and is called from other threads.
        return ""
    frame = Frame(opening, api, managed)
    words: dict[str, str] = {}
    if name == ITERATION:
        words = hammers.words_of_listing(api, scene["by"], scene["calls"])
        if not words["calls"]:
            return ""
    code = frame.filled(_code(frame, name, scene, durable=target.durable), words).strip()
    head = _head(name, target.name)
    return _spared([*head, *_imports(code, opening), "", "", *code.splitlines()])


def _code(frame: Frame, name: str, scene: dict[str, Any], *, durable: bool) -> str:
    """The text of a script, its words not filled in yet."""
    if name == ITERATION:
        return hammers.LISTING + frame.main("play", ["saver", "path"], 1)
    if name == NOTHING and durable:
        return hammers.TRACES + frame.main("play", ["saver", "path"], 1)
    if name == NOTHING:
        return hammers.TRACES_IN_MEMORY + frame.main("play", ["saver"], 1)
    if name == ORDER:
        reader = "saver" if scene.get("crowd") == Crowd.SHARED else "reader"
        return crowds.FOLLOWED + frame.main("play", ["saver", reader], TIMES)
    if name == PROCESSES:
        return crowds.PROCESSES
    if name == FIRST:
        held = scene.get("file")
        return crowds.HELD.replace("<file>", str(held)) if held else crowds.FIRST
    shared = crowds.DELETED if scene.get("theme") == DELETING.name else crowds.SHARED
    return shared + frame.main("play", ["saver"], TIMES)


@dataclass(frozen=True, slots=True)
class Frame:
    """How a script opens its saver, and through which API it calls it.

    ``managed`` says that opening is asynchronous: sync calls are then made on other threads.
    """

    opening: Opening
    api: str
    managed: bool

    def filled(self, text: str, more: dict[str, str]) -> str:
        """A text with its words filled in; a line that is left with nothing is left out."""
        words = (_SYNC if self.api == "sync" else _ASYNC) | {
            "with": "async with" if self.managed else "with",
            "opening": self.opening.expression,
            "folder": self._folder(),
            "drop": self._drop(),
            **more,
        }
        return "\n".join(part for line in text.splitlines() for part in _filled(line, words))

    def main(self, function: str, arguments: list[str], times: int) -> str:
        """The end of a script: savers opened in a folder, and a function called with them."""
        savers = dict.fromkeys(name for name in arguments if name != "path")
        opened = ", ".join(f"<opening> as {name}" for name in savers)
        given = ", ".join(arguments)
        call = f"{function}({given})"
        if self.api != "sync":
            call = f"await {call}"
        elif self.managed:
            call = f"await asyncio.to_thread({function}, {given})"
        opened = opened if len(savers) == 1 else f"({opened})"
        lines = ["with <folder>:", "    <drop>", f"    <with> {opened}:", f"        {call}"]
        if times > 1:
            lines = [f"for _ in range({times}):  # {crowds.TURNS}", *_indented(lines)]
        if self.api != "sync" or self.managed:
            lines = ["async def main():", *_indented(lines), "", "", "asyncio.run(main())"]
        return "\n".join(["", "", *lines, ""])

    def _folder(self) -> str:
        return f"{_FOLDER}, contextlib.ExitStack() as cleanup" if self.opening.drop else _FOLDER

    def _drop(self) -> str:
        drop = self.opening.drop
        return f"cleanup.callback(lambda: {drop.format('path')})" if drop else ""


def _filled(line: str, words: dict[str, str]) -> Iterator[str]:
    """The lines that a line becomes: what a word stands for may be several, or have words too."""
    indent = line[: len(line) - len(line.lstrip())]
    filled = re.sub(r"<(\w+)>", lambda found: words.get(found[1], found[0]), line.lstrip())
    if filled == line.lstrip():
        yield from folded(line)
    elif filled:
        for part in filled.split("\n"):
            yield from _filled(f"{indent}{part}".rstrip(), words)


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _spared(lines: list[str]) -> str:
    """The script, without the blank lines that keep it from being short."""
    for gap in (2, 1, 0):
        text = re.sub(r"\n{3,}", "\n" * (gap + 1), "\n".join([*lines, ""]))
        if text.count("\n") <= LONGEST:
            return text
    return "\n".join([*(line for line in lines if line), ""])


def _head(name: str, saver: str) -> list[str]:
    text = textwrap.wrap(f'"""{name}: {contract(name).statement}', WIDTH - 3)
    return [
        *text[:-1],
        f'{text[-1]}"""',
        f"# Exits with 1 while {saver} breaks this promise, with 0 when it keeps it.",
    ]


_OWN = (
    *("asyncio", "contextlib", "faulthandler", "os", "shutil", "sqlite3", "sys", "tempfile"),
    *("threading", "time"),
)
_FROM = (
    "from collections import Counter",
    "from concurrent.futures import ProcessPoolExecutor",
    "from concurrent.futures import ThreadPoolExecutor",
    "from pathlib import Path",
    "from langgraph.checkpoint.base import empty_checkpoint",
)


def _imports(code: str, opening: Opening) -> list[str]:
    given = [line for line in opening.imports if line.partition(" ")[2] not in _OWN]
    own = [
        f"import {name}"
        for name in _OWN
        if re.search(rf"\b{name}\.", code) or f"import {name}" in opening.imports
    ]
    own += [line for line in _FROM if line.rpartition(" ")[2] in code]
    if opening.folders and "import sys" not in own:
        own.append("import sys")
    lines = [*own, *given, *(f"sys.path.insert(0, {quoted(one)})" for one in opening.folders)]
    return [*dict.fromkeys(lines), *opening.local, *opening.before]
