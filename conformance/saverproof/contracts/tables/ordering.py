"""Contracts on the order of checkpoints and of pending writes."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.family_table import FamilyTable, contracts_in

_HISTORY = frozenset({Capability.HISTORY})

LIST_NEWEST_FIRST = Contract(
    id="ordering/list-newest-first",
    statement=(
        "`list` yields the checkpoints of each thread and namespace by descending checkpoint "
        "id, compared as text."
    ),
    source=(
        "`langgraph.checkpoint.base.Checkpoint`: the id is 'monotonically increasing', for "
        "sorting from first to last; `langgraph.checkpoint.memory.InMemorySaver.list`"
    ),
    wrong="rows come in insertion order (ORDER BY rowid), so a late put is listed first",
    needs=_HISTORY,
    implies=frozenset({"ordering/pages-tile", "ordering/all-threads-newest-first"}),
)

LATEST_IS_GREATEST_ID = Contract(
    id="ordering/latest-is-greatest-id",
    statement=(
        "`get_tuple` without a checkpoint id gives the greatest checkpoint id of that thread "
        "and namespace, whatever the order of puts and repeated puts."
    ),
    source=(
        "`langgraph.checkpoint.base.Checkpoint` (ids sort from first to last); "
        "`langgraph.checkpoint.memory.InMemorySaver.get_tuple`"
    ),
    wrong="a 'latest' pointer is set to whatever checkpoint was put last",
    needs=_HISTORY,
)

BEFORE_IS_EXCLUSIVE = Contract(
    id="ordering/before-is-exclusive",
    statement=(
        "`list(before=X)` yields exactly the checkpoints whose id is below X's, whether X is "
        "stored, belongs to another namespace, or was never put."
    ),
    source=(
        "`langgraph._internal._replay.ReplayState.get_checkpoint` passes the parent graph's "
        "id; `langgraph.checkpoint.memory.InMemorySaver.list`"
    ),
    wrong="`before` is inclusive, or looks its id up in the namespace that is listed",
    needs=_HISTORY,
    implies=frozenset({"ordering/pages-tile"}),
)

LIMIT_IS_A_PREFIX = Contract(
    id="ordering/limit-is-a-prefix",
    statement=(
        "Within one thread and namespace `list(limit=n)` is the first n checkpoints of the "
        "same list without limit, over several it is any n of them, `limit=0` gives none if it is "
        "accepted, and the limit counts after filter and before."
    ),
    source="`langgraph.checkpoint.memory.InMemorySaver.list`",
    wrong="`if limit:` takes 0 for no limit, or LIMIT is applied before the filter",
    implies=frozenset({"ordering/pages-tile"}),
)

LIMIT_ZERO = Contract(
    id="ordering/limit-zero",
    level=Level.SHOULD,
    statement="`list(limit=0)` is accepted, and gives nothing.",
    source=(
        "advice: every official saver gives an empty listing, but nothing in LangGraph asks for "
        "one; a limit of 0 that is refused is better than one that is taken for no limit"
    ),
    wrong="a limit below 1 raises ValueError",
    needs=_HISTORY,
)

PAGES_TILE = Contract(
    id="ordering/pages-tile",
    statement=(
        "Within one thread and namespace, walking pages with `before` and `limit` visits every "
        "checkpoint exactly once."
    ),
    source="`langgraph.pregel.Pregel.get_state_history`: before and limit page the history",
    wrong="`before` and `limit` each work alone, but together one is applied to the wrong rows",
    needs=_HISTORY,
)

ALL_THREADS_NEWEST_FIRST = Contract(
    id="ordering/all-threads-newest-first",
    level=Level.SHOULD,
    statement="`list(None)` yields the checkpoints of all threads by descending id.",
    source="advice; `langgraph.checkpoint.sqlite.SqliteSaver.list` orders by checkpoint id",
    wrong="one thread after the other is listed",
)

WRITES_SORTED = Contract(
    id="ordering/writes-sorted",
    statement=(
        "Pending writes come sorted by task path, task id and index, text by code point and "
        "indexes as numbers; before langgraph-checkpoint 4.3, by index within each task."
    ),
    source=(
        "`langgraph.checkpoint.base.writes_sort_key`, required by "
        "`langgraph.checkpoint.base.BaseCheckpointSaver.get_tuple`"
    ),
    wrong="indexes are stored as text, so that write 10 comes before write 2",
    since="4.3",
    before_since=Level.SHOULD,
    implies=frozenset({"pending-writes/complete", "pending-writes/one-task-two-paths"}),
)

TABLE = FamilyTable(
    name="ordering",
    title="which checkpoint is the latest, and in which order they are listed",
    contracts=contracts_in(globals()),
)
