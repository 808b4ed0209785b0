"""Contracts on the sync and the async API being one saver."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.family_table import FamilyTable, contracts_in

_BOTH = frozenset({Capability.SYNC, Capability.ASYNC})

SAME_ANSWERS = Contract(
    id="parity/same-answers",
    statement=(
        "Each async method answers as its sync twin does on the same data, whichever of them "
        "wrote it."
    ),
    source=(
        "`langgraph.checkpoint.base.BaseCheckpointSaver`: each async method is documented as "
        "the asynchronous form of its twin"
    ),
    wrong="a fix was made in put_writes but not in aput_writes, or each has its own cache",
    matters=(
        "The same agent behaves differently behind an async server than in a script, and bugs "
        "cannot be repeated."
    ),
    fix=(
        "Keep one implementation and let the other API call it (`asyncio.to_thread`, or a loop in "
        "a thread), with no cache of its own."
    ),
    needs=_BOTH,
)

NO_EVENT_LOOP_HANG = Contract(
    id="parity/no-event-loop-hang",
    statement=(
        "`get_tuple`, `list` and `delete_thread` called on the thread of a running event loop "
        "answer or raise at once."
    ),
    source=(
        "`langgraph.checkpoint.sqlite.aio.AsyncSqliteSaver.get_tuple` raises "
        "InvalidStateError there"
    ),
    wrong="run_coroutine_threadsafe(...).result() waits for the loop that it blocks",
    matters="A server stops answering altogether when someone calls the sync method in async code.",
    fix=(
        "Raise a clear error if the call comes on the saver's own event loop; do not wait there "
        "for a future of that loop."
    ),
    needs=_BOTH,
    implies=frozenset({"parity/no-event-loop-hang-in-writes"}),
)

NO_EVENT_LOOP_HANG_IN_WRITES = Contract(
    id="parity/no-event-loop-hang-in-writes",
    level=Level.SHOULD,
    statement=(
        "`put` and `put_writes` called on the thread of a running event loop answer or raise "
        "at once."
    ),
    source="advice; issue langchain-ai/langgraph#7857 (AsyncSqliteSaver hangs)",
    wrong="the guard of get_tuple was forgotten in put and put_writes",
    matters="A server stops answering altogether when a sync graph runs inside async code.",
    fix="Use the guard of get_tuple in put and put_writes as well.",
    needs=_BOTH,
)

TABLE = FamilyTable(
    name="parity",
    title="the sync and the async API answer alike",
    crossed=True,
    contracts=contracts_in(globals()),
)
