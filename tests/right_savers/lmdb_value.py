"""A saver that keeps its store as one value of LMDB, each operation one transaction."""

from __future__ import annotations

from tests.reference.lmdb_value import LmdbReference
from tests.right_savers.registry import right


@right(
    "the whole store is one value of LMDB, and each operation one transaction",
    about={"atomicity", "ordering"},
    declines={
        "large": "the whole store is written each time",
        "separate_records": "the whole store is one value",
    },
)
class LmdbValue(LmdbReference):
    pass
