"""Savers that store a changed name, and answer with that name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf
from saverproof.mistakes.registry import mistake

HOSTILE = "isolation/hostile-identifiers"
# The names in answers are those that were kept.
ADDRESSES = {"identity/tuple-addresses-itself"}
ONE_NAMESPACE = {
    *ADDRESSES,
    "identity/list-selects",
    "identity/unknown-is-none",
    "isolation/same-id-in-namespaces",
}


class PutAnswersAsAsked(ReferenceSaver):
    """A base saver whose put answers with the names that it was given, whatever names it stores."""

    def _put_answer(self, config: RunnableConfig, row: CheckpointRow) -> RunnableConfig:
        given = config["configurable"]
        return self._address(str(given["thread_id"]), given.get("checkpoint_ns") or "", row.id)


# -- threads ------------------------------------------------------------------------------


class ThreadsKeptAs(ReferenceSaver):
    """A base saver that stores a thread under the id that `_kept_thread` makes of the thread's
    id.
    """

    def _kept_thread(self, thread: str) -> str:
        return thread

    def _thread_of(self, config: RunnableConfig) -> str:
        return self._kept_thread(super()._thread_of(config))

    def _shelves_to_delete(self, thread: str) -> list[Shelf]:
        return super()._shelves_to_delete(self._kept_thread(thread))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        ids = (source_thread_id, target_thread_id)
        super().copy_thread(*map(self._kept_thread, map(str, ids)))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        super().prune([self._kept_thread(str(each)) for each in thread_ids], strategy=strategy)


@mistake(HOSTILE, "ids are lower-cased as they come in", also=ADDRESSES)
class ThreadsKeptLower(ThreadsKeptAs):
    def _kept_thread(self, thread: str) -> str:
        return thread.lower()


@mistake(HOSTILE, "ids are lower-cased where they are stored and looked up", also=ADDRESSES)
class ThreadsStoredLower(PutAnswersAsAsked, ThreadsKeptLower):
    pass


@mistake(HOSTILE, "ids are trimmed as they come in", also=ADDRESSES)
class ThreadsKeptTrimmed(ThreadsKeptAs):
    def _kept_thread(self, thread: str) -> str:
        return thread.strip()


@mistake(HOSTILE, "ids are trimmed where they are stored and looked up", also=ADDRESSES)
class ThreadsStoredTrimmed(PutAnswersAsAsked, ThreadsKeptTrimmed):
    pass


@mistake(
    HOSTILE, "a column for thirty-six characters of an id, the length of a UUID", also=ADDRESSES
)
class ThreadsStoredCut(PutAnswersAsAsked, ThreadsKeptAs):
    def _kept_thread(self, thread: str) -> str:
        return thread[:36]


@mistake(HOSTILE, "a listing takes the id of a thread from the name of its folder", also=ADDRESSES)
class ThreadsStoredAsFileNames(PutAnswersAsAsked, ThreadsKeptAs):
    def _kept_thread(self, thread: str) -> str:
        return re.sub(r"[^A-Za-z0-9._-]", "_", thread)


# -- namespaces ---------------------------------------------------------------------------


@mistake(
    "isolation/namespaces",
    "there is no column for a namespace, and answers name the root",
    # LangGraph's update_state hands put's answer to put_writes, and back to its caller.
    also={*ONE_NAMESPACE, "identity/put-returns-address"},
)
class NoNamespaces(ReferenceSaver):
    def _ns_or_root(self, config: Any) -> str:
        return ""

    def _listed_ns(self, config: Any) -> str | None:
        return None


@mistake(
    "isolation/namespaces",
    "there is no column for a namespace, and put answers as it was asked",
    also=ONE_NAMESPACE,
)
class NamespacesForgotten(PutAnswersAsAsked, NoNamespaces):
    pass
