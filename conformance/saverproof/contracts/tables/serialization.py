"""Contracts on values, names and metadata coming back as they were given."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.family_table import FamilyTable, contracts_in

CHANNEL_VALUES = Contract(
    id="serialization/channel-values",
    statement=(
        "Every channel value that the saver's own serializer gives back equal and of the same "
        "type, alone and inside a dict, comes back so through the saver."
    ),
    source=(
        "`langgraph.checkpoint.serde.jsonplus.JsonPlusSerializer`; "
        "`langgraph.checkpoint.base.BaseCheckpointSaver` (attribute serde); "
        "`langgraph.pregel._checkpoint.channels_from_checkpoint` hands nodes what comes back, and "
        "an integer where a float was, however equal, takes other branches"
    ),
    wrong="values pass through JSON: integer keys become text, enums become numbers, 1.0 is 1",
    matters=(
        "Nodes get other values after a resume than before: integer keys become text, messages "
        "become dicts; the agent fails, or decides differently."
    ),
    fix=(
        "Store `self.serde.dumps_typed(value)`, type and bytes, and read with `loads_typed`; no "
        "json.dumps for values."
    ),
)

WRITE_VALUES = Contract(
    id="serialization/write-values",
    statement=(
        "Every pending write value that the saver's own serializer gives back equal and of the "
        "same type comes back so through the saver; an exception comes back as its repr text."
    ),
    source=(
        "`langgraph.checkpoint.serde.jsonplus.JsonPlusSerializer`; "
        "`langgraph.pregel._runner.PregelRunner.commit` writes exceptions"
    ),
    wrong="writes are stored by json.dumps although checkpoints go through the serializer",
    matters=(
        "The results of finished nodes come back changed after a crash, while normal runs look "
        "fine."
    ),
    fix="Pass every value of put_writes through `self.serde.dumps_typed`, as for checkpoints.",
)

NON_FINITE = Contract(
    id="serialization/non-finite",
    level=Level.SHOULD,
    statement="Infinities and NaN in channel and write values come back as they were.",
    source="advice; `langgraph.checkpoint.serde.jsonplus.JsonPlusSerializer` keeps them",
    wrong="a JSON column refuses NaN",
    matters="A score of NaN or infinity in the state makes saving fail.",
    fix="Keep values as the serializer's bytes, in a binary column rather than a JSON one.",
)

NUL_IN_STRINGS = Contract(
    id="serialization/nul-in-strings",
    level=Level.SHOULD,
    statement="Strings that hold NUL in channel and write values come back as they were.",
    source="advice; `langgraph.checkpoint.serde.jsonplus.JsonPlusSerializer` keeps them",
    wrong="text is stored in a column that refuses NUL",
    matters="Text that a tool read from a file with NUL in it makes saving fail.",
    fix="Keep values as the serializer's bytes, in a binary column rather than a text one.",
)

NAMES = Contract(
    id="serialization/names",
    statement=(
        "Channel and node names of any text (dots, spaces, quotes, backslashes, accents, "
        "emoji) and task paths work, and what was accepted can be read."
    ),
    source=(
        "`langgraph.graph.StateGraph.add_node` refuses only the separators `:` and `|`; "
        "`langgraph.pregel._algo.task_path_str`"
    ),
    wrong="channel names become part of a key, of a JSON path or of a file name",
    matters=(
        "Agents work until someone names a node or channel with a dot, a quote or an emoji; then "
        "values get lost or mixed up."
    ),
    fix=(
        "Pass names as parameters of statements, escape them in keys that you join, and make no "
        "file names or JSON paths of them."
    ),
)

METADATA = Contract(
    id="serialization/metadata",
    statement=(
        "Every given key of JSON metadata comes back equal (text keys, 64-bit integers, finite "
        "floats by value, top-level strings without their NULs); keys may be added from the "
        "config."
    ),
    source=(
        "`langgraph.checkpoint.base.CheckpointMetadata`; "
        "`langgraph.checkpoint.base.get_checkpoint_metadata`"
    ),
    wrong="only source, step and parents have columns, and every other key is lost",
    matters=(
        "Applications find their runs, users and versions by metadata: what is lost cannot be "
        "searched, nor billed."
    ),
    fix=(
        "Store the whole metadata as one JSON document, or through the serializer, beside any "
        "columns of your own."
    ),
)

CONFIG_METADATA_MERGED = Contract(
    id="serialization/config-metadata-merged",
    statement=(
        'Text, integer, boolean and float entries of config["metadata"] and '
        'config["configurable"] join the stored metadata, except excluded keys and keys that '
        "start with `__`, and never override a given key."
    ),
    source=(
        "`langgraph.checkpoint.base.get_checkpoint_metadata` and "
        "`langgraph.checkpoint.base.EXCLUDED_METADATA_KEYS`"
    ),
    wrong="the metadata argument alone is stored, so that run_id is never there to filter by",
    matters=(
        "Runs cannot be found by run_id, user_id or the like, and `delete_for_runs` has nothing to "
        "go by."
    ),
    fix="Store `get_checkpoint_metadata(config, metadata)` from langgraph.checkpoint.base.",
)

LEGACY_WRITES_METADATA = Contract(
    id="serialization/legacy-writes-metadata",
    level=Level.SHOULD,
    statement=(
        "Metadata with the key `writes` of older LangGraph releases, message objects inside, "
        "is accepted."
    ),
    source=(
        "`langgraph.checkpoint.base.get_serializable_checkpoint_metadata`; "
        "issue langchain-ai/langgraph#8942"
    ),
    wrong="metadata goes through json.dumps, which raises TypeError on a message",
    matters="Threads of older applications cannot be brought over.",
    fix="Encode metadata with the serializer, or use `get_serializable_checkpoint_metadata`.",
)

CHECKPOINT_FIELDS = Contract(
    id="serialization/checkpoint-fields",
    statement=(
        "v, id, ts, channel versions, versions seen (empty entries too) and updated channels "
        "come back equal and of the same types, and a field that was not given is absent, None "
        "or empty."
    ),
    source="`langgraph.checkpoint.base.Checkpoint`",
    wrong="versions become text, or a node with an empty entry in versions_seen is dropped",
    matters=(
        "LangGraph decides by channel versions and versions_seen what runs next; if they change, "
        "finished nodes run again or waiting ones never do."
    ),
    fix=(
        "Store the checkpoint through the serializer as one piece, without its channel values if "
        "you keep those apart; do not rebuild it field by field."
    ),
)

OLDER_CHECKPOINTS = Contract(
    id="serialization/older-checkpoints",
    level=Level.SHOULD,
    statement=(
        "Checkpoints of formats 1 to 3, with pending_sends or without updated_channels, are "
        "accepted and can be read."
    ),
    source="`langgraph.pregel.Pregel._migrate_checkpoint`",
    wrong='`checkpoint["updated_channels"]` raises KeyError, or pending_sends is dropped',
    matters=(
        "Conversations that were started with an older LangGraph cannot be opened after an update."
    ),
    fix="Read fields with `.get`, and store what you do not know as it is.",
)

ENCRYPTED_AT_REST = Contract(
    id="serialization/encrypted-at-rest",
    statement=(
        "With an EncryptedSerializer no channel value and no write value stands in plain text "
        "in the saver's files; metadata, names and ids may."
    ),
    source=(
        "`langgraph.checkpoint.serde.encrypted.EncryptedSerializer`; LangGraph documentation, "
        "'Persistence', section on encryption"
    ),
    wrong="simple values are stored inline, past the serializer",
    matters=(
        "An application turns encryption on, and its users' data still lie readable in the file "
        "and in every backup of it."
    ),
    fix="Pass every value through `self.serde`, with no short cut for small or plain ones.",
    needs=frozenset({Capability.SERIALIZER}),
    durable=True,
)

UNSERIALIZABLE_IS_REFUSED = Contract(
    id="serialization/unserializable-is-refused",
    statement=("A value that cannot be serialized raises, and nothing of that call is stored."),
    source=(
        "saverproof: work that was told to be stored and is not is lost, and a batch stored in "
        "part reads as a finished task (`langgraph.pregel._task_status`); InMemorySaver breaks it"
    ),
    wrong="values are serialized one by one while rows are being written",
    matters=(
        "A step counts as saved and is not: after a crash the agent goes on without it, or takes a "
        "half-stored batch for a finished node."
    ),
    fix=(
        "Serialize all values of a call before the first statement, and let the error pass to the "
        "caller."
    ),
    # One way to break it is to store a part of what was refused.
    implies=frozenset({"atomicity/all-or-nothing"}),
)

LARGE = Contract(
    id="serialization/large",
    level=Level.SHOULD,
    statement=(
        "20,000 writes in a batch, 1,000 channels in a checkpoint and 5,000 checkpoints in a "
        "thread are accepted; what is accepted and then missing breaks the must about it."
    ),
    source="advice; a fan-out of Send writes, and long conversations, reach such sizes",
    needs=frozenset({Capability.LARGE}),
    wrong="one SQL statement binds every value and passes the limit on variables",
    matters=(
        "An agent that fans out to thousands of tasks, or a conversation of years, fails or stalls "
        "when it is saved."
    ),
    fix=(
        "Use `executemany` or batches below the limit on variables, and an index on thread, "
        "namespace and id."
    ),
)

TABLE = FamilyTable(
    name="serialization",
    title="values come back as they went in",
    contracts=contracts_in(globals()),
)
