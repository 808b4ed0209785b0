"""Savers that lack a base operation."""

from __future__ import annotations

from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.registry import mistake


@mistake("interface/complete", "deleting was left for later")
class NoDeleteThread(ReferenceSaver):
    def delete_thread(self, thread_id: str) -> None:
        raise NotImplementedError


@mistake("interface/complete", "written before put_writes joined the base class")
class NoPutWrites(ReferenceSaver):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        raise NotImplementedError


@mistake("interface/complete", "resuming needs no history, so list was never written")
class NoList(ReferenceSaver):
    def list(self, config: Any, **narrowing: Any) -> Any:
        raise NotImplementedError("list")
