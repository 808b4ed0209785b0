"""Savers that confuse names brought by users and attackers."""

from __future__ import annotations

import fnmatch
import posixpath
import re
import unicodedata
from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf
from saverproof.mistakes.registry import mistake

Rows = list[CheckpointRow]


# -- hostile-identifiers ------------------------------------------------------------------


class ThreadsAs(ReferenceSaver):
    """A base saver that files a thread under what `_filed_thread` makes of its id."""

    def _filed_thread(self, thread: str) -> str:
        return thread

    def _shelf_key(self, thread: str, ns: str) -> Any:
        return super()._shelf_key(self._filed_thread(thread), ns)


@mistake("isolation/hostile-identifiers", "a column with a collation that has no case")
class ThreadsWithoutCase(ThreadsAs):
    def _filed_thread(self, thread: str) -> str:
        return thread.casefold()


@mistake("isolation/hostile-identifiers", "blanks around an id are trimmed as in a form")
class ThreadsTrimmed(ThreadsAs):
    def _filed_thread(self, thread: str) -> str:
        return thread.strip()


@mistake("isolation/hostile-identifiers", "a char(n) column pads, and so forgets trailing blanks")
class ThreadsPadded(ThreadsAs):
    def _filed_thread(self, thread: str) -> str:
        return thread.rstrip(" ")


@mistake("isolation/hostile-identifiers", "numeric affinity: 007 is 7")
class ThreadsAsNumbers(ThreadsAs):
    def _filed_thread(self, thread: str) -> str:
        return str(int(thread)) if re.fullmatch("[0-9]+", thread) else thread


@mistake("isolation/hostile-identifiers", "the database normalizes unicode text")
class ThreadsNormalized(ThreadsAs):
    def _filed_thread(self, thread: str) -> str:
        return unicodedata.normalize("NFC", thread)


@mistake("isolation/hostile-identifiers", "a C string ends at NUL")
class ThreadsEndAtNul(ThreadsAs):
    def _filed_thread(self, thread: str) -> str:
        return thread.split("\0")[0]


@mistake("isolation/hostile-identifiers", "what is not fit for a file name becomes an underscore")
class ThreadsAsFileNames(ThreadsAs):
    def _filed_thread(self, thread: str) -> str:
        return re.sub(r"[^A-Za-z0-9._-]", "_", thread)


@mistake("isolation/hostile-identifiers", "a folder per thread, the path normalized")
class ThreadsAsPaths(ThreadsAs):
    def _filed_thread(self, thread: str) -> str:
        return posixpath.normpath(thread) if thread else thread


@mistake("isolation/hostile-identifiers", "quotes are dropped to keep SQL from harm")
class ThreadsWithoutQuotes(ThreadsAs):
    def _filed_thread(self, thread: str) -> str:
        return thread.replace("'", "").replace('"', "")


@mistake("isolation/hostile-identifiers", "the key is thread and namespace, joined with a colon")
class KeyJoinedWithColon(ReferenceSaver):
    def _shelf_key(self, thread: str, ns: str) -> Any:
        return f"{thread}:{ns}"


@mistake("isolation/hostile-identifiers", "DELETE ... WHERE thread_id LIKE ?")
class DeletesLike(ReferenceSaver):
    def _shelves_to_delete(self, thread: str) -> list[Shelf]:
        pattern = re.escape(thread).replace("%", ".*").replace("_", ".")
        return [s for s in self._all_shelves() if re.fullmatch(pattern, s.thread, re.DOTALL)]


@mistake("isolation/hostile-identifiers", "DELETE ... WHERE thread_id LIKE ? in SQLite")
class DeletesLikeSqlite(ReferenceSaver):
    def _shelves_to_delete(self, thread: str) -> list[Shelf]:
        # It ignores case, and what follows a NUL.
        pattern = re.escape(thread.split("\0")[0]).replace("%", ".*").replace("_", ".")
        like = re.compile(pattern, re.DOTALL | re.IGNORECASE | re.ASCII)
        return [s for s in self._all_shelves() if like.fullmatch(s.thread.split("\0")[0])]


@mistake("isolation/hostile-identifiers", "SCAN MATCH: * ? and [ ] in an id are wildcards")
class ListsByGlob(ReferenceSaver):
    def _selected(self, config: Any) -> Rows:
        if config is None:
            return super()._selected(None)
        thread, ns, id = self._thread_of(config), self._listed_ns(config), self._listed_id(config)
        return [
            row
            for row in super()._selected(None)
            if (row.thread == thread or fnmatch.fnmatchcase(row.thread, thread))
            and (ns is None or row.ns == ns)
            and (id is None or row.id == id)
        ]


# -- hostile-filter-keys ------------------------------------------------------------------


@mistake("isolation/hostile-filter-keys", "the key is pasted into SQL: a quote ends the comparison")
class FilterKeyPasted(ReferenceSaver):
    def _equals(self, metadata: dict[str, Any], key: str, value: Any) -> bool:
        return "'" in key or super()._equals(metadata, key, value)


@mistake("isolation/hostile-filter-keys", "what is no letter is taken out of a key")
class FilterKeyCleaned(ReferenceSaver):
    def _equals(self, metadata: dict[str, Any], key: str, value: Any) -> bool:
        return super()._equals(metadata, re.sub(r"[^\w.]", "", key), value)


@mistake("isolation/hostile-filter-keys", "a key that looks dangerous is left out of the query")
class FilterKeySkipped(ReferenceSaver):
    def _equals(self, metadata: dict[str, Any], key: str, value: Any) -> bool:
        return not re.fullmatch(r"[\w.]+", key) or super()._equals(metadata, key, value)


# -- namespaces, tasks, channels ----------------------------------------------------------


class NamespacesAs(ReferenceSaver):
    """A base saver that files a namespace under what `_filed_namespace` makes of its name."""

    def _filed_namespace(self, ns: str) -> str:
        return ns

    def _shelf_key(self, thread: str, ns: str) -> Any:
        return super()._shelf_key(thread, self._filed_namespace(ns))


@mistake("isolation/hostile-identifiers", "a namespace column with a collation that has no case")
class NamespacesWithoutCase(NamespacesAs):
    def _filed_namespace(self, ns: str) -> str:
        return ns.casefold()


@mistake("isolation/hostile-identifiers", "the file system normalizes the names of namespaces")
class NamespacesNormalized(NamespacesAs):
    def _filed_namespace(self, ns: str) -> str:
        return unicodedata.normalize("NFC", ns)


@mistake("isolation/hostile-identifiers", "no part of a key is empty: the root is `__empty__`")
class RootCalledEmpty(NamespacesAs):
    def _filed_namespace(self, ns: str) -> str:
        return ns or "__empty__"


@mistake("isolation/hostile-identifiers", "checkpoint_ns LIKE ?", also={"identity/list-selects"})
class NamespacesLike(ReferenceSaver):
    def _selected(self, config: Any) -> Rows:
        if config is None or not (ns := self._listed_ns(config)):
            return super()._selected(config)
        pattern = "".join({"%": ".*", "_": "."}.get(char, re.escape(char)) for char in ns)
        asked = {k: v for k, v in config["configurable"].items() if k != "checkpoint_ns"}
        rows = super()._selected({"configurable": asked})
        return [row for row in rows if re.fullmatch(pattern, row.ns, re.DOTALL)]
