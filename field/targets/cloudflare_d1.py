"""langgraph-checkpoint-cloudflare-d1, on a stand-in for D1."""

import contextlib
from collections.abc import Iterator
from typing import Any

from targets import on_server
from targets.standins import D1


@on_server(D1(), "cloudflare-d1")
@contextlib.contextmanager
def cloudflare_d1(dsn: str) -> "Iterator[Any]":
    from langgraph_checkpoint_cloudflare_d1 import CloudflareD1Saver

    saver = CloudflareD1Saver("account", "database", "token")
    saver.base_url = dsn
    saver.setup()
    yield saver
