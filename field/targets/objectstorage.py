"""langgraph-checkpoint-objectstorage: fsspec, here on files."""

import contextlib
from collections.abc import Iterator
from typing import Any

from targets import on_path


@on_path("objectstorage")
@contextlib.contextmanager
def objectstorage(path: str) -> "Iterator[Any]":
    from langgraph_checkpoint_objectstorage import ObjectStorageSaver

    yield ObjectStorageSaver.from_conn_string("file://" + path)
