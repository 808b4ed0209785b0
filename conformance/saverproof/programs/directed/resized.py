"""Short programs in which values and metadata are replaced by others of another size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

from saverproof.programs.model.records import SPECIAL_INDEX
from saverproof.programs.small import THREAD, checkpoint
from saverproof.programs.steps.definitions import GetTuple, ListTuples, Program, PutWrites, Step
from saverproof.programs.values import Value

_VALUES = (
    *(Value("text", ""), Value("list", 1), Value("bytes", 0)),
    *(Value("medium-bytes", 2), Value("large-bytes", 3)),
)
"""Values that a saver may keep in a row, in a column of their own, in pieces, or in a file."""
_NOTES = ("", "short", "of some length " * 10, "of some length " * 100, "long " * 15_000)
_PAIRS = (*permutations(range(len(_VALUES)), 2),)


def _put_again() -> Iterator[Step]:
    """Yield puts of each checkpoint with values of one size, and again of another."""
    for number, (first, second) in enumerate(_PAIRS, 1):
        for size in (first, second):
            sized = {"page": _VALUES[size]}
            yield replace(
                checkpoint(THREAD, number, number - 1 or None, also=sized),
                metadata={"source": "loop", "step": number, "note": _NOTES[size]},
            )
        yield GetTuple(THREAD, "", number)


def _written_again() -> Iterator[Step]:
    """Yield special writes of one size, and again of another."""
    yield checkpoint(THREAD, 1)
    for task, (first, second) in enumerate(_PAIRS, 1):
        for size in (first, second):
            special = [*SPECIAL_INDEX][task % len(SPECIAL_INDEX)]
            yield PutWrites(THREAD, "", 1, task, ((special, _VALUES[size]),))
    yield GetTuple(THREAD)


RESIZED: tuple[Program, ...] = (
    (*_put_again(), ListTuples(THREAD)),
    tuple(_written_again()),
)
"""Every size replaced by every other, in channels with metadata and in special writes."""
