"""The functions and constants that scripts define for themselves."""

from __future__ import annotations

from saverproof.savers.execution.calls import checkpoint_format
from saverproof.scripts.opening import Opening
from saverproof.scripts.writer import ScriptWriter

_IDS = 'f"1f0c8a43-b1a8-6{n:03x}-8{n:03x}-02f1a6c4d8e0"'
_TASKS = 'f"{(n + 1) // 2 * 0x9E3779B1 % 2**32:08x}-5a1c-5e0f-9b2d-{16 - n % 16:012x}"'
_TIME = 'f"2026-11-21T00:{n // 60 % 60:02}:{n % 60:02}.{n:06}+00:00"'
_ADDRESS = '("thread_id", "checkpoint_ns", "checkpoint_id")'
MANY_LINES = 1_000_000
"""How many lines a script allows for a call that may never end. It compares with nothing, but no
saver takes so many for a few rows.
"""
_HELPERS = {
    "config": (
        "def config(*at, **more):",
        f'    return {{"configurable": dict(zip({_ADDRESS}, at)) | more}}',
    ),
    "checkpoint": (
        "def checkpoint(n, values, new, /, **old):",
        f'    made = {{"v": {checkpoint_format()}, "id": ID[n], "ts": {_TIME}}}',
        '    made |= {"channel_values": values, "versions_seen": {"__input__": {}, "agent": old}}',
        '    return made | {"channel_versions": old | new, "updated_channels": sorted(new)}',
    ),
    "server_version": (
        "def server_version(current, number):  # as the Agent Server counts, for any saver",
        '    counted = int((current or "0").split(".")[0]) + 1',
        '    return f"{counted:032}.{1 / (number + 1):.16f}"',
    ),
    "address": (
        "def address(config):",
        '    at = (config or {}).get("configurable", {})',
        '    return at.get("thread_id"), at.get("checkpoint_ns") or "", at.get("checkpoint_id")',
    ),
    "shown": (
        "def shown(found):",
        "    return found and (found.checkpoint, found.metadata, found.pending_writes)",
    ),
    "left_first": (
        "def left_first(listing):  # where the thread has an event loop, as main threads have",
        "    asyncio.set_event_loop(loop := asyncio.new_event_loop())",
        "    try:",
        "        return next(iter(listing()), None)",
        "    finally:",
        "        asyncio.set_event_loop(None)",
        "        loop.close()",
    ),
    "spoil": (
        "def spoil(value):  # change it in place, as its owner may",
        "    if isinstance(value, dict):",
        '        [spoil(item) for item in value.values()], value.update(spoilt="changed")',
        "    elif isinstance(value, list):",
        '        [spoil(item) for item in value], value.append("changed")',
        "    elif isinstance(value, set):",
        '        value.add("changed")',
    ),
    "watch": (
        "lines = iter(range(1, 10**9))",
        "def watch(*_):  # ends what goes on for so long",
        f"    return watch if next(lines) % {MANY_LINES:_} else sys.exit()",
    ),
    "watched_threads": ("threading.settrace(watch)",),
    "cipher": (
        "class Cipher:",
        "    def encrypt(self, plaintext):",
        '        return "xor", bytes(byte ^ 90 for byte in plaintext)',
        "    def decrypt(self, ciphername, ciphertext):",
        "        return bytes(byte ^ 90 for byte in ciphertext)",
    ),
}


def helpers(writer: ScriptWriter, opening: Opening) -> list[str]:
    """Return the lines that define what a writer's lines use. ``opened`` opens the target's
    saver.
    """
    lines: list[str] = []
    if writer.ids:
        lines.append(f"ID = {{n: {_IDS} for n in range(1, {max(writer.ids) + 1})}}")
    if writer.tasks:
        lines.append(f"TASK = {{n: {_TASKS} for n in range(1, {max(writer.tasks) + 1})}}")
    if "loop" in writer.helpers:
        lines += _loop()
    lines += [line for name in _HELPERS if name in writer.helpers for line in _HELPERS[name]]
    lines += [line for source in writer.own.values() for line in source.lines]
    # If the target's own function has this name, a new definition would call itself for ever.
    if "opened" in writer.helpers and opening.expression != "opened(path)":
        lines += ["def opened(path):", f"    return {opening.expression}"]
    return lines


def _loop() -> list[str]:
    """Return the definition of what the config of a running graph has besides an address."""
    keys = (
        ("__pregel_runtime", "RUNTIME"),
        ("__pregel_send", "RUNTIME.acquire"),
        ("__pregel_task_id", "TASK[1]"),
        ("__pregel_durability", '"sync"'),
        ("checkpoint_map", '{"": ID[1]}'),
    )
    items = ", ".join(f'"{key}": {value}' for key, value in keys)
    return [
        "RUNTIME = threading.Lock()  # like any runtime object, not to be serialized",
        f"LOOP = {{{items}}}",
    ]
