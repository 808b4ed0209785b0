"""Contracts on delete_thread, delete_for_runs, prune and copy_thread."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.family_table import FamilyTable, contracts_in

_GUIDE = "https://docs.langchain.com/oss/python/integrations/checkpointers/build-custom"
_DELETE_THREAD = frozenset({Capability.DELETE_THREAD})
_PRUNE = frozenset({Capability.PRUNE})
_COPY = frozenset({Capability.COPY_THREAD})

THREAD_ALL = Contract(
    id="deletion/thread-all",
    statement=(
        "`delete_thread` removes the thread's checkpoints, values and writes (those whose "
        "checkpoint never came too) in every namespace and nothing else, and takes unknown "
        "threads without an error."
    ),
    source="`langgraph.checkpoint.base.BaseCheckpointSaver.delete_thread`",
    wrong="only the root namespace is deleted, or the writes are left behind",
    matters=(
        "Data of a user who asked for deletion stays behind; that may break the law, and it can "
        "show up again."
    ),
    fix=(
        "Delete from every table by thread id alone, in one transaction; no error if nothing is "
        "there."
    ),
    needs=_DELETE_THREAD,
    implies=frozenset({"deletion/no-ghosts"}),
)

NO_GHOSTS = Contract(
    id="deletion/no-ghosts",
    statement=(
        "What is put after a thread was deleted shows nothing of before, also when the same "
        "ids are put again."
    ),
    source="`langgraph.checkpoint.memory.InMemorySaver.delete_thread` drops blobs and writes",
    wrong="writes or values stay under their old keys and join the new checkpoint",
    matters=(
        "A conversation that starts again under the same id shows, or acts on, what was deleted."
    ),
    fix="Delete values and writes along with the checkpoints, caches included.",
    needs=_DELETE_THREAD,
    implies=frozenset({"deletion/thread-all"}),
)

RUNS = Contract(
    id="deletion/runs",
    statement=(
        "`delete_for_runs` removes exactly the checkpoints of the named runs and their writes, "
        "in every namespace; what other runs' checkpoints read stays whole, though a survivor's "
        "parent may become None, and what a survivor's delta channels are rebuilt from may stay."
    ),
    source=(
        "`langgraph.checkpoint.base.BaseCheckpointSaver.delete_for_runs`; "
        "`langgraph.checkpoint.conformance.spec.test_delete_for_runs`"
    ),
    wrong="values that a deleted run stored first are deleted with it, though others use them",
    matters=(
        "Deleting one failed run damages the others of the conversation: their values are gone."
    ),
    fix=(
        "Find the checkpoints by run_id in the metadata, delete them and their writes, and delete "
        "a value only if no checkpoint that stays names its version."
    ),
    needs=frozenset({Capability.DELETE_FOR_RUNS}),
)

# LangChain's guide says that it must not; the base class, that it will. No official saver has the
# operation, so that nothing decides between them: advice.
RUNS_KEEP_DELTA_CHAIN = Contract(
    id="deletion/runs-keep-delta-chain",
    level=Level.SHOULD,
    statement=(
        "`delete_for_runs` leaves what the delta channels of other runs' checkpoints are rebuilt "
        "from, in every namespace and branch, or refuses with NotImplementedError before "
        "anything is changed."
    ),
    source=(
        f"LangChain's guide 'Build a custom checkpointer' ({_GUIDE}), 'Pruning with delta "
        "channels': you must not delete write rows that a surviving checkpoint's delta channels "
        "depend on; "
        "`langgraph.checkpoint.base.BaseCheckpointSaver.delete_for_runs` warns that it breaks them"
    ),
    wrong="the ancestors of a later run's checkpoint go, with the writes that it is rebuilt from",
    matters=(
        "Deleting one run empties a channel of the runs after it, such as a long list of messages, "
        "and nothing raises an error."
    ),
    fix=(
        "For each checkpoint that stays, keep the ancestors back to the nearest full value of each "
        "delta channel, whatever run they are of; or raise NotImplementedError before anything is "
        "changed."
    ),
    since="4.1",
    needs=frozenset({Capability.DELETE_FOR_RUNS, Capability.DELTA_HISTORY, Capability.HISTORY}),
)

PRUNE_LATEST = Contract(
    id="deletion/prune-latest",
    statement=(
        '`prune` with "keep_latest" keeps whole the newest checkpoint of the root namespace, '
        "and of each other namespace unless its call started from a pruned root checkpoint; "
        'with "delete" it keeps nothing; other threads are left alone, and so is everything '
        "for an empty list."
    ),
    source=(
        "`langgraph.checkpoint.base.BaseCheckpointSaver.prune`; "
        "`langgraph.checkpoint.conformance.spec.test_prune`"
    ),
    wrong="values of the kept checkpoint that older ones stored are removed along with them",
    matters="Cleaning up damages the state that was to be kept, and the agent cannot go on.",
    fix=(
        "Choose what to keep first: the newest of each namespace with the values and writes that "
        "it names; then delete the rest, thread by thread in a transaction."
    ),
    needs=_PRUNE,
)

PRUNE_DROPS_OLDER = Contract(
    id="deletion/prune-drops-older",
    level=Level.SHOULD,
    statement=(
        '`prune` with "keep_latest" drops the older checkpoints of a thread without delta '
        "channels, with their writes."
    ),
    source="`langgraph.checkpoint.base.BaseCheckpointSaver.prune`",
    wrong="prune returns without doing anything",
    matters="The store keeps growing, although a job cleans it up every night.",
    fix="Delete the checkpoints that are not the newest of their namespace.",
    needs=_PRUNE,
)

PRUNE_KEEPS_DELTA_CHAIN = Contract(
    id="deletion/prune-keeps-delta-chain",
    statement=(
        "Pruning never makes a delta channel of any namespace rebuild to another value; refusing "
        "such threads "
        "with NotImplementedError before anything is changed is right."
    ),
    source="`langgraph.checkpoint.base.BaseCheckpointSaver.prune`, note on DeltaChannel",
    wrong='"keep_latest" drops the ancestors whose writes the kept checkpoint is rebuilt from',
    matters=(
        "A channel that is stored as changes, such as a long list of messages, loses its beginning "
        "after a clean-up."
    ),
    fix=(
        "Keep the ancestors back to the nearest full value of each delta channel, or raise "
        "NotImplementedError before anything is changed."
    ),
    since="4.1",
    needs=frozenset({Capability.PRUNE, Capability.DELTA_HISTORY, Capability.HISTORY}),
)

COPY_COMPLETE = Contract(
    id="deletion/copy-complete",
    statement=(
        "`copy_thread` to a new thread carries checkpoints, writes, values, parents and "
        "namespaces, and the parents name the copy's thread."
    ),
    source="`langgraph.checkpoint.base.BaseCheckpointSaver.copy_thread`",
    wrong="pending writes or subgraph namespaces are not copied",
    matters=(
        "A copied conversation lacks its pending questions or its subgraphs, and cannot be resumed."
    ),
    fix=(
        "Copy every table for all namespaces in one transaction, and give the copy's parents the "
        "copy's thread id."
    ),
    needs=_COPY,
)

COPY_INDEPENDENT = Contract(
    id="deletion/copy-independent",
    statement="Neither side of a copied thread sees later changes of the other.",
    source=(
        "`langgraph.checkpoint.conformance.spec.test_copy_thread.test_copy_thread_source_unchanged`"
    ),
    wrong="the copy shares rows with its source, or deleting the source deletes the copy",
    matters="Trying something out in a copy changes the original conversation.",
    fix="Copy rows and share none, or count references before anything shared is deleted.",
    needs=_COPY,
)

COPY_BY_PUTTING = Contract(
    id="deletion/copy-by-putting",
    level=Level.SHOULD,
    statement=(
        "A thread that is copied by listing it, and putting each of its checkpoints and their "
        "writes again into a new thread, reads like its source, but for the paths of tasks."
    ),
    source=(
        "advice; LangGraph's Agent Server copies so where a saver has no `copy_thread`: the oldest "
        "id first, with all versions as new ones (`langgraph_api._checkpointer._adapter`)"
    ),
    wrong="a value whose version was stored with an earlier checkpoint is refused",
    matters="Under LangGraph's Agent Server a thread cannot be copied, or its copy lacks values.",
    fix=(
        "Let put take versions in new_versions that an earlier checkpoint of the thread has "
        "already; or implement copy_thread."
    ),
    needs=frozenset({Capability.HISTORY}),
)

TABLE = FamilyTable(
    name="deletion",
    title="deleting, pruning and copying threads",
    contracts=contracts_in(globals()),
)
