"""Savers as newcomers write them, each with the list of its flaws by reading."""

from __future__ import annotations

from tests.crowds.first_savers.file_per_thread import FILE_PER_THREAD
from tests.crowds.first_savers.json_files import JSON_FILES, TWO_FLAWS
from tests.crowds.first_savers.locked_dict import LOCKED_DICT
from tests.crowds.first_savers.one_table import ONE_TABLE
from tests.crowds.first_savers.redis_hash import REDIS_HASH
from tests.crowds.first_savers.registry import FirstSaver
from tests.crowds.first_savers.sqlalchemy_tables import SQLALCHEMY

__all__ = ["FIRST", "FirstSaver"]

FIRST: tuple[FirstSaver, ...] = (
    JSON_FILES,
    TWO_FLAWS,
    ONE_TABLE,
    SQLALCHEMY,
    REDIS_HASH,
    LOCKED_DICT,
    FILE_PER_THREAD,
)
