"""langgraph-checkpoint-mongodb on mongomock, a stand-in in memory: no MongoDB runs here."""

import contextlib
from collections.abc import Iterator
from typing import Any

from targets import on_path


@on_path("mongodb", durable=False)
@contextlib.contextmanager
def mongodb(path: str) -> "Iterator[Any]":
    import mongomock
    from langgraph.checkpoint.mongodb import MongoDBSaver
    from mongomock.collection import BulkOperationBuilder

    def without_sort(self, *given, sort=None, **named):
        return add_update(self, *given, **named)

    if not hasattr(BulkOperationBuilder, "whole"):  # pymongo gives it `sort`, which it lacks
        add_update = BulkOperationBuilder.whole = BulkOperationBuilder.add_update
        BulkOperationBuilder.add_update = without_sort

    client = mongomock.MongoClient()
    client.append_metadata = lambda *_: None  # pymongo has it, mongomock does not
    yield MongoDBSaver(client)
