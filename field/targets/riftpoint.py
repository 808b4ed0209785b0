"""riftpoint: memory, behind a graph engine in Rust."""

import contextlib
from collections.abc import Iterator
from typing import Any

from targets import on_path


@on_path("riftpoint", durable=False)
@contextlib.contextmanager
def riftpoint(path: str) -> "Iterator[Any]":
    from riftpoint import RiftCheckpointSaver

    yield RiftCheckpointSaver()
