"""Savers for relatives of MySQL, judged on MariaDB, a stand-in for OceanBase."""

import contextlib
from collections.abc import Iterator
from typing import Any

from saverproof import MariaDB
from targets import on_server


@on_server(MariaDB(), "oceanbase")
@contextlib.contextmanager
def oceanbase(dsn: str) -> "Iterator[Any]":
    from langgraph.checkpoint.oceanbase.pyoceanbase import PyOceanBaseSaver

    with PyOceanBaseSaver.from_conn_string(dsn) as saver:
        saver.setup()
        yield saver


@on_server(MariaDB(), "oceanbase-es")
@contextlib.contextmanager
def oceanbase_es(dsn: str) -> "Iterator[Any]":
    from langgraph.checkpoint.oceanbase.pymysql import OceanBaseSaver

    with OceanBaseSaver.from_conn_string(dsn) as saver:
        saver.setup()
        yield saver
