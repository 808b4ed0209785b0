"""Steps as calls in a script, through one API."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from saverproof.execution.calls import checkpoint_format
from saverproof.scripts.source import literal, quoted
from saverproof.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    Prune,
    Put,
    PutWrites,
    Step,
)

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
        """Whether the script's calls stand in a coroutine; sync ones are made on another thread."""
        return self.managed or self.api == "async"

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
                return self._put(quoted(thread), str(number), value.source())
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
        return self._put(quoted(_OTHER), "1", "1")

    def listing(self, thread: str) -> str:
        """Everything that the saver lists of a thread."""
        if self.api == "async":
            return f"[found async for found in saver.alist(at({quoted(thread)}))]"
        items = f"list(saver.list(at({quoted(thread)})))"
        return f"await asyncio.to_thread(lambda: {items})" if self.managed else items

    def _put(self, *arguments: str) -> str:
        first = "await " if self.api == "async" else ""
        return self._called("put", first, "saver", *arguments)

    def _method(self, name: str, *arguments: str) -> str:
        if self.api == "async":
            return self._called(f"saver.a{name}", "await ", *arguments)
        return self._called(f"saver.{name}", "", *arguments)

    def _called(self, function: str, first: str, *arguments: str) -> str:
        if self.managed and not first:
            return f"await asyncio.to_thread({', '.join((function, *arguments))})"
        return f"{first}{function}({', '.join(arguments)})"

    def helpers(self) -> list[str]:
        """The functions that the calls use."""
        put = "aput" if self.api == "async" else "put"
        return [
            "def at(thread, n=None):",
            '    id = n and f"1f0c8a43-b1a8-60d3-8001-{n:012x}"',
            '    return {"configurable": '
            '{"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": id}}',
            "def put(saver, thread, n, count):",
            '    new = {"count": saver.get_next_version(None, None)}',
            f'    checkpoint = {{"v": {checkpoint_format()}, '
            '"id": at(thread, n)["configurable"]["checkpoint_id"], "versions_seen": {},',
            '        "ts": "2026-11-21T00:00:00Z", "channel_values": {"count": count}, '
            '"channel_versions": new}',
            f"    return saver.{put}(at(thread, n - 1 or None), checkpoint, "
            '{"run_id": "run"}, new)',
            "def opened(path):",
            f"    return {self.expression}",
        ]
