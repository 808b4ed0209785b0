"""Contracts on two releases of a saver on one store."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.family_table import FamilyTable, contracts_in

_PROCESSES = frozenset({Capability.MANY_PROCESSES})

# LangGraph's base class says nothing of releases. These are musts because whoever updates a package
# keeps the database, and what is in it was acknowledged: official savers read what they once wrote.
READS_OLD_DATA = Contract(
    id="upgrade/reads-old-data",
    statement=(
        "What an older release has stored is whole in this one: values, metadata, parents, writes, "
        "their order, and what filters and listings select."
    ),
    source=(
        "saverproof: who updates a package keeps the database; "
        "issues langchain-ai/langgraph#5106, langchain-ai/langgraph#6970 and "
        "langchain-ai/langchain-mongodb#287; every official saver keeps it"
    ),
    wrong="values are stored in a new format, and what has the old one is read as None",
    matters=(
        "After an update, conversations that were there are gone, or go on without what they knew."
    ),
    fix=(
        "Write the number of the format beside the data, read each format that was ever released, "
        "and keep a store of each in the tests."
    ),
    durable=True,
)

WRITES_ON_OLD_DATA = Contract(
    id="upgrade/writes-on-old-data",
    statement=(
        "On a store that an older release began, this one goes on: checkpoints below old ones, "
        "writes to old ones and deletions do what they do on a store of its own."
    ),
    source=(
        "saverproof: every thread that is not over at an update is one of this kind; every "
        "official saver keeps it"
    ),
    wrong="a column is added for new tables alone, and the first put into an old one fails",
    matters="After an update, conversations can still be read, and no message is taken any more.",
    fix=(
        "Let set-up bring an old store to the present form, and let channel versions and ids of "
        "older releases be followed by those of the present one."
    ),
    durable=True,
)

GRAPH_RESUMES = Contract(
    id="upgrade/graph-resumes",
    statement=(
        "A graph that stopped under an older release, at a question, at a node that failed or by a "
        "kill between two steps, goes on under this one: it ends as a run that did not stop, and "
        "no node that was done runs again."
    ),
    # What stopped is taken up by what get_tuple returns alone: the pending writes of nodes that are
    # done, the answers given so far, and versions that are to be followed by higher ones.
    source=(
        "`langgraph.types.interrupt`, which may wait for any time; `langgraph.pregel.Pregel`, "
        "which takes a thread up by its pending writes and channel versions; every official saver "
        "keeps it"
    ),
    wrong="channel versions of the new release begin anew, below those of the old one",
    matters=(
        "Whoever is asked before an update and answers after it gets nothing done, or has what was "
        "done already, such as a payment, done twice."
    ),
    fix=(
        "Let channel versions of older releases be followed by higher ones, and let special writes "
        "such as `__resume__` replace what an older release has stored for them."
    ),
    durable=True,
)

FIRST_READ_WAITS_FOR_NOBODY = Contract(
    id="upgrade/first-read-waits-for-nobody",
    level=Level.SHOULD,
    statement=(
        "The first `get_tuple` on a store that an older release wrote answers while another worker "
        "is in the midst of a write, if reads do so otherwise."
    ),
    # Advice: a caller may set up before it serves, and SqliteSaver itself does not keep it.
    source=(
        "saverproof: in a rolling deployment old workers write while the first new one starts; "
        "SqliteSaver 3.1.2 breaks it"
    ),
    wrong="the first read migrates the table, for which it waits for the lock of writers",
    matters="At each rolling deployment the first request to each new worker fails.",
    fix=(
        "Look at the schema before you change it, read the old form as well, and migrate in the "
        "first write or in `setup`."
    ),
    needs=_PROCESSES,
    durable=True,
)

SETUP_ON_OLD_STORE = Contract(
    id="upgrade/setup-on-old-store",
    statement=(
        "Setting up a store of an older release works in several processes at once, and where it "
        "was killed half-way it is begun again; what was stored is whole afterwards."
    ),
    source=(
        "saverproof: every worker sets up when it starts, and an orchestrator kills the slow ones; "
        "issues langchain-ai/langgraph#7630, langchain-ai/langgraph#5327 and "
        "langchain-ai/langgraph#2887"
    ),
    wrong="a table is renamed and copied in several transactions",
    matters="A worker that is killed while it starts leaves a store with which none starts again.",
    fix=(
        "Do each migration and the note that it is done in one transaction, under a lock, and make "
        "each of them harmless when it is done twice."
    ),
    durable=True,
)

OLD_WORKERS_GO_ON = Contract(
    id="upgrade/old-workers-go-on",
    level=Level.SHOULD,
    statement=(
        "While both releases are open on one store, each reads what the other writes, and takes "
        "part in its threads."
    ),
    source=(
        "saverproof: in a rolling deployment both run for minutes to hours; no saver promises it"
    ),
    wrong="a release drops the column that older ones read",
    matters="During a rolling deployment requests fail, or lose state, by which worker they meet.",
    fix="Add in one release, remove in a later one; say which releases may run side by side.",
    needs=_PROCESSES,
    durable=True,
)

ROLLBACK = Contract(
    id="upgrade/rollback",
    level=Level.SHOULD,
    statement="What this release has stored is whole in the older one, to which users go back.",
    source="saverproof: a deployment that fails is rolled back, its data not; no saver promises it",
    wrong="values are stored in a new format that older releases cannot read",
    matters="Going back after a bad update loses what was said meanwhile, or all of it.",
    fix=(
        "Let a release read a format before a later one writes it; say from where there is no way "
        "back."
    ),
    durable=True,
)

SETTINGS = Contract(
    id="upgrade/settings",
    statement=(
        "After another serializer, strict msgpack or encryption comes into use, what was stored "
        "before is shown as the saver shows it without the change, under the old setting or under "
        "the new one, or reading it raises: it is never None, empty or the raw bytes instead, nor "
        "read by a type that it was not stored with."
    ),
    # The type beside the value is what each serializer decides by: that of encryption reads types
    # without a cipher as plain, and LangGraph's own raises at a type that it does not know. So a
    # saver that keeps both, and lets errors pass, does it right without knowing any of them.
    source=(
        "`langgraph.checkpoint.serde.base.SerializerProtocol`, whose types and bytes belong "
        "together; `langgraph.checkpoint.serde.encrypted.EncryptedSerializer.loads_typed`, which "
        "reads what was stored before it; "
        "`langgraph.checkpoint.serde.jsonplus.JsonPlusSerializer.loads_typed`, which raises at "
        "types that it does not know; every official saver keeps it"
    ),
    wrong="the type is not stored with the value, or a value that cannot be decoded is None",
    matters=(
        "An application turns encryption on, and its conversations are gone or go on without what "
        "they knew, with no error anywhere."
    ),
    fix=(
        "Store both parts of what `dumps_typed` returns, give both to `loads_typed`, and let its "
        "exceptions pass to the caller."
    ),
    needs=frozenset({Capability.SERIALIZER}),
    durable=True,
)

STRICT_MSGPACK = Contract(
    id="upgrade/strict-msgpack",
    statement=(
        "With LANGGRAPH_STRICT_MSGPACK=true a saver shows what was stored before, and what is "
        "stored then, as its `serde` gives it, and raises nothing: objects of classes that are off "
        "LangGraph's list come as plain data, or whole through the copy that `with_allowlist` "
        "makes for them."
    ),
    # Strict msgpack changes nothing of what is stored, and makes LangGraph's serializer raise at
    # nothing: so a saver that reads by its serializer has no reason to refuse. A saver whose own
    # serializer is lenient goes by it as well, as LangGraph does with those that it does not know.
    source=(
        "`langgraph.checkpoint.serde.jsonplus.JsonPlusSerializer`, which gives the plain data of "
        "what it does not build; `langgraph.checkpoint.base.BaseCheckpointSaver.with_allowlist`, "
        "which LangGraph calls for each graph then; every official saver keeps it"
    ),
    wrong="values are read with a serializer of the saver's own, and not with its `serde`",
    matters=(
        "An operator forbids that stored data builds any class, and it still does; or the state of "
        "a graph comes back without its classes, or not at all."
    ),
    fix=(
        "Read with `self.serde` at the time of the call, pass None on to the base class where no "
        "serializer is given, and take what it returns for the value, whatever its type."
    ),
    since="4.0.1",
    needs=frozenset({Capability.SERIALIZER}),
    durable=True,
)

TABLE = FamilyTable(
    name="upgrade",
    title="two releases of a saver on one store",
    phase="upgrade",
    contracts=contracts_in(globals()),
    asks_for="upgrade_from",
)
