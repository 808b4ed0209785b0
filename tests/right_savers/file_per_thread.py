"""A saver with a file for each thread: what is about several of them is done one by one."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from saverproof.mistakes.reference.store import ReferenceStore, Shelf
from tests.reference.state_file import StateFileReference, sync_folder
from tests.reference.state_text import state_from, state_of
from tests.right_savers.registry import right


@right(
    "a file for each thread, replaced as a whole: runs are deleted thread by thread",
    about={"atomicity", "deletion", "isolation", "lifecycle"},
    declines={"separate_records": "every file is read, and that of the thread written, each time"},
)
class FilePerThread(StateFileReference):
    before: dict[str, str]
    """What the files hold, by thread."""
    parsed: dict[str, dict[tuple[str, str], Shelf]]
    """By text, what the files held after the last call, unless that failed: most are the same."""

    @classmethod
    def at(cls, path: Path) -> Self:
        saver = super().at(path)
        saver.parsed = {}
        return saver

    @contextmanager
    def turn(self) -> Iterator[None]:
        with super().turn():
            yield
            for (thread, ns), shelf in self.store.shelves.items():
                self.parsed.setdefault(self.before[thread], {})[thread, ns] = shelf

    def catch_up(self) -> None:
        known, self.parsed = self.parsed, {}
        self.store.shelves, self.before = {}, {}
        for file in sorted(self.folder.glob("*.json")):
            text = file.read_text(encoding="utf-8")
            shelves = known.get(text) or state_from(text).shelves
            self.store.shelves |= shelves
            self.before |= {thread: text for thread, _ in shelves}

    def store_all(self) -> None:
        after = self._texts()
        for thread in sorted(self.before.keys() | after.keys()):
            if self.before.get(thread) != after.get(thread):
                self._store(thread, after.get(thread))
        self.before = after

    def _texts(self) -> dict[str, str]:
        threads: dict[str, ReferenceStore] = {}
        for (thread, ns), shelf in self.store.shelves.items():
            threads.setdefault(thread, ReferenceStore()).shelves[thread, ns] = shelf
        return {thread: state_of(store) for thread, store in threads.items()}

    def _store(self, thread: str, text: str | None) -> None:
        named = hashlib.sha256(thread.encode("utf-8", "surrogatepass")).hexdigest()
        file, new = self.folder / f"{named}.json", self.folder / "new"
        if text is None:
            file.unlink()
        else:
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "w", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            new.replace(file)
        sync_folder(self.folder)
