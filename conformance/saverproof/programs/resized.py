"""Short programs in which values and metadata give way to others of another size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

from saverproof.model.records import SPECIAL_INDEX
from saverproof.programs.small import THREAD, checkpoint
from saverproof.steps.definitions import GetTuple, ListTuples, Program, PutWrites, Step
from saverproof.values import Value

_VALUES = (
    *(Value("text", ""), Value("list", 1), Value("bytes", 0)),
    *(Value("medium-bytes", 2), Value("large-bytes", 3)),
)
"""What lies in a row, in a column of its own, in pieces, in a file."""
_NOTES = ("", "short", "of some length " * 10, "of some length " * 100, "long " * 15_000)
_PAIRS = (*permutations(range(len(_VALUES)), 2),)


def _put_again() -> Iterator[Step]:
    """Each checkpoint is put with one size, and again with another."""
    for number, (first, second) in enumerate(_PAIRS, 1):
        for size in (first, second):
            sized = {"page": _VALUES[size]}
            yield replace(
                checkpoint(THREAD, number, number - 1 or None, also=sized),
                metadata={"source": "loop", "step": number, "note": _NOTES[size]},
            )
        yield GetTuple(THREAD, "", number)


def _written_again() -> Iterator[Step]:
    """Each special write is one of one size, and then of another."""
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
"""Every size after every other one, in channels with metadata, and in special writes."""
