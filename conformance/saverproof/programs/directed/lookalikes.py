"""Short programs with metadata that a saver may mix up, and with filters on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from saverproof.programs.small import THREAD
from saverproof.programs.steps.definitions import ListTuples, Program, Put
from saverproof.programs.steps.identifiers import mint
from saverproof.programs.values.metadata import (
    FILTER_VALUES,
    LONG_TEXT,
    METADATA_KEYS,
    METADATA_VALUES,
)

_KEY = "user_id"
# True and 1 are never used together: whether a filter takes them for equal is open.
_NUMBERS = (1, "1", 1.0, "1.0", 0, "0", "", "None", "null", None, "True", "true", "False", "01")
_BOOLEANS = (True, False, "True", "true", "False", "None", None, "")
_TEXTS = tuple(value for value in FILTER_VALUES if isinstance(value, str))
_PATTERNS = (
    *("ann", "Ann", "an%", "a_n", "a*", "a?n", "[a]nn", "an", "ann ", " ann", "ann,bob", "bob"),
    *("ann|bob", "{ann}", "(ann)", "-ann", "@ann", "ann:bob", "ann-bob", "ann bob", "a.n", "~ann"),
    *('"ann"', "'ann'", "../ann", "./ann", "7", "07", "7.0", "ann\\b"),
)


def _all_of(values: tuple[Any, ...]) -> Iterator[Put]:
    """Yield one checkpoint for each value, which is in its metadata."""
    for number, value in enumerate(values, 1):
        yield Put(THREAD, "", number, number - 1 or None, metadata={_KEY: value})


def _looked_for(values: tuple[Any, ...]) -> Program:
    """Return a program that stores each value in metadata, and filters by each."""
    asked = (ListTuples(THREAD, filter={_KEY: value}) for value in values)
    return (*_all_of(values), *asked)


_LONG = tuple("long " * 100 + end for end in ("", "a", "b"))

FILTER_VALUES_ALIKE: tuple[Program, ...] = tuple(
    map(_looked_for, (_NUMBERS, _BOOLEANS, _TEXTS, _PATTERNS, _LONG))
)
"""Values that print alike, or one of which may be a pattern that fits another."""

_HOLDING: tuple[Any, ...] = (
    "ann",
    ["ann"],
    ["ann", "bob"],
    [["ann"]],
    {"ann": 1},
    {"ann": "ann"},
    [],
    {},
    1,
    [1],
)
HOLDING: Program = (
    *_all_of(_HOLDING),
    *(
        ListTuples(THREAD, filter={_KEY: value})
        for value in ("ann", "bob", 1, {"$gt": 0}, {"$in": ["ann"]}, {"$exists": True})
    ),
)
"""Lists and dicts that contain the value filtered by, and do not equal it."""

_STRUCTURED: tuple[Any, ...] = (
    {"app": 1, "user": 2},
    {"user": 2, "app": 1},
    {"app": 2, "user": 1},
    {"app": 1, "user": 3},
    {"app": 1},
    {"app": {"user": 2}},
    {"app": {"user": 3}},
    {"app": None},
    {},
    *([1, 2], [2, 1], [1, 1, 2], [1], [[1], 2], [None], []),
)
STRUCTURED_ALIKE: Program = _looked_for(_STRUCTURED)
"""Dicts and lists with the same keys or items as others, in other places or with other values."""

_KEYS = (
    *METADATA_KEYS,
    "long_" * 20 + "1",
    "long_" * 20 + "2",
    "",
    " padded ",
    "caf\u00e9",
    "cafe\u0301",
    "Caf\u00e9",
    "a/b",
)


def _as_the_loop_notes() -> Iterator[Put]:
    """Yield puts with metadata as LangGraph's loop writes it: of an input, of step 100,000, and of
    an update and a fork in nested subgraphs.
    """
    parents = {"": mint(1), "child": mint(2), "child|grandchild": mint(3)}
    notes: tuple[dict[str, Any], ...] = (
        {"source": "input", "step": -1, "parents": {}},
        {"source": "loop", "step": 100_000, "parents": {}},
        {"source": "update", "step": 3, "parents": parents},
        {"source": "fork", "step": 4, "parents": parents},
    )
    for number, noted in enumerate(notes, 1):
        yield Put(THREAD, "", number, number - 1 or None, metadata=noted)


METADATA: tuple[Program, ...] = (
    (
        Put(THREAD, "", 1, metadata={key: n for n, key in enumerate(_KEYS)}),
        *(Put(THREAD, "", n, metadata={key: n}) for n, key in enumerate(_KEYS, 2)),
        ListTuples(THREAD),
    ),
    (*_all_of((*METADATA_VALUES, *_NUMBERS, *_BOOLEANS, *_PATTERNS)), ListTuples(THREAD)),
    (Put(THREAD, "", 1, metadata={"note": LONG_TEXT}), ListTuples(THREAD)),
    (*_as_the_loop_notes(), ListTuples(THREAD)),
)
"""Every metadata key, together and alone; every metadata value; and the loop's own metadata."""
