"""One small step for each operation of a saver."""

from __future__ import annotations

from collections.abc import Mapping

from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    GetTuple,
    ListTuples,
    Prune,
    Put,
    PutWrites,
    Step,
)
from saverproof.programs.steps.identifiers import task_id
from saverproof.programs.values import Value

_CHANGES = (("count", Value("integer", 1)),)
OPERATIONS: Mapping[str, Step] = {
    "put": Put("a", "", 1, changes=_CHANGES),
    "put_writes": PutWrites("a", "", 1, 1, _CHANGES),
    "get_tuple": GetTuple("a", "", 1),
    "list": ListTuples("a", "", 1),
    "delete_thread": DeleteThread("a"),
    "delete_for_runs": DeleteForRuns((task_id(1),)),
    "copy_thread": CopyThread("a", "b"),
    "prune": Prune(("a",), "keep_latest"),
}
"""A step that calls the operation in thread ``a``, by the method's name in the sync API."""
