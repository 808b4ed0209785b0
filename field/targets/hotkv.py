"""langgraph-checkpoint-hotkv: a server that speaks Redis's protocol, here Redis itself."""

import contextlib
from collections.abc import Iterator
from typing import Any

from saverproof import Redis
from targets import on_server


@on_server(Redis(), "hotkv")
@contextlib.contextmanager
def hotkv(dsn: str) -> "Iterator[Any]":
    from langgraph.checkpoint.hotkv import HotKVSaver

    with HotKVSaver.from_conn_string(dsn) as saver:
        yield saver
