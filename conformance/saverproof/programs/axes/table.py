"""The table of axes: points of steps, values, names, histories, batches and readers."""

from __future__ import annotations

from saverproof.capability import Capability
from saverproof.programs.axes.axis import Axis, Point, Touched, axis

DURABLE, OWN_STORE = "durable", "own store"
"""Needs of points other than capabilities: a saver that keeps its data, and separate workspaces."""

PARENT = axis(
    "parent of a put",
    "identity/parent ordering/latest-is-greatest-id ordering/list-newest-first "
    "channels/unchanged-carried channels/history-immutable deletion/runs "
    "deletion/copy-complete delta-history/matches-walk",
    *("none", "the newest", "an older one", "one with a higher id", "one that has a child"),
)
TIMES = axis(
    "times and ids",
    "identity/put-returns-address ordering/latest-is-greatest-id "
    "ordering/list-newest-first ordering/before-is-exclusive ordering/pages-tile "
    "channels/unchanged-carried delta-history/matches-walk",
    "alike",
    "reversed",
    "equal times",
)
_SIZES = ("empty", "primitive", "container", "64 kB", "1 MB")
VALUE = axis(
    "value of a channel",
    "serialization/channel-values channels/unchanged-carried "
    "channels/history-immutable upsert/put-is-idempotent upsert/put-replaces "
    "deletion/copy-complete parity/same-answers lifecycle/reopen",
    *_SIZES,
    Point("16 MB", heavy=True, families=frozenset({"serialization"})),
)
WRITE = axis(
    "value of a write",
    "serialization/write-values pending-writes/complete "
    "upsert/regular-write-first-wins deletion/copy-complete parity/same-answers "
    "lifecycle/reopen",
    *_SIZES,
    Point("16 MB", heavy=True, families=frozenset({"serialization"})),
)
LIKE = axis(
    "what a value is like",
    "serialization/channel-values serialization/write-values",
    *("no other", "an envelope", "another, but for its middle", "another, but for its end"),
)
CHANNELS = axis(
    "channels of a checkpoint",
    "serialization/channel-values channels/unchanged-carried upsert/put-replaces",
    "0",
    "1",
    "2 to 199",
    "200",
)
LENGTH = axis(
    "checkpoints of a namespace",
    "identity/list-selects ordering/list-newest-first ordering/limit-is-a-prefix "
    "ordering/pages-tile channels/unchanged-carried filter/equality "
    "deletion/copy-complete",
    *("1", "2", "100"),
    Point("1,100", heavy=True, families=frozenset({"identity", "ordering", "filter"})),
)
BATCH = axis(
    "writes of a batch",
    "pending-writes/complete pending-writes/empty-batch "
    "upsert/regular-write-first-wins deletion/copy-complete parity/same-answers "
    "lifecycle/reopen",
    *("0", "1", "2 or more"),
    Point("1,100", heavy=True, families=frozenset({"pending-writes"})),
)
MOMENT = axis(
    "moment of a write",
    "pending-writes/early-writes-kept pending-writes/late-writes upsert/regular-write-first-wins",
    *("newest checkpoint", "older checkpoint"),
    Point("before its checkpoint", needs=Capability.EARLY_WRITES),
)
DELTA = axis(
    "delta channels asked about",
    "delta-history/matches-walk",
    *(Point(name, needs=Capability.DELTA_HISTORY) for name in ("none", "the first", "the last")),
    *(Point(name, needs=Capability.DELTA_HISTORY) for name in ("several", "no channels")),
)
SEED = axis(
    "kind of a delta channel's value",
    "delta-history/matches-walk",
    *(Point(name, needs=Capability.DELTA_HISTORY) for name in ("a plain value", "a snapshot")),
)
DELTA_PLACE = axis(
    "namespace of delta channels",
    "delta-history/matches-walk",
    *(Point(name, needs=Capability.DELTA_HISTORY) for name in ("root", "nested")),
)
ABOVE = axis(
    "checkpoints above a delta's target",
    "delta-history/matches-walk",
    *(Point(name, needs=Capability.DELTA_HISTORY) for name in ("0", "1 to 1,023")),
    Point("1,024 and more", needs=Capability.DELTA_HISTORY, heavy=True),
)
SNAPSHOT = axis(
    "value of a delta channel before",
    "delta-history/matches-walk",
    *(Point(name, needs=Capability.DELTA_HISTORY) for name in ("none", "near", "far")),
)
DEPTH = axis(
    "checkpoints of a delta's history",
    "delta-history/matches-walk",
    *(Point(name, needs=Capability.DELTA_HISTORY) for name in ("1", "2 to 99", "100")),
    Point("1,100", needs=Capability.DELTA_HISTORY, heavy=True),
)
VERSIONS = axis(
    "versions minted in a row", "channels/versions-increase", "up to 9,999", "10,000 and more"
)
VERSIONS_BY = axis(
    "maker of versions", "channels/versions-of-callers", "the saver", "the Agent Server"
)
READER = axis(
    "reader",
    "identity/put-returns-address lifecycle/reopen parity/same-answers concurrency/instances-agree",
    Point("the same saver", families=frozenset({"identity", "lifecycle"})),
    Point("the saver opened again", needs=DURABLE, families=frozenset({"lifecycle"})),
    Point("the other API", families=frozenset({"parity"})),
    Point("a saver opened before", needs=DURABLE, families=frozenset({"concurrency"})),
    Point("another process", needs=Capability.MANY_PROCESSES, families=frozenset({"concurrency"})),
)
CHANGE = axis(
    "what another saver changes",
    "concurrency/instances-agree",
    *(
        *("first checkpoint", "newer checkpoint", "checkpoint put again", "writes"),
        Point("older checkpoint", needs=Capability.HISTORY),
        Point("early writes", needs=Capability.EARLY_WRITES),
        Point("copy_thread", needs=Capability.COPY_THREAD),
        Point("delete_for_runs", needs=Capability.DELETE_FOR_RUNS),
        Point("prune", needs=Capability.PRUNE),
        Point("delete_thread", needs=Capability.DELETE_THREAD),
    ),
)
READ = axis(
    "form of a read",
    "identity/list-selects identity/put-returns-address "
    "ordering/latest-is-greatest-id pending-writes/complete "
    "pending-writes/same-in-list upsert/put-replaces parity/same-answers "
    "lifecycle/reopen concurrency/instances-agree",
    *("the newest", "by id", "list of a namespace", "list of a thread"),
    Point("list of an id", families=frozenset({"identity"})),
    Point(
        "list of everything",
        needs=OWN_STORE,
        families=frozenset({"identity", "ordering", "concurrency"}),
    ),
    Point("pages", families=frozenset({"ordering"})),
)
LIMIT = axis(
    "limit", "ordering/limit-is-a-prefix filter/equality", "none", "0", "1", "exact", "more"
)
BEFORE = axis(
    "before",
    "ordering/before-is-exclusive filter/equality",
    "none",
    "a stored id",
    "an id never put",
)
FILTER = axis(
    "filter", "ordering/limit-is-a-prefix filter/equality", "none", "fits some", "fits none"
)
FORM = axis(
    "spelling of the id",
    "identity/none-id-is-latest ordering/latest-is-greatest-id",
    "not there",
    "None",
    "empty text",
)
NAMESPACE = axis(
    "spelling of the namespace",
    "identity/get-defaults-to-root",
    "not there",
    "empty text",
    "a name",
)
REMOVAL = axis(
    "removal",
    "deletion/thread-all deletion/runs deletion/prune-latest deletion/copy-complete "
    "delta-history/matches-walk",
    Point("delete_thread", needs=Capability.DELETE_THREAD),
    Point("delete_for_runs", needs=Capability.DELETE_FOR_RUNS),
    Point("prune to the latest", needs=Capability.PRUNE),
    Point("prune of all", needs=Capability.PRUNE),
    Point("copy_thread", needs=Capability.COPY_THREAD),
)
_REMOVED = "deletion/thread-all deletion/runs deletion/prune-latest deletion/copy-complete"
ORIGIN = axis(
    "how it came there",
    f"{_REMOVED} deletion/no-ghosts deletion/copy-independent",
    *("put", "put again under another run"),
    Point("copied", needs=Capability.COPY_THREAD),
    Point("put again after a removal", needs=Capability.DELETE_THREAD),
)
LISTED = axis(
    "names of a removal",
    "deletion/runs deletion/prune-latest deletion/prune-drops-older",
    "one",
    Point("an unknown one first", needs=Capability.PRUNE),
    Point("an unknown one last", needs=Capability.PRUNE),
)
RUN_ID = axis(
    "id of a run",
    "deletion/runs",
    *(
        Point(name, needs=Capability.DELETE_FOR_RUNS)
        for name in ("short", "long", "alike in 32 characters", "elsewhere in metadata")
    ),
)
SPECIAL = axis(
    "special writes of a checkpoint",
    f"{_REMOVED} deletion/no-ghosts",
    *("none", "alone", "beside regular ones"),
)
AFTER = axis(
    "what follows a removal or a copy",
    "deletion/no-ghosts deletion/copy-independent deletion/runs",
    *("questions", "the same is put again"),
    Point("another removal", needs=Capability.DELETE_THREAD),
)
PLACES = axis("namespaces of a thread", _REMOVED, *("1", "2 to 99", "100 and more"))
_ODD = (
    *("plain", "upper case", "padded", "Unicode", "wildcards", "quotes", "separators"),
    *("path steps", "digits", "very long"),
)
THREAD_TEXT = axis("text of a thread", "isolation/hostile-identifiers", *_ODD, "NUL")
NAMESPACE_TEXT = axis("text of a namespace", "isolation/hostile-identifiers", *_ODD)
FILTER_KEY_TEXT = axis(
    "text of a filter key", "isolation/hostile-filter-keys", *_ODD[:1], *_ODD[3:8], "empty"
)
CHANNEL_TEXT = axis("text of a channel", "serialization/names", *_ODD[:-1])
NODE_TEXT = axis("text of a node", "serialization/names", "plain", "padded", "Unicode", "quotes")
METADATA_KEY_TEXT = axis("text of a metadata key", "serialization/metadata", *_ODD[:7], "empty")
METADATA_TEXT = axis(
    "text of a metadata value", "serialization/metadata filter/equality", *_ODD[:9], "empty"
)
FILTER_TEXT = axis("text of a filter value", "filter/equality", *_ODD[:9], "empty")
_ALIKE = ("1", "'1'", "1.0", "True", "'True'", "None", "'None'", "'null'", "''", "0")
STORED_ALIKE = axis("metadata that prints alike", "filter/equality", *_ALIKE)
ASKED_ALIKE = axis("filter values that print alike", "filter/equality", *_ALIKE)

AXES: tuple[Axis, ...] = (
    *(PARENT, TIMES, VALUE, WRITE, LIKE, CHANNELS, LENGTH, BATCH, MOMENT, DELTA, SNAPSHOT, DEPTH),
    *(SEED, DELTA_PLACE, ABOVE),
    *(VERSIONS, VERSIONS_BY, READER, READ, LIMIT, BEFORE, FILTER, FORM, NAMESPACE, REMOVAL),
    CHANGE,
    *(ORIGIN, LISTED, RUN_ID, SPECIAL, AFTER, PLACES),
    *(THREAD_TEXT, NAMESPACE_TEXT, FILTER_KEY_TEXT, CHANNEL_TEXT, NODE_TEXT),
    *(METADATA_KEY_TEXT, METADATA_TEXT, FILTER_TEXT, STORED_ALIKE, ASKED_ALIKE),
)

CROSSED: dict[str, tuple[Axis, ...]] = {
    "ordering": (PARENT, TIMES, LENGTH, READ, LIMIT, BEFORE, FILTER, FORM),
    "identity": (PARENT, TIMES, LENGTH, READ, FORM, NAMESPACE),
    "channels": (PARENT, TIMES, VALUE, CHANNELS, LENGTH),
    "serialization": (VALUE, WRITE, CHANNELS),
    "upsert": (VALUE, WRITE, CHANNELS, BATCH, MOMENT, READ),
    "pending-writes": (WRITE, BATCH, MOMENT, READ),
    "filter": (LIMIT, BEFORE, FILTER, LENGTH),
    "deletion": (
        *(REMOVAL, ORIGIN, LISTED, RUN_ID, SPECIAL, AFTER, PARENT, VALUE, WRITE, LENGTH, BATCH),
    ),
    "delta-history": (DELTA, SNAPSHOT, DEPTH, PARENT, TIMES, SEED, DELTA_PLACE, REMOVAL),
    "parity": (READ, VALUE, WRITE, BATCH),
    "lifecycle": (READER, READ, VALUE, WRITE, BATCH),
    "concurrency": (READER, CHANGE, READ),
}
"""The axes of each family whose points are brought together two by two."""

TOO_MUCH = "too expensive together"
IMPOSSIBLE = "there is no such program"
_LARGE = frozenset(
    (*(VALUE.at(size) for size in ("64 kB", "1 MB")), *(WRITE.at(s) for s in ("64 kB", "1 MB")))
)


def why_apart(one: Touched, other: Touched) -> str | None:
    """Return why two points are never brought together, or None if they are."""
    pair = {one, other}
    heavy = {p for p in pair if p in HEAVY}
    if heavy and (len(heavy) == 2 or pair & _LARGE or CHANNELS.at("200") in pair):
        return TOO_MUCH
    if LENGTH.at("100") in pair and pair & {VALUE.at("1 MB"), WRITE.at("1 MB")}:
        return TOO_MUCH
    return _APART.get(frozenset(pair))


_APART: dict[frozenset[Touched], str] = {
    frozenset((LIMIT.at("exact"), FILTER.at("fits none"))): IMPOSSIBLE,
    frozenset((DEPTH.at("1"), SNAPSHOT.at("far"))): IMPOSSIBLE,
    frozenset((DEPTH.at("100"), SNAPSHOT.at("near"))): IMPOSSIBLE,
    frozenset((DEPTH.at("1,100"), SNAPSHOT.at("near"))): IMPOSSIBLE,
    frozenset((SNAPSHOT.at("none"), SEED.at("a snapshot"))): IMPOSSIBLE,
    **{
        frozenset((DEPTH.at("1,100"), point)): TOO_MUCH
        for point in (
            *(DELTA.at(name) for name in ("the first", "the last", "no channels")),
            *(SEED.at("a snapshot"), DELTA_PLACE.at("nested")),
            *(REMOVAL.at(point.name) for point in REMOVAL.points),
        )
    },
    **{
        frozenset((REMOVAL.at(of_one), LISTED.at(unknown))): IMPOSSIBLE
        for of_one in ("delete_thread", "copy_thread")
        for unknown in ("an unknown one first", "an unknown one last")
    },
}
HEAVY = frozenset(axis.at(point.name) for axis in AXES for point in axis.points if point.heavy)
