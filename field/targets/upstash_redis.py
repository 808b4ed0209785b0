"""langgraph-checkpoint-upstash-redis, on a stand-in for Upstash Redis."""

import contextlib
from collections.abc import Iterator
from typing import Any

from targets import on_server
from targets.standins import Upstash


@on_server(Upstash(), "upstash-redis")
@contextlib.contextmanager
def upstash_redis(dsn: str) -> "Iterator[Any]":
    from langgraph.checkpoint.upstash_redis import UpstashRedisSaver

    saver = UpstashRedisSaver.from_conn_info(url=dsn, token="token")
    yield saver
    saver.client.close()
