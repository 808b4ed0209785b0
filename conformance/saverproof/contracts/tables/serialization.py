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
)

NON_FINITE = Contract(
    id="serialization/non-finite",
    level=Level.SHOULD,
    statement="Infinities and NaN in channel and write values come back as they were.",
    source="advice; `langgraph.checkpoint.serde.jsonplus.JsonPlusSerializer` keeps them",
    wrong="a JSON column refuses NaN",
)

NUL_IN_STRINGS = Contract(
    id="serialization/nul-in-strings",
    level=Level.SHOULD,
    statement="Strings that hold NUL in channel and write values come back as they were.",
    source="advice; `langgraph.checkpoint.serde.jsonplus.JsonPlusSerializer` keeps them",
    wrong="text is stored in a column that refuses NUL",
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
    # One way to break it is to store a part of what was refused.
    implies=frozenset({"atomicity/all-or-nothing"}),
)

LARGE = Contract(
    id="serialization/large",
    level=Level.SHOULD,
    statement=(
        "20,000 writes in a batch, 1,000 channels in a checkpoint and 5,000 checkpoints in a "
        "thread work."
    ),
    source="advice; a fan-out of Send writes, and long conversations, reach such sizes",
    needs=frozenset({Capability.LARGE}),
    wrong="one SQL statement binds every value and passes the limit on variables",
)

TABLE = FamilyTable(
    name="serialization",
    title="values come back as they went in",
    contracts=contracts_in(globals()),
)
