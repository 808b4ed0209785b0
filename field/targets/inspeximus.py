"""langgraph-checkpoint-inspeximus: a file of JSON lines."""

import contextlib
from collections.abc import Iterator
from typing import Any

from targets import on_path


@on_path("inspeximus")
@contextlib.contextmanager
def inspeximus(path: str) -> "Iterator[Any]":
    from langgraph.checkpoint.inspeximus import InspeximusSaver

    yield InspeximusSaver(path=path + "/threads.jsonl")
