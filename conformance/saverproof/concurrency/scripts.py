"""Standalone scripts that show what is wrong between callers: no part of the kit is in them."""

from __future__ import annotations

import textwrap
from typing import Any

from saverproof.concurrency import hammers
from saverproof.concurrency.names import FIRST, ITERATION, NOTHING, PROCESSES, THREADS, TORN
from saverproof.concurrency.record import Problem
from saverproof.contracts.registry import contract
from saverproof.programs.identifiers import mint
from saverproof.reproducing.opening import Opening, opening_of, opens_asynchronously
from saverproof.reproducing.trying import complains_alone
from saverproof.targets.target import Target

PATIENCE_S = 45.0
"""How long a script may take: longer than any waits for an answer that never comes."""

_SYNC = {"await": "", "def": "def", "with": "with", "list": "list", "for": "for", "a": ""}
_ASYNC = {
    "await": "await ",
    "def": "async def",
    "with": "with",
    "list": "alist",
    "for": "async for",
    "a": "a",
}


def reproducer(target: Target, problem: Problem, scene: dict[str, Any], api: str) -> str:
    """The source of a script that shows a problem by itself, or "" if none was seen to."""
    opening = opening_of(target)
    if opening is None:
        return ""
    text = script(target, opening, problem.contract, scene, api)
    return text if text and complains_alone(text, problem.contract, PATIENCE_S) else ""


def script(target: Target, opening: Opening, name: str, scene: dict[str, Any], api: str) -> str:
    """The source of a script for a contract; "" for one that needs a schedule to be seen."""
    words = dict(_SYNC if api == "sync" else _ASYNC)
    managed = opens_asynchronously(target)
    if managed:
        words["with"] = "async with"
    body = _body(target, name, scene, api, managed=managed)
    if not body:
        return ""
    words |= {
        "opening": opening.expression,
        "ids": ", ".join(f'"{mint(number)}"' for number in range(1, 6)),
    }
    code = _filled(f"{hammers.HEAD}\n{body}", words)
    lines = [*_head(name, target.name), *_imports(code, opening), "", "", code.strip(), ""]
    return "\n".join(lines)


def _body(target: Target, name: str, scene: dict[str, Any], api: str, *, managed: bool) -> str:
    tail = hammers.MAIN if api == "sync" else hammers.ASYNC_MAIN
    if api == "sync" and managed:
        # The saver lives on a loop, and is called from other threads.
        tail = hammers.MANAGED_MAIN
        if name in (PROCESSES, FIRST):
            return ""
    if name == ITERATION:
        return (hammers.BETWEEN if api == "sync" else hammers.ASYNC_BETWEEN) + tail
    if name == NOTHING:
        return (hammers.TRACES if target.durable else hammers.TRACES_IN_MEMORY) + tail
    if name in (THREADS, TORN):
        return (hammers.CROWD if api == "sync" else hammers.ASYNC_CROWD) + tail
    if name == FIRST and scene.get("file"):
        call = "show()" if api == "sync" else "asyncio.run(show())"
        return hammers.FIRST.replace("<file>", str(scene["file"])) + call
    if name in (PROCESSES, FIRST) and api == "sync":
        return hammers.PROCESSES
    return ""


def _filled(text: str, words: dict[str, str]) -> str:
    for word, meaning in words.items():
        text = text.replace(f"<{word}>", meaning)
    return text


def _head(name: str, saver: str) -> list[str]:
    text = textwrap.wrap(f'"""{name}: {contract(name).statement}', 97)
    return [
        *text[:-1],
        f'{text[-1]}"""',
        f"# Exits with 1 while {saver} breaks this promise, with 0 when it keeps it.",
    ]


_OWN = ("asyncio", "faulthandler", "os", "sqlite3", "subprocess", "sys", "tempfile", "threading")


def _imports(code: str, opening: Opening) -> list[str]:
    given = [line for line in opening.imports if line.partition(" ")[2] not in _OWN]
    own = [f"import {name}" for name in _OWN if f"{name}." in code or f"import {name}" in given]
    own += [line for line in hammers.FROM if line.rpartition(" ")[2] in code]
    lines = [*own, *given]
    if opening.folders and "import sys" not in lines:
        lines.append("import sys")
    lines += [f"sys.path.insert(0, {folder!r})" for folder in opening.folders]
    return [*dict.fromkeys(lines), *opening.local, *opening.before]
