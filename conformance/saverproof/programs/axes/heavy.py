"""Programs that take seconds: long histories and large values, with reads of them."""

from __future__ import annotations

from saverproof.programs.steps.definitions import (
    DeltaHistory,
    GetTuple,
    IdForm,
    ListTuples,
    Program,
    Put,
    PutHistory,
    PutWrites,
    Times,
    WalkPages,
)
from saverproof.programs.values import Value

THREAD, ROOT = "a", ""
_ANN = {"user": "ann"}


def _put(number: int, parent: int | None = None, *, namespace: str = ROOT) -> Put:
    changes = (("count", Value("integer", number)),)
    metadata = {"source": "loop", "step": number}
    return Put(THREAD, namespace, number, parent, changes=changes, metadata=metadata)


_NEWEST = 1_101
_LONG: Program = (
    _put(1),
    PutHistory(THREAD, ROOT, 2, 400, 1, marked=150),
    PutHistory(THREAD, ROOT, 402, 400, 401, marked=150, times=Times.FALLING),
    PutHistory(THREAD, ROOT, 802, 300, 801, marked=150, times=Times.EQUAL),
    # A root, a child of an older checkpoint, a fork, and a parent with a higher id.
    _put(1_103),
    _put(1_104, _NEWEST),
    _put(1_105, 1),
    _put(1_109),
    _put(1_106, 1_109),
)
"""A namespace of 1,106 checkpoints with all kinds of parents and times."""
_ABOVE = 1_110


def _asked(before: int | None = None, limit: int | None = None) -> ListTuples:
    return ListTuples(THREAD, ROOT, before=before, limit=limit)


_SPELT: Program = (
    GetTuple(THREAD, ROOT),
    GetTuple(THREAD, ROOT, id_form=IdForm.NONE),
    GetTuple(THREAD, ROOT, id_form=IdForm.EMPTY),
)
_ORDERED: Program = (
    *_SPELT,
    GetTuple(THREAD, ROOT, 600),
    _asked(limit=150),
    _asked(before=121, limit=120),
    _asked(before=50, limit=0),
    _asked(before=50, limit=1),
    _asked(before=1_107, limit=1_200),
    ListTuples(THREAD, ROOT, filter=_ANN, limit=4),
    ListTuples(THREAD, ROOT, filter={"user": "nobody"}),
    ListTuples(THREAD),
    ListTuples(None),
    WalkPages(THREAD, ROOT, 1_000),
)
_IDENTIFIED: Program = (
    _put(_ABOVE, namespace="child"),
    *_SPELT,
    GetTuple(THREAD, None),
    GetTuple(THREAD, "child"),
    GetTuple(THREAD, ROOT, 600),
    ListTuples(THREAD, ROOT),
    ListTuples(THREAD),
    ListTuples(THREAD, ROOT, 600),
    ListTuples(None),
)
_FILTERED: Program = (
    ListTuples(THREAD, filter=_ANN),
    _asked(before=51, limit=50),
    _asked(before=1_107, limit=1),
    _asked(before=50, limit=0),
    ListTuples(THREAD, ROOT, filter=_ANN, limit=9),
    ListTuples(THREAD, ROOT, filter={"user": "nobody"}, limit=5),
)


def _batch(last: Value) -> PutWrites:
    """Return a batch of 1,100 writes, which ends with the value ``last``."""
    writes = tuple(("count", Value("integer", number)) for number in range(1_099))
    return PutWrites(THREAD, ROOT, 5, 1, (*writes, ("notes", last)))


_WRITTEN: Program = (
    PutWrites(THREAD, ROOT, 5, 2, (("notes", Value("text", "")),)),
    _put(5),
    _batch(Value("dict", 3)),
    GetTuple(THREAD, ROOT),
    GetTuple(THREAD, ROOT, 5),
    _put(6, 5),
    PutWrites(THREAD, ROOT, 5, 3, (("notes", Value("text", "late")),)),
    ListTuples(THREAD, ROOT),
    ListTuples(THREAD),
)

_HUGE = ("notes", Value("huge-text", 1))
_SMALL = (("count", Value("text", "")), ("log", Value("dict", 3)), ("size", Value("integer", 1)))
_LARGE: Program = (
    Put(THREAD, ROOT, 1),
    Put(THREAD, ROOT, 2, changes=(_HUGE,)),
    PutWrites(THREAD, ROOT, 2, 1, _SMALL),
    Put(THREAD, ROOT, 3, 1, changes=_SMALL),
    PutWrites(THREAD, ROOT, 3, 1, (_HUGE, *_SMALL)),
    GetTuple(THREAD, ROOT, 2),
)
"""Values of 16 MB in a channel and in a write, next to small ones."""


def _deltas(number: int, parent: int | None, **values: int) -> Put:
    """Return a checkpoint of three delta channels, which stores only the values given."""
    dropped: dict[str, Value | None] = dict.fromkeys(("log", "size", "count", "notes"))
    changes = dropped | {name: Value("integer", value) for name, value in values.items()}
    return Put(THREAD, ROOT, number, parent, changes=tuple(changes.items()))


_DEEP: Program = (
    _deltas(1, None, log=1, count=1, notes=1),
    _deltas(2, 1, count=2),
    PutHistory(THREAD, ROOT, 3, 400, 2),
    PutHistory(THREAD, ROOT, 403, 400, 402, times=Times.FALLING),
    PutHistory(THREAD, ROOT, 803, 310, 802, times=Times.EQUAL),
    *(
        PutWrites(THREAD, ROOT, number, 1, tuple((n, Value("integer", number)) for n in names))
        for number in (1, 2, 600, 1_112)
        for names in (("log", "size", "notes"),)
    ),
    _put(1_114),
    _put(1_115, 1_112),
    _put(1_116, 1),
    _put(1_119),
    _put(1_118, 1_119),
    DeltaHistory(THREAD, ROOT, 1_115, ("notes", "size", "log")),
    DeltaHistory(THREAD, ROOT, 1_115, ("count",)),
    DeltaHistory(THREAD, ROOT, 3, ("notes", "log")),
    DeltaHistory(THREAD, ROOT, 80, ("size",)),
)
"""A history of 1,112 checkpoints of which only the first stores values of the delta channels.

It is read far below the newest checkpoint too: PostgresSaver 3.1.2 looked among 1,024 checkpoints
only (langgraph issue 8448).
"""


HEAVY_PROGRAMS: dict[str, tuple[Program, ...]] = {
    "ordering": ((*_LONG, *_ORDERED),),
    "identity": ((*_LONG, *_IDENTIFIED),),
    "filter": ((*_LONG, *_FILTERED),),
    "pending-writes": (_WRITTEN,),
    "serialization": (_LARGE,),
    "delta-history": (_DEEP,),
}
"""Each family's programs for the points that the profile "quick" leaves out."""
