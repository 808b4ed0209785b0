"""A saver with a serializer of its own, which stores more than LangGraph's does."""

from __future__ import annotations

from typing import Any

from saverproof.mistakes.reference.store import Blob
from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right

MARK = {"\0a plain object": True}
"""What is stored in the place of a plain `object()`."""


@right("its serializer stores object(), as pickle does", about={"channels", "serialization"})
class StoresAnyObject(SqliteReference):
    """Values that hold a plain `object()` are taken apart, and put together when they are read."""

    def _dump(self, value: Any) -> Blob:
        kind, data = self.serde.dumps_typed(_taken_apart(value))
        return f"own {kind}", data

    def _load(self, blob: Blob) -> Any:
        kind, data = blob
        return _put_together(self.serde.loads_typed((kind.removeprefix("own "), data)))


def _taken_apart(value: Any) -> Any:
    if type(value) is object:
        return MARK
    if type(value) is dict:
        return {key: _taken_apart(each) for key, each in value.items()}
    if type(value) is list:
        return [_taken_apart(each) for each in value]
    return value


def _put_together(value: Any) -> Any:
    if type(value) is dict:
        if value == MARK:
            return object()
        return {key: _put_together(each) for key, each in value.items()}
    if type(value) is list:
        return [_put_together(each) for each in value]
    return value
