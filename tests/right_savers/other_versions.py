"""Savers whose channel versions are numbers."""

from __future__ import annotations

from typing import Any

from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right


@right(
    "channel versions are integers, as the base class makes them",
    about={"channels", "graph", "ordering"},
)
class IntegerVersions(SqliteReference):
    def get_next_version(self, current: Any, channel: None) -> Any:
        return 1 if current is None else current + 1


@right("channel versions are floats", about={"channels", "graph", "ordering"})
class FloatVersions(SqliteReference):
    def get_next_version(self, current: Any, channel: None) -> Any:
        return 1.5 if current is None else current + 1.0
