"""areev-langgraph: one file of the engine areev for each thread."""

import contextlib
from collections.abc import Iterator
from typing import Any

from targets import on_path


@on_path("areev")
@contextlib.contextmanager
def areev(path: str) -> "Iterator[Any]":
    from areev_langgraph import AreevCheckpointSaver

    saver = AreevCheckpointSaver(path)
    yield saver
    saver._handles.clear()  # it has no close; one file can be opened once
