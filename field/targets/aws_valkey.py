"""langgraph-checkpoint-aws on Valkey."""

import contextlib
from collections.abc import Iterator
from typing import Any

from saverproof import Valkey
from targets import on_server


@on_server(Valkey(), "aws-valkey")
@contextlib.contextmanager
def aws_valkey(dsn: str) -> "Iterator[Any]":
    from langgraph_checkpoint_aws import ValkeySaver

    with ValkeySaver.from_conn_string(dsn) as saver:
        yield saver
