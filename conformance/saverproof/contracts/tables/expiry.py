"""Contracts on savers that forget what nobody uses after some time."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.family_table import FamilyTable, contracts_in

# LangGraph knows nothing of expiry, and no saver promises more than that its records expire: both
# contracts are advice.
WHOLE_OR_NOT_AT_ALL = Contract(
    id="expiry/whole-or-not-at-all",
    level=Level.SHOULD,
    statement=(
        "Nothing expires in part: a checkpoint that `get_tuple` or `list` still shows has all its "
        "values, those of delta channels too, and pending writes, and the checkpoints of the "
        "subgraphs that wait with it are still there."
    ),
    source=(
        "saverproof: `langgraph.pregel` takes what `get_tuple` shows for the state, and cannot see "
        "that a part is gone"
    ),
    wrong="values that stay unchanged keep the time at which they were first stored",
    matters=(
        "The agent goes on with a state from which parts are missing: messages, what a finished "
        "node has written, or the answer that it waits for. Nothing says so."
    ),
    fix=(
        "Keep one time for the whole thread, in a row or key of its own, and begin it anew with "
        "each write, and with each read if reads count: a time in each row would cost more with "
        "each checkpoint."
    ),
    needs=frozenset({Capability.EXPIRY}),
)

USED_THREADS_STAY = Contract(
    id="expiry/used-threads-stay",
    level=Level.SHOULD,
    statement=(
        "A thread that was written within its time, or read where reads count, is still there: one "
        "that waits for a person does not expire as long as it is used."
    ),
    source=(
        "saverproof: the newest checkpoint of a thread that waits is not written again; what "
        "counts as a use is what the target says of its saver (`saverproof.Expiry`)"
    ),
    wrong="pending writes have a time of their own, and that of their checkpoint goes on",
    matters=(
        "A conversation that waits for an approval is gone when the answer comes, although "
        "somebody has just looked at it, and the run begins anew without a word."
    ),
    fix=(
        "Begin the time of the whole thread, values and writes included, anew when anything of it "
        "is stored, or when it is read; keep it in one place."
    ),
    needs=frozenset({Capability.EXPIRY}),
)

TABLE = FamilyTable(
    name="expiry",
    title="what nobody uses expires, and nothing else does",
    contracts=contracts_in(globals()),
)
