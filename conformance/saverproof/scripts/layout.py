"""Puts a script together: promise, imports, helpers, and the program with the saver open."""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterable

from saverproof.contracts.registry import UnknownContract, contract
from saverproof.execution.calls import checkpoint_format
from saverproof.scripts.checks import complaint
from saverproof.scripts.opening import Opening
from saverproof.scripts.source import WIDTH, folded, quoted
from saverproof.scripts.writer import Writer
from saverproof.steps.identifiers import task_id

LONGEST = 40
"""Lines of a script, where the blank ones between its parts can be spared to keep to it."""


def script(writer: Writer, opening: Opening, promise: str, saver: str) -> str:
    """The whole script."""
    second = "opened" in writer.helpers or len(writer.blocks) > 1
    if second:
        writer.helpers.add("opened")
    main = _main(writer, opening, second)
    helpers = [*_helpers(writer), *_opened(writer, opening)]
    code = "\n".join(line for part in (*helpers, main) for line in part)
    imports = _imports(writer, opening, code)
    top = [*_head(promise, saver), *imports]
    rest = [*helpers, main]
    gap = 2 if rest[0][0].startswith(("def ", "class ", "async def ")) else 1
    for far, near in ((2, 2), (1, 1), (1, 0), (0, 0)):
        body = _joined(far, [_joined(near, helpers).splitlines(), main])
        text = "\n".join([*top, *[""] * gap, body, ""])
        if text.count("\n") <= LONGEST:
            return text
    return "\n".join(line for line in text.splitlines() if line) + "\n"


def _joined(blank: int, parts: list[list[str]]) -> str:
    """The parts with so many blank lines between them."""
    return ("\n" * (blank + 1)).join("\n".join(part) for part in parts if part)


def statement_of(contract_id: str) -> str:
    """What a contract says; its id if the registry knows of none."""
    try:
        return contract(contract_id).statement
    except UnknownContract:
        return contract_id


def _head(promise: str, saver: str) -> list[str]:
    safe = promise.replace("\\", "\\\\").replace('"""', "'''")
    doc = textwrap.wrap(f'"""{safe}', WIDTH - 3)
    closing = f' {doc[-1]}"""'[1:]
    return [
        *doc[:-1],
        closing if not closing.endswith('""""') else f'{doc[-1]} """',
        f"# Exits with 1 while {saver} breaks this promise, with 0 when it keeps it.",
    ]


# --- imports -----------------------------------------------------------------------------------


def _imports(writer: Writer, opening: Opening, code: str) -> list[str]:
    own = {"import tempfile"}
    if "asyncio." in code:
        own.add("import asyncio")
    if opening.drop:
        own.add("import contextlib")
    needed = [line for line in writer.imports if _names_of(line) is not None]
    groups = _merged([*own, *needed], code) | _merged(opening.imports, None)
    for module, found in _merged(opening.imports, None).items():
        groups[module] = found | _merged([*own, *needed], code).get(module, set())
    lines = _sorted_imports(groups)
    if opening.local:
        paths = [f"sys.path.insert(0, {quoted(folder)})" for folder in opening.folders]
        lines += [*(["", *paths] if paths else []), ""]
        lines += _sorted_imports(_merged(opening.local, None))
    return [*lines, *(["", *opening.before] if opening.before else [])]


def _names_of(line: str) -> list[str] | None:
    node = ast.parse(line).body[0]
    return [a.name for a in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else None


def _merged(lines: Iterable[str], code: str | None) -> dict[str, set[str]]:
    """Module -> imported names ("" for the module itself); only those used in ``code``."""
    groups: dict[str, set[str]] = {}
    for line in lines:
        node = ast.parse(line).body[0]
        if isinstance(node, ast.Import):
            for alias in node.names:
                if code is None or re.search(rf"\b{alias.name}\b", code):
                    groups.setdefault(alias.name, set()).add("")
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                used = code is None or re.search(rf"\b{alias.asname or alias.name}\b", code)
                if used:
                    text = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
                    groups.setdefault(str(node.module), set()).add(text)
    return groups


def _sorted_imports(groups: dict[str, set[str]]) -> list[str]:
    def of_library(module: str) -> bool:
        return module.partition(".")[0] in sys.stdlib_module_names

    lines: list[str] = []
    for standard in (True, False):
        modules = sorted(module for module in groups if of_library(module) is standard)
        section = [f"import {module}" for module in modules if "" in groups[module]]
        for module in modules:
            names = sorted(groups[module] - {""})
            if names:
                section += folded(f"from {module} import {', '.join(names)}")
        if section and lines:
            lines.append("")
        lines += section
    return lines


# --- helpers -----------------------------------------------------------------------------------


def _helpers(writer: Writer) -> list[list[str]]:
    """The helpers that the program uses, each as its lines."""
    parts: list[list[str]] = []
    if writer.ids:
        ids = ", ".join(f"{number}: {quoted(writer.ids[number])}" for number in sorted(writer.ids))
        parts.append(folded(f"ID = {{{ids}}}"))
    if "loop" in writer.helpers:
        parts[-1:] = [[*parts[-1], *_loop()]]
    parts += [_SOURCES[name] for name in _SOURCES if name in writer.helpers]
    return parts


def _loop() -> list[str]:
    return [
        "RUNTIME = threading.Lock()  # like any runtime object, not to be serialized",
        *folded(
            'LOOP = {"__pregel_runtime": RUNTIME, "__pregel_send": RUNTIME.acquire, '
            f'"__pregel_task_id": {quoted(task_id(1))}, "__pregel_durability": "sync", '
            '"checkpoint_map": {"": ID[1]}}'
        ),
    ]


_SOURCES = {
    "config": ["def config(**configurable):", '    return {"configurable": configurable}'],
    "checkpoint": [
        "def checkpoint(n, values, old, new):",
        f'    return {{"v": {checkpoint_format()}, "ts": f"2026-11-21T00:{{n // 60 % 60:02}}:'
        '{n % 60:02}.{n:06}+00:00", "id": ID[n],',
        '            "channel_values": values, "channel_versions": old | new,',
        '            "versions_seen": {"__input__": {}, "agent": old}, '
        '"updated_channels": sorted(new)}',
    ],
    "address": [
        "def address(config):",
        '    at = (config or {}).get("configurable", {})',
        '    return at.get("thread_id"), at.get("checkpoint_ns") or "", at.get("checkpoint_id")',
    ],
    "shown": [
        "def shown(found):",
        "    return found and (found.checkpoint, found.metadata, found.pending_writes)",
    ],
    "spoil": [
        "def spoil(value):  # change it in place, as its owner may",
        "    if isinstance(value, dict):",
        '        [spoil(item) for item in value.values()], value.update(spoilt="changed")',
        "    elif isinstance(value, list):",
        '        [spoil(item) for item in value], value.append("changed")',
        "    elif isinstance(value, set):",
        '        value.add("changed")',
    ],
    "cipher": [
        "class Cipher:",
        "    def encrypt(self, plaintext):",
        '        return "xor", bytes(byte ^ 90 for byte in plaintext)',
        "    def decrypt(self, ciphername, ciphertext):",
        "        return bytes(byte ^ 90 for byte in ciphertext)",
    ],
}


def _opened(writer: Writer, opening: Opening) -> list[list[str]]:
    if "opened" not in writer.helpers:
        return []
    return [["def opened(path):", *folded(f"    return {opening.expression}")]]


# --- the program -------------------------------------------------------------------------------


def _main(writer: Writer, opening: Opening, second: bool) -> list[str]:
    lines = _with_saver(writer, opening, "opened(path)" if second else opening.expression)
    if not writer.voice.in_coroutine and not writer.patience_s:
        return _folded(lines)
    coroutine = ["async def main():", *_indented(lines), ""]
    if not writer.patience_s:
        return _folded([*coroutine, "asyncio.run(main())"])
    expected, observed = "an answer or an exception", f"nothing in {writer.patience_s:g} s"
    writer.imports.add("import threading")
    return _folded(
        [
            *coroutine,
            "worker = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)",
            "worker.start()",
            f"worker.join({writer.patience_s:g})",
            "if worker.is_alive():",
            f"    {complaint(expected, observed)}",
        ]
    )


def _with_saver(writer: Writer, opening: Opening, expression: str) -> list[str]:
    folder = "tempfile.TemporaryDirectory() as path"
    keyword = "async with" if writer.voice.managed else "with"
    plain = not (writer.voice.managed or writer.guard or opening.drop or writer.after)
    if plain and len(writer.blocks) == 1:
        header = f"with {folder}, {expression} as saver:"
        if len(header) + 4 > WIDTH:
            return [f"with ({folder},", f"      {expression} as saver):", *_block(writer.blocks[0])]
        return [header, *_block(writer.blocks[0])]
    lines: list[str] = []
    for block in writer.blocks:
        used = any(re.search(r"\bsaver\b", line) for line in block)
        lines += [f"{keyword} {expression}{' as saver' if used else ''}:", *_block(block)]
    if writer.guard:
        message = complaint(writer.guard, "raised {error!r:.1000}")
        lines = [
            "try:",
            *_indented(lines),
            "except Exception as error:",
            f"    {message} from error",
        ]
    lines += writer.after or []
    if not opening.drop:
        return [f"with {folder}:", *_indented(lines)]
    dropping = opening.drop.format("path")
    return [
        f"with {folder}, contextlib.ExitStack() as cleanup:",
        f"    cleanup.callback(lambda: {dropping})",
        *_indented(lines),
    ]


def _block(lines: list[str]) -> list[str]:
    return _indented(lines or ["pass"])


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" if line else line for line in lines]


def _folded(lines: Iterable[str]) -> list[str]:
    return [part for line in lines for part in folded(line)]
