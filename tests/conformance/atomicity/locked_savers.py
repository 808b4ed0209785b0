"""Savers that are kept out of their file by another process. Scripts import them from here."""

from __future__ import annotations

from typing import Any

import apsw
from tests.reference.sqlite import SqliteReference
from tests.right_savers.apsw_connection import ApswDatabase


class LockedByOthers(ApswDatabase):
    """Through APSW, so that nothing in this process can refuse it a lock. Readers wait in vain."""

    journal_mode = "DELETE"
    busy_timeout_s = 0.1


class WaitsForAWhile(SqliteReference):
    database_class = LockedByOthers


class BusyIsNotFound(WaitsForAWhile):
    def get_tuple(self, config: Any) -> Any:
        try:
            return super().get_tuple(config)
        except apsw.BusyError:
            return None
