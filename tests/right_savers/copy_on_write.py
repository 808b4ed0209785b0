"""A saver in memory that never changes what is there: it changes a copy, and exchanges the two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import ReferenceStore, Shelf
from tests.right_savers.registry import right


def _on_a_copy(name: str) -> Callable[..., Any]:
    @wraps(getattr(ReferenceSaver, name))
    def method(self: CopyOnWrite, *args: Any, **options: Any) -> Any:
        with self.store.lock:
            draft = ReferenceSaver(ReferenceStore(), serde=self.serde)
            draft.store.shelves = {key: _copied(shelf) for key, shelf in self.store.shelves.items()}
            answer = getattr(draft, name)(*args, **options)
            self.store.shelves = draft.store.shelves
            return answer

    return method


def _on_what_is_there(name: str) -> Callable[..., Any]:
    @wraps(getattr(ReferenceSaver, name))
    def method(self: CopyOnWrite, *args: Any, **options: Any) -> Any:
        view = ReferenceSaver(ReferenceStore(), serde=self.serde)
        view.store.shelves = self.store.shelves
        return getattr(view, name)(*args, **options)

    return method


def _copied(shelf: Shelf) -> Shelf:
    writes = {id: dict(rows) for id, rows in shelf.writes.items()}
    return replace(
        shelf, checkpoints=dict(shelf.checkpoints), writes=writes, values=dict(shelf.values)
    )


@right(
    "each write makes a new copy of everything, which readers see when it is whole",
    about={"atomicity", "cost"},
    durable=False,
    advice={"cost/put-writes": "the tables of the thread are copied"},
)
class CopyOnWrite(ReferenceSaver):
    put = _on_a_copy("put")
    put_writes = _on_a_copy("put_writes")
    delete_thread = _on_a_copy("delete_thread")
    delete_for_runs = _on_a_copy("delete_for_runs")
    copy_thread = _on_a_copy("copy_thread")
    prune = _on_a_copy("prune")
    get_tuple = _on_what_is_there("get_tuple")
    list = _on_what_is_there("list")
    get_delta_channel_history = _on_what_is_there("get_delta_channel_history")
