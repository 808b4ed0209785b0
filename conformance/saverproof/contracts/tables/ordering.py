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
    matters=(
        "The history of a conversation is shown, and time travel offered, in the wrong order; code "
        "that takes the first item for the current state goes on from an old one."
    ),
    fix=(
        "Order by checkpoint id, descending, compared as text byte by byte: in SQL `ORDER BY "
        "checkpoint_id DESC` in a binary collation; never by row id or time of insertion."
    ),
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
    matters="A run that is resumed goes on from an older state, and steps that are done run again.",
    fix=(
        "Look the latest checkpoint up as the greatest id of the thread and namespace; keep no "
        "pointer to what was put last, or move it only to a greater id."
    ),
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
    matters=(
        "When a parent graph is replayed, a subgraph gets a state from after the replay point, or "
        "none; pages of a history overlap or leave something out."
    ),
    fix=(
        "Compare ids as text, `checkpoint_id < ?`, with the id from the config itself: do not look "
        "that checkpoint up first, for it may be elsewhere or nowhere."
    ),
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
    matters=(
        "A page of a history shows different checkpoints from the full list, or too few: "
        "filtered searches seem to find nothing."
    ),
    fix=(
        "Apply the filter and `before` first and the limit last, and test the limit with `is not "
        "None`, so that 0 is not taken for no limit."
    ),
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
    matters="Code that computes the size of a page fails where it happens to be 0.",
    fix="Return an empty iterator for a limit of 0.",
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
    matters=(
        "A user who pages through a long conversation sees a step twice or never, and exports made "
        "page by page are incomplete."
    ),
    fix=(
        "Use one query for all of it: the condition of `before`, the descending order and the "
        "limit belong in the same statement."
    ),
    needs=_HISTORY,
)

ALL_THREADS_NEWEST_FIRST = Contract(
    id="ordering/all-threads-newest-first",
    level=Level.SHOULD,
    statement="`list(None)` yields the checkpoints of all threads by descending id.",
    source="advice; `langgraph.checkpoint.sqlite.SqliteSaver.list` orders by checkpoint id",
    wrong="one thread after the other is listed",
    matters=(
        "A list of recent activity over all users is sorted by thread, so that the newest work is "
        "not on its first page."
    ),
    fix="Sort by checkpoint id over all threads, as within one.",
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
    matters=(
        "Results of parallel nodes are joined in a different order on resume than at first: "
        "lists of messages change their order between runs."
    ),
    fix=(
        "Sort by `writes_sort_key` of langgraph-checkpoint, or in SQL by task path, task id and "
        "index, with text in a binary collation and the index as an integer."
    ),
    since="4.3",
    before_since=Level.SHOULD,
    implies=frozenset({"pending-writes/complete", "pending-writes/one-task-two-paths"}),
)

TABLE = FamilyTable(
    name="ordering",
    title="which checkpoint is the latest, and in which order they are listed",
    contracts=contracts_in(globals()),
)
