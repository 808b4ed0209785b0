"""Counts the bytes that a store keeps: in its files, in its server, or in memory."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from saverproof.families.cost.questions import Question
from saverproof.savers.execution.store import Store
from saverproof.savers.targets.target import Target
from saverproof_faults.servers import ServerUnavailable

_GRAIN = 32_768
"""Memory is counted in steps of this many bytes: Python's own tables and frames differ by a few
hundred from run to run.
"""


class NotCounted(Exception):  # noqa: N818 - named by what happened
    """The store keeps its data where nothing can count it; the text says where."""


@contextmanager
def memory_of(target: Target, questions: Iterable[Question]) -> Iterator[bool]:
    """Trace allocations, if the target keeps its data in memory and a question is about the store's
    size. Yields whether the target keeps its data in memory.
    """
    asked = not target.durable and any(one.counts_what_is_kept for one in questions)
    followed = asked and not tracemalloc.is_tracing()
    if followed:
        tracemalloc.start()
    try:
        yield not target.durable
    finally:
        if followed:
            tracemalloc.stop()


@dataclass(frozen=True, slots=True)
class KeptMemory:
    """The bytes of memory that Python holds beyond those at the start, in steps of ``_GRAIN``."""

    first: int = field(default_factory=lambda: _traced())

    def now(self) -> int:
        """Return the bytes that are held now."""
        return -((self.first - _traced()) // _GRAIN) * _GRAIN


@dataclass(frozen=True, slots=True)
class KeptOutside:
    """The bytes that a store keeps in the files of its workspace, and in its server."""

    store: Store

    def now(self) -> int:
        """Return the bytes that are kept now. The store is closed for this, and opened again.

        Raises:
            NotCounted: the data lies elsewhere, or the server does not tell its size.
            OpeningError: closing or opening raised.
        """
        self.store.close()
        try:
            workspace, server = self.store.workspace, self.store.target.server
            kept = self.in_files()
            if server is not None:
                kept += server.bytes_kept(workspace.dsn)
        except ServerUnavailable as reason:
            raise NotCounted(str(reason)) from None
        finally:
            self.store.open()
        if not kept:
            raise NotCounted("what the store keeps lies outside of its workspace, uncounted")
        return kept

    def in_files(self) -> int:
        """Return the bytes in the files of the workspace now, while the store may be open."""
        return sum(size_of(path) for path in self.store.workspace.path.rglob("*"))


def _traced() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def size_of(path: Path) -> int:
    """Return the bytes of a file; 0 if it is no file, or is gone."""
    try:
        return path.stat().st_size if path.is_file() else 0
    except FileNotFoundError:
        return 0
