"""The contents of the model, and what a right saver would answer from them."""

from __future__ import annotations

from collections.abc import Iterator

from saverproof.programs.model import metadata as metadata_rules
from saverproof.programs.model.records import Address, PendingWrite, Record, Version, WriteKey
from saverproof.programs.steps.definitions import ListTuples
from saverproof.programs.steps.identifiers import task_id


class Contents:
    """The checkpoints and pending writes of a store, and what is uncertain about them."""

    def __init__(self) -> None:
        self.threads: dict[str, dict[str, dict[int, Record]]] = {}
        self._born: dict[Address, dict[int, None]] = {}
        """The numbers that were ever put as children of an address, also if they are gone: a search
        through all checkpoints would take the square of their number.
        """
        self.writes: dict[Address, dict[WriteKey, PendingWrite]] = {}
        self.gone: dict[Address, str] = {}
        """Addresses that were put and removed, with the operation that removed them."""
        self.doubted_values: set[tuple[str, str, str, Version]] = set()
        self.doubted_writes: set[Address] = set()
        """Checkpoints whose pending writes were seen to be wrong."""
        self.open_writes: set[Address] = set()
        """Checkpoints whose pending writes the saver may have kept or not. They are not judged."""
        self.copies: set[frozenset[str]] = set()
        """Pairs of threads, one of which was copied from the other."""
        self.unexpected: set[Address] = set()
        """Addresses that are not judged: the saver shows something wrong there that was reported
        already, or may show whatever it likes.
        """
        self.diverged = False
        """True after the saver lost checkpoints or showed unknown ones, and the model
        followed it.
        """

    def record(self, address: Address) -> Record | None:
        """Return the checkpoint at an address, or None."""
        thread, namespace, number = address
        return self.threads.get(thread, {}).get(namespace, {}).get(number)

    def history(self, thread: str, namespace: str) -> dict[int, Record]:
        """Return the checkpoints of one namespace by number."""
        return self.threads.get(thread, {}).get(namespace, {})

    def latest(self, thread: str, namespace: str) -> int | None:
        """Return the greatest checkpoint number in a namespace, or None."""
        return max(self.history(thread, namespace), default=None)

    def addresses(self) -> Iterator[Address]:
        """Yield the address of every checkpoint."""
        for thread, namespaces in self.threads.items():
            for namespace, records in namespaces.items():
                for number in records:
                    yield thread, namespace, number

    def pending(self, address: Address) -> list[PendingWrite]:
        """Return the pending writes of a checkpoint in ``writes_sort_key`` order."""
        stored = self.writes.get(address)
        if not stored:
            return []
        if len(stored) == 1:
            return list(stored.values())
        return sorted(stored.values(), key=lambda w: (w.path, task_id(w.task), w.index))

    def listing(self, step: ListTuples) -> list[Address]:
        """Return what a listing selects without its limit, newest first in each namespace."""
        found: list[Address] = []
        threads = self.threads if step.thread is None else (step.thread,)
        for thread in threads:
            for namespace, records in self.threads.get(thread, {}).items():
                if step.namespace is not None and namespace != step.namespace:
                    continue
                found += [
                    (thread, namespace, number)
                    for number in sorted(records, reverse=True)
                    if self._selected(step, number, records[number])
                ]
        return found

    @staticmethod
    def _selected(step: ListTuples, number: int, record: Record) -> bool:
        if step.number is not None and number != step.number:
            return False
        if step.before is not None and number >= step.before:
            return False
        if not step.filter:
            return True
        return metadata_rules.selects(step.filter, record.merged | record.metadata)

    def keep(self, address: Address, record: Record) -> None:
        """Put a record at an address, in place of any that is there."""
        thread, namespace, number = address
        self.threads.setdefault(thread, {}).setdefault(namespace, {})[number] = record
        if record.parent is not None:
            self._born.setdefault((thread, namespace, record.parent), {})[number] = None

    def children(self, address: Address) -> Iterator[int]:
        """Yield the checkpoints of the same namespace that have this one as their parent."""
        thread, namespace, number = address
        history = self.history(thread, namespace)
        for child in self._born.get(address, ()):
            if child in history and history[child].parent == number:
                yield child

    def has_children(self, address: Address) -> bool:
        """Return whether a checkpoint of the same namespace has this one as its parent."""
        return next(self.children(address), None) is not None
