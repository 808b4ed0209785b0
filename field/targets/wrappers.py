"""Savers that add something to another one. Below them is the kit's own SQLite saver."""

import contextlib
from collections.abc import Iterator
from typing import Any

from targets import on_path


@on_path("oep")
@contextlib.contextmanager
def oep(path: str) -> "Iterator[Any]":
    from langgraph_oep import LocalJsonlSink, OEPCheckpointSaver

    from saverproof_savers import SqliteSaver

    with SqliteSaver.open(path + "/checkpoints.db") as inner:
        yield OEPCheckpointSaver(inner, LocalJsonlSink(path + "/records.jsonl"))


@on_path("langmigrate")
@contextlib.contextmanager
def langmigrate(path: str) -> "Iterator[Any]":
    from langmigrate import MigrationRegistry, setup_langmigrate

    from saverproof_savers import SqliteSaver

    with SqliteSaver.open(path + "/checkpoints.db") as inner:
        yield setup_langmigrate(inner, MigrationRegistry([]))


@on_path("grafomem")
@contextlib.contextmanager
def grafomem(path: str) -> "Iterator[Any]":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from grafomem_checkpoint import GrafomemCheckpointSaver, GrafomemSerializer

    from saverproof_savers import SqliteSaver

    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    with SqliteSaver.open(path + "/checkpoints.db", serde=GrafomemSerializer(key)) as inner:
        yield GrafomemCheckpointSaver(inner)


@on_path("remit")
@contextlib.contextmanager
def remit(path: str) -> "Iterator[Any]":
    from langgraph.checkpoint.sqlite import SqliteSaver
    from remit.langgraph_shim import saver_class

    with saver_class(SqliteSaver).from_conn_string(path + "/checkpoints.db") as saver:
        yield saver
