"""Programs that show a wrong saver's flaw, one or more for every fact that judging tells of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from saverproof.judging.scenes import (
    AbandonList,
    Bulk,
    CallOnLoop,
    CheckFiles,
    Clone,
    CopyByPutting,
    DropClone,
    Elsewhere,
    FirstOperation,
    LeaveUnread,
    ParentLoop,
    RefuseValue,
    TakeTurns,
)
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    DeltaHistory,
    Extras,
    GetTuple,
    IdForm,
    ListTuples,
    NextVersions,
    Program,
    Prune,
    Put,
    PutWrites,
    Reopen,
    SetUp,
    Step,
    VersionsBy,
    WalkPages,
)
from saverproof.programs.values import Value


@dataclass(frozen=True)
class Case:
    """A wrong saver, the fact that is seen of it, and the program that shows it."""

    saver: str
    fact: str
    program: Program

    def __str__(self) -> str:
        return f"{self.saver} {self.fact}"


def number(n: int) -> Value:
    return Value("integer", n)


def put(n: int, parent: int | None = None, **other: Any) -> Put:
    """A checkpoint of the thread and namespace most cases use, its one channel changed."""
    changes = other.pop("changes", (("notes", number(n)),))
    thread, namespace = other.pop("thread", "a"), other.pop("namespace", "")
    return Put(thread, namespace, n, parent, changes=changes, **other)


def writes(n: int, *batch: tuple[str, Any], task: int = 1, **other: Any) -> PutWrites:
    """A batch on a checkpoint of the same place."""
    made = tuple((c, v if isinstance(v, Value) else number(v)) for c, v in batch)
    thread, namespace = other.pop("thread", "a"), other.pop("namespace", "")
    return PutWrites(thread, namespace, n, task, made, **other)


def case(saver: str, fact: str, *program: Step) -> Case:
    return Case(saver, fact, program)


LOOP = Extras(loop=True)
LIST_VALUE = Value("dict", 1)

CASES = (
    # whether a checkpoint is there
    case("key-without-thread", "missing", put(1, thread="b"), put(1)),
    case("prune-keeps-last-inserted", "missing", put(2), put(1), Prune(("a",), "keep_latest")),
    case("deleted-is-still-listed", "extra", put(1), DeleteThread("a")),
    case("unknown-is-an-empty-tuple", "extra", GetTuple("b", None)),
    case("unknown-thread-raises", "extra", GetTuple("b", None)),
    case("unknown-id-raises", "unreadable", GetTuple("b", "", 1)),
    # what a checkpoint says
    case("latest-echoes-config", "address", put(1, namespace="child")),
    case("list-echoes-config", "address", put(1, namespace="child"), ListTuples("a")),
    case("parent-is-the-last-put", "parent", put(1), put(2), put(3, 1)),
    case("empty-id-is-aparent", "parent", put(1, id_form=IdForm.EMPTY)),
    case("no-parent-in-list", "parent", put(1), put(2, 1), ListTuples("a")),
    case("format-rewritten", "v", put(1)),
    case("timestamp-cut", "ts", put(1)),
    case("updated-channels-dropped", "updated_channels", put(1)),
    case("pending-sends-dropped", "pending_sends", put(1, fields="pending-sends")),
    case("empty-versions-seen-dropped", "versions_seen", put(1)),
    case("versions-as-numbers", "channel_versions", put(1)),
    case("falsy-metadata-dropped", "metadata:step", put(1, metadata={"step": 0})),
    case("metadata-as-text", "metadata:step", put(1, metadata={"step": 1})),
    case(
        "config-not-merged",
        "metadata:user",
        put(1, extras=Extras(configurable={"user": "ann"}, metadata={"attempt": 1})),
    ),
    case("metadata-merged", "stale:user", put(1, metadata={"user": "ann"}), put(1)),
    # values
    case("sets-as-lists", "value:notes", put(1, changes=(("notes", Value("set", 1)),))),
    case(
        "whole-floats-as-integers", "value:notes", put(1, changes=(("notes", Value("float", 2)),))
    ),
    case("enums-as-values", "value:notes", put(1, changes=(("notes", Value("text-enum", 0)),))),
    case("non-finite-as-none", "value:notes", put(1, changes=(("notes", Value("non-finite", 2)),))),
    case("long-text-cut", "value:notes", put(1, changes=(("notes", Value("large-text", 0)),))),
    case("models-as-dicts", "value:notes", put(1, changes=(("notes", Value("ai-message", 1)),))),
    case("dropped-is-none", "value:notes", put(1), put(2, 1, changes=(("notes", None),))),
    case("copy-without-values", "value:notes", put(1), CopyThread("a", "b")),
    case("only-new-values", "value:notes", put(1), put(2, 1, changes=(("count", number(1)),))),
    case("dotted-channels-nested", "value:a.b", put(1, changes=(("a.b", number(1)),))),
    # pending writes
    case("batch-as-dict", "write:missing", put(1), writes(1, ("notes", 1), ("notes", 2))),
    case(
        "errors-as-message", "write:value", put(1), writes(1, ("__error__", Value("exception", 0)))
    ),
    case(
        "special-write-first-wins",
        "write:value",
        put(1),
        writes(1, ("__resume__", 1)),
        writes(1, ("__resume__", 2)),
    ),
    case(
        "mixed-batch-ignores",
        "write:value",
        put(1),
        writes(1, ("__resume__", 1)),
        writes(1, ("__resume__", 2), ("notes", 3)),
    ),
    case(
        "special-writes-pile-up",
        "write:twice",
        put(1),
        writes(1, ("__resume__", 1)),
        writes(1, ("__resume__", 2)),
    ),
    case(
        "delete-leaves-writes", "write:", put(1), writes(1, ("notes", 1)), DeleteThread("a"), put(1)
    ),
    case("writes-of-the-whole-namespace", "write:", put(1), writes(1, ("notes", 1)), put(2, 1)),
    case(
        "write-index-as-text",
        "write:order",
        put(1),
        writes(1, *((f"c{n}", n) for n in range(11))),
    ),
    case("repeated-writes-merged", "write:missing", put(1), writes(1, ("n", 1), ("n", 1))),
    case("no-writes-in-list", "write:missing", put(1), writes(1, ("notes", 1)), ListTuples("a")),
    # which checkpoint is read
    case("latest-inserted", "latest", put(2), put(1)),
    case("latest-of-any-namespace", "latest", put(1), put(2, namespace="child")),
    case("latest-of-any-namespace", "address", put(1), put(1, namespace="child")),
    case("latest-of-any-namespace", "extra", put(1), GetTuple("a", "child")),
    case("none-id-is-looked-up", "form", put(1), GetTuple("a", "", id_form=IdForm.NONE)),
    case("get-needs-anamespace", "form", put(1), GetTuple("a", None)),
    case("config-deep-copied", "form", put(1), GetTuple("a", "", extras=LOOP)),
    # listings
    case("list-ignores-id", "selection", put(1), put(2, 1), ListTuples("a", "", 1)),
    case("before-inclusive", "selection", put(1), put(2, 1), ListTuples("a", "", before=2)),
    case("append-only", "selection", put(1), put(1), ListTuples("a")),
    case(
        "append-only",
        "value:notes",
        put(1),
        put(1, changes=(("notes", number(2)),)),
        ListTuples("a"),
    ),
    case("deleted-latest-cached", "extra", put(1), DeleteThread("a"), GetTuple("a")),
    case("oldest-first", "order", put(1), put(2, 1), ListTuples("a", "")),
    case("grouped-by-thread", "order", put(1), put(3, thread="b"), put(2, 1), ListTuples(None)),
    case("limit-plus-one", "limit", put(1), put(2, 1), ListTuples("a", "", limit=1)),
    case(
        "limit-per-namespace", "limit", put(1), put(2, namespace="child"), ListTuples("a", limit=1)
    ),
    case("page-repeats-arow", "pages", put(1), put(2, 1), put(3, 2), WalkPages("a", "", 1)),
    case("list-needs-aconfig", "raised", put(1), ListTuples(None)),
    case("filter-none-raises", "raised", put(1), ListTuples("a")),
    case(
        "filter-key-cleaned",
        "selection",
        put(1, metadata={"source": "loop"}),
        ListTuples("a", filter={"sour'ce": "loop"}),
    ),
    # what is answered, and what is done to the arguments
    case("put-answers-none", "returned", put(1)),
    case("put-echoes-config", "returned", put(1)),
    case("pops-channel-values", "input:checkpoint", put(1)),
    case("updates-metadata", "input:metadata", put(1, extras=Extras(metadata={"user": "ann"}))),
    case("drops-private-config-keys", "input:config", put(1, extras=LOOP)),
    case("empties-the-batch", "input:writes", put(1), writes(1, ("notes", 1))),
    case("get-fills-in-the-namespace", "input:config", GetTuple("a", None)),
    case(
        "values-aliased",
        "value:notes",
        put(1, changes=(("notes", LIST_VALUE),), mutate_inputs=True),
    ),
    case(
        "writes-aliased",
        "write:value",
        put(1),
        writes(1, ("notes", LIST_VALUE), mutate_inputs=True),
    ),
    case(
        "decoded-values-cached",
        "value:notes",
        put(1, changes=(("notes", LIST_VALUE),)),
        GetTuple("a", "", mutate_result=True),
    ),
    # exceptions
    case("insert-only", "raised", put(1), put(1)),
    case("retry-refused", "raised", put(1), writes(1, ("notes", 1)), writes(1, ("notes", 2))),
    case("legacy-writes-refused", "raised", put(1, legacy_writes=Value("human-message", 1))),
    case("updated-channels-required", "raised", put(1, format=1, fields="fewer")),
    case("empty-batch-refused", "raised", put(1), writes(1)),
    case("config-as-json", "raised", put(1, extras=LOOP)),
    case("unknown-thread-cannot-be-deleted", "raised", DeleteThread("a")),
    # versions and delta channels
    case("first-version-is-zero", "version", NextVersions(3)),
    case("random-versions", "version", NextVersions(40)),
    case(
        "versions-of-two-types",
        "version",
        put(1),
        put(2, 1, changes=(("count", number(1)),)),
    ),
    case("versions-in-an-integer-column", "raised", put(1, versions=VersionsBy.AGENT_SERVER)),
    case(
        "values-by-whole-version",
        "value:notes",
        put(1, versions=VersionsBy.AGENT_SERVER),
        put(2, changes=(("notes", LIST_VALUE),), versions=VersionsBy.AGENT_SERVER),
    ),
    case(
        "versions-inserted-once", "raised", put(1), put(2, 1, changes=()), CopyByPutting("a", "b")
    ),
    case(
        "known-versions-have-no-value",
        "copy",
        put(1),
        put(2, 1, changes=()),
        CopyByPutting("a", "b"),
    ),
    case(
        "history-leaves-channels-out",
        "channels",
        put(1),
        DeltaHistory("a", "", None, ("notes", "log")),
    ),
    case("history-with-the-target", "history", put(1), DeltaHistory("a", "", None, ("notes",))),
    case("prune-does-nothing", "kept", put(1), put(2, 1), Prune(("a",), "keep_latest")),
    case(
        "prune-cuts-delta-chains",
        "delta",
        put(1),
        writes(1, ("notes", 1)),
        put(
            2,
            1,
            changes=(("notes", None),),
            metadata={"counters_since_delta_snapshot": {"notes": [1, 1]}},
        ),
        Prune(("a",), "keep_latest"),
    ),
    case(
        "runs-in-the-root-only",
        "extra",
        put(1, namespace="child", metadata={"run_id": "run-1"}),
        DeleteForRuns(("run-1",)),
    ),
    # a saver's life
    case("nothing-is-kept", "missing", put(1), Reopen()),
    case("unread-is-lost", "missing", LeaveUnread(), put(1), Reopen()),
    case("writes-only-in-memory", "write:missing", put(1), writes(1, ("notes", 1)), Reopen()),
    case("setup-drops-tables", "missing", put(1), SetUp()),
    case("setup-twice-raises", "raised", put(1), SetUp()),
    case("abandoned-list-stays-busy", "raised", put(1), AbandonList("a"), put(2, 1)),
    case(
        "abandoned-list-goes-on",
        "selection",
        put(1),
        put(2, 1),
        AbandonList("a"),
        ListTuples("a"),
    ),
    case("clone-has-its-own-index", "", put(1), Clone(), put(2, 1), DropClone()),
    case("dropped-clone-closes", "", put(1), Clone(), DropClone()),
    case(
        "inserted-rows-remembered",
        "",
        *(put(1), TakeTurns(2), DeleteThread("a"), TakeTurns(1), put(1)),
    ),
    case(
        "own-puts-answered",
        "",
        put(1),
        TakeTurns(2),
        put(1, changes=(("notes", number(7)),)),
        TakeTurns(1),
    ),
    case("delete-before-put-raises", "raised", FirstOperation("delete_thread", True)),
    case("delete-before-setup-raises", "raised", FirstOperation("delete_thread", False)),
    # scenes
    case("one-store-for-all", "seen", put(1), Elsewhere("a", 2)),
    case(
        "unserializable-write-left-out", "accepted", put(1), RefuseValue("put_writes", "a", "", 1)
    ),
    case(
        "first-writes-of-abad-batch-stay",
        "write:",
        put(1),
        RefuseValue("put_writes", "a", "", 1, None, 3),
    ),
    case("row-of-abad-checkpoint-stays", "extra", put(1), RefuseValue("put", "a", "", 2, 1)),
    case("large-batch-refused", "raised", Bulk("writes", "a", 1, 20_000)),
    case("many-channels-refused", "raised", Bulk("channels", "a", 1, 1_000)),
    case("thousand-at-most", "count", Bulk("checkpoints", "a", 1, 1_100)),
    case("history-goes-round", "endless", ParentLoop("get_delta_channel_history")),
    case("prune-goes-round", "endless", ParentLoop("prune")),
    case("file-for-everybody", "mode", CheckFiles("private")),
    case("text-in-plain", "plaintext", CheckFiles("encrypted")),
)

CROSSED = (
    case("async-list-without-limit", "limit", put(1), put(2), ListTuples("a", limit=1)),
    case("async-get-without-writes", "", put(1), writes(1, ("notes", 1))),
    case("async-put-without-parent", "", put(1), put(2, 1), put(3, 2)),
    case("two-stores", "", put(1), put(2, 1)),
    case("async-read-cache", "", put(1), writes(1, ("notes", 1))),
)

SHOWN_BY_READS_BETWEEN = {"async-read-cache", "deleted-latest-cached"}
"""Savers that keep what they have read: their flaw shows where it was read before."""

HANGING = (
    case("get-waits-for-its-own-loop", "hang", CallOnLoop("get_tuple", "a", 1)),
    case("put-waits-for-its-own-loop", "hang", CallOnLoop("put", "a", 1)),
)
