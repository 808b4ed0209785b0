"""Steps as calls in a script, through one API."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from saverproof.execution.calls import checkpoint_format
from saverproof.programs.steps import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    Prune,
    Put,
    PutWrites,
    Step,
)
from saverproof.reproducing.source import literal, quoted

_OTHER = "other"


class NotSpokenError(Exception):
    """A step that scripts have no short form for."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """``managed`` says that opening is asynchronous; ``expression`` opens the saver."""

    api: str
    managed: bool
    expression: str

    @property
    def in_coroutine(self) -> bool:
        """Whether the script's calls stand in a coroutine."""
        return self.api == "async"

    def with_saver(self, lines: Iterable[str]) -> list[str]:
        """The lines with the saver open."""
        keyword = "async with" if self.managed else "with"
        return [f"{keyword} opened(path) as saver:", *(f"    {line}" for line in lines)]

    def call(self, step: Step) -> str:
        """A step as a call. Raises NotSpokenError for one that only the kit's own programs need."""
        match step:
            case Put(thread=thread, namespace="", number=number, changes=(("count", value),)):
                if step.parent != (number - 1 or None) or value is None:
                    raise NotSpokenError
                return f"{self._await}put(saver, {quoted(thread)}, {number}, {value.source()})"
            case PutWrites(thread=thread, namespace="", path=""):
                made = ", ".join(f"({quoted(name)}, {v.source()})" for name, v in step.writes)
                at = f"at({quoted(thread)}, {step.number})"
                return self._method("put_writes", at, f"[{made}]", quoted(f"task {step.task}"))
            case DeleteThread(thread):
                return self._method("delete_thread", quoted(thread))
            case DeleteForRuns(runs):
                return self._method("delete_for_runs", literal(runs))
            case CopyThread(source, target):
                return self._method("copy_thread", quoted(source), quoted(target))
            case Prune(threads, strategy):
                return self._method("prune", literal(threads), f"strategy={quoted(strategy)}")
        raise NotSpokenError

    def other(self) -> str:
        """A checkpoint of another thread, put."""
        return f"{self._await}put(saver, {quoted(_OTHER)}, 1, 1)"

    def listing(self, thread: str) -> str:
        """Everything that the saver lists of a thread."""
        if self.api == "async":
            return f"[found async for found in saver.alist(at({quoted(thread)}))]"
        return f"list(saver.list(at({quoted(thread)})))"

    @property
    def _await(self) -> str:
        return "await " if self.api == "async" else ""

    def _method(self, name: str, *arguments: str) -> str:
        prefix = "a" if self.api == "async" else ""
        return f"{self._await}saver.{prefix}{name}({', '.join(arguments)})"

    def helpers(self) -> list[str]:
        """The functions that the calls use."""
        put = "aput" if self.api == "async" else "put"
        return [
            "def at(thread, n=None):",
            '    id = n and f"1f0c8a43-b1a8-60d3-8001-{n:012x}"',
            '    return {"configurable": '
            '{"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": id}}',
            "def put(saver, thread, n, count):",
            "    version = saver.get_next_version(None, None)",
            f'    checkpoint = {{"v": {checkpoint_format()}, '
            '"id": at(thread, n)["configurable"]["checkpoint_id"],',
            '        "ts": "2026-11-21T00:00:00+00:00", "updated_channels": ["count"], '
            '"versions_seen": {},',
            '        "channel_values": {"count": count}, "channel_versions": {"count": version}}',
            f'    return saver.{put}(at(thread, n - 1 or None), checkpoint, {{"run_id": "run"}}, '
            '{"count": version})',
            "def opened(path):",
            f"    return {self.expression}",
        ]
