"""A saver as stores that grow call it: by the sync names, through the API that is judged."""

from __future__ import annotations

from typing import Any

from saverproof.execution.driver import ApiDriver
from saverproof.process import heartbeat

COUNTS_NOTHING = frozenset(
    {
        "saverproof.execution",
        "saverproof.families",
        "saverproof.process",
        "saverproof.targets",
    }
)
"""Packages through which a call goes on its way to the saver, whose lines are not the saver's."""


class AskedSaver:
    """The saver behind a driver."""

    def __init__(self, driver: ApiDriver) -> None:
        self._driver = driver

    def get_next_version(self, current: Any, channel: Any) -> Any:
        return self._driver.saver.get_next_version(current, channel)

    def put(self, *arguments: Any) -> Any:
        return self._call("put", *arguments)

    def put_writes(self, *arguments: Any) -> Any:
        return self._call("put_writes", *arguments)

    def get_tuple(self, config: Any) -> Any:
        return self._call("get_tuple", config)

    def list(self, config: Any, **options: Any) -> Any:
        heartbeat.beat(0)
        return self._driver.list_tuples(config, options)

    def _call(self, operation: str, *arguments: Any) -> Any:
        heartbeat.beat(0)
        return self._driver.invoke(operation, *arguments)
