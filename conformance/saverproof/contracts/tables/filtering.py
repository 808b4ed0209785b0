"""Contracts on listing by metadata (family `filter`)."""

from __future__ import annotations

from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.family_table import FamilyTable, contracts_in

_MEMORY = "`langgraph.checkpoint.memory.InMemorySaver.list` compares with =="

EQUALITY = Contract(
    id="filter/equality",
    statement=(
        "Every listed checkpoint equals the filter on every key, and every one that does is "
        "listed (strings without NUL, 64-bit integers, finite floats, booleans against "
        "booleans; keys of letters, digits and underscores)."
    ),
    source=f"{_MEMORY}; `langgraph.checkpoint.sqlite.utils.search_where`",
    wrong="values are compared as text, or only the first key of the filter counts",
    matters="A search by user, run or label shows other users' checkpoints, or misses some.",
    fix="Compare every key, with the type: a JSON value against a JSON value, and no cast to text.",
    implies=frozenset(
        {
            "filter/none",
            "filter/nested",
            "filter/dotted-key",
            "isolation/hostile-filter-keys",
        }
    ),
)

NONE = Contract(
    id="filter/none",
    level=Level.SHOULD,
    statement="A filter value of None matches a key whose value is None, or a missing key.",
    source=_MEMORY,
    wrong="`= NULL` is never true in SQL",
    matters="Searches for entries without a value find nothing.",
    fix="Translate None to `IS NULL`, and see to it that a missing key counts as well.",
)

NESTED = Contract(
    id="filter/nested",
    level=Level.SHOULD,
    statement="Dicts and lists in a filter are compared as a whole.",
    source=_MEMORY,
    wrong="a containment operator matches every superset, or texts of JSON are compared",
    matters=(
        "A search by a structured value finds too many, or none if its keys come in a different "
        "order."
    ),
    fix="Compare whole values: a normal form on both sides, or in Python after reading.",
)

DOTTED_KEY = Contract(
    id="filter/dotted-key",
    level=Level.SHOULD,
    statement="A dot in a filter key is part of the key.",
    source=_MEMORY,
    wrong="the key is pasted into a JSON path, where a dot descends into an object",
    matters="Labels such as `app.version`, which are common, can be stored and never found.",
    fix='Quote the key in the path (`$."app.version"`), or compare in Python.',
)

TABLE = FamilyTable(
    name="filter",
    title="listing by metadata",
    contracts=contracts_in(globals()),
)
