"""Scenes of the families isolation, deletion, delta-history, parity and lifecycle."""

from __future__ import annotations

import asyncio
import copy
from typing import Any
from unittest import mock

from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from tests.wrong_savers.scenes import scene
from tests.wrong_savers.scenes.probe import Probe, finish

HOSTILE = (
    *("a", "A", "a ", " a", "007", "7", "\u00e9", "e\u0301", "a%", "a_", "ab", "a*", "a?b", "a[b]"),
    *("a'b", "a''b", "a/../b", "a/b", "a\0b", "a:b", "a|b", "../a", "a\0", "b"),
)


def everything(p: Probe, *threads: str) -> Any:
    """What the threads hold."""
    found = []
    for thread in threads:
        items = p.tuples(p.config(thread, None))
        found.append(
            items
            if isinstance(items, str)
            else [
                (
                    i.config,
                    p.number(i),
                    i.checkpoint["channel_values"],
                    i.metadata,
                    i.parent_config,
                    i.pending_writes,
                )
                for i in sorted(items, key=lambda item: str(item.config))
            ]
        )
    return found


@scene("isolation/threads")
def the_same_ids_in_two_threads(p: Probe) -> Any:
    p.put(1, values={"x": "a1"})
    p.put(2, parent=1, values={"x": "a2"})
    p.write(1, [("x", "a")])
    p.put(1, thread="b", values={"x": "b1"})
    p.put(7, thread="c", values={"x": "c7"})
    got = [p.id_of("b", "", 2), p.id_of("b"), p.id_of("a"), p.id_of("a", "", 7)]
    return got, everything(p, "a", "b"), p.places(p.config("b", "", 2)), p.pending("a", "", 1)


@scene("isolation/namespaces")
def the_same_ids_in_two_namespaces(p: Probe) -> Any:
    p.put(1, values={"x": "root"})
    p.put(2, parent=1, values={"x": "root"})
    p.put(1, ns="n", values={"x": "n"})
    p.put(1, ns="n:1", values={"x": "n1"})
    got = [p.id_of("a", "n", 2), p.id_of("a", "n"), p.id_of(), p.held("a", "", 1)]
    return got, [p.places(p.config("a", ns)) for ns in ("", "n", "n:1")]


NESTED = ("n", "m", "n:t1", "n:t2", "n:t1|m:t1", "n:t1|m:t2", "n:t1|1", "o:t1|m:t1", "n:t1|2")


@scene("isolation/nested-namespaces")
def namespaces_of_subgraphs(p: Probe) -> Any:
    long = "n:11111111-2222-3333-4444-555555555555|m:11111111-2222-3333-4444-"
    nested = (*NESTED, long + "0", long + "1")
    answers = [p.put(1, ns=ns, values={"x": ns}) for ns in nested]
    held = [p.held("a", ns) for ns in nested]
    return [isinstance(a, str) for a in answers], held, [p.places(p.config("a", n)) for n in nested]


@scene("isolation/hostile-identifiers")
def threads_that_look_alike(p: Probe) -> Any:
    for thread in HOSTILE:
        p.put(1, thread=thread, values={"x": thread})
    for thread, ns in (("k:l", "m"), ("k", "l:m")):
        p.put(1, thread=thread, ns=ns, values={"x": thread})
    before = [p.held(thread) for thread in HOSTILE], p.held("k:l", "m"), p.held("k", "l:m")
    listed = [p.places(p.config(thread)) for thread in HOSTILE]
    for thread in ("a%", "a_", "a*", "A"):
        p.delete(thread)
    return before, listed, [p.held(thread) for thread in HOSTILE]


@scene("isolation/hostile-filter-keys")
def filters_that_look_like_sql(p: Probe) -> Any:
    p.put(1, metadata={"kind": "k"})
    keys = (
        "x') = 1 OR 1=1 OR json_extract(metadata, '$.y",
        "it's",
        "ki'nd",
        'ki"nd',
        "kind[0]",
        "kind; DROP TABLE x",
        "ki nd",
    )
    found = [p.ids(p.config(), filter={key: "k"}) for key in keys]
    return [[] if isinstance(ids, str) else ids for ids in found], p.ids(p.config())


@scene("isolation/private-files")
def modes_of_files(p: Probe) -> Any:
    p.put(1, values={"x": 1})
    files = [file for file in p.path.rglob("*") if file.is_file()]
    return sorted(file.name for file in files if file.stat().st_mode & 0o077)


@scene("serialization/encrypted-at-rest")
def secrets_in_files(p: Probe) -> Any:
    p.saver.serde = EncryptedSerializer.from_pycryptodome_aes(key=b"k" * 16)
    secrets = ("secret text", b"secret bytes", {"key": "secret inside"})
    for number, secret in enumerate(secrets, 1):
        p.put(number, values={"x": secret})
        p.write(number, [("x", secret)])
    held = [(p.held("a", "", number), p.pending("a", "", number)) for number in (1, 2, 3)]
    return held, [file.name for file in p.path.rglob("*") if b"secret" in file.read_bytes()]


@scene("isolation/workspaces")
def another_workspace(p: Probe) -> Any:
    p.put(1, values={"x": 1})
    other = p.elsewhere()
    return [p.number(other.tuple("a", "", 1)), other.ids(None)]


def two_threads(p: Probe) -> None:
    """Thread a has two namespaces and early writes, thread b the same ids, ab nothing of a."""
    for thread in ("a", "b", "ab"):
        p.put(1, thread=thread, values={"x": 1, "y": 1}, metadata={"run_id": "r1"})
        p.put(2, thread=thread, parent=1, values={"x": 2}, metadata={"run_id": "r2"})
        p.put(1, thread=thread, ns="n:1", values={"x": 1}, metadata={"run_id": "r1"})
        p.write(1, [("x", "late")], thread=thread)
        p.write(2, [("x", "now")], thread=thread)
        p.write(1, [("x", "nested")], thread=thread, ns="n:1")
        p.write(3, [("x", "early")], thread=thread)


@scene("deletion/thread-all")
def a_deleted_thread(p: Probe) -> Any:
    two_threads(p)
    answers = [p.delete("z"), p.delete("a")]
    left = p.places(p.config("a", None)), p.id_of(), p.id_of("a", "n:1"), p.places(None)
    return answers, left, everything(p, "b", "ab")


@scene("deletion/no-ghosts")
def the_same_ids_after_a_delete(p: Probe) -> Any:
    two_threads(p)
    p.delete("a")
    for number, ns in ((1, ""), (3, ""), (1, "n:1")):
        p.put(number, ns=ns, values={"z": 1})
    return everything(p, "a")


def delete_runs(p: Probe, *runs: str) -> Any:
    return p.attempt(lambda: p.call("delete_for_runs", list(runs)))


@scene("deletion/runs")
def deleted_runs(p: Probe) -> Any:
    two_threads(p)
    p.put(4, thread="a", parent=2, values={"x": 4}, metadata={"run_id": "r11"})
    p.put(5, thread="a", parent=4, values={"x": 5})
    p.put(6, thread="a", parent=4, values={"x": 5}, metadata={"run_id": "r3"})
    answers = [delete_runs(p), delete_runs(p, "zz")]
    delete_runs(p, "r1", "r3")
    left = everything(p, "a", "b", "ab")
    p.put(1, ns="n:1", values={"x": 9})
    return answers, left, p.pending("a", "n:1", 1)


def prune(p: Probe, *threads: str, strategy: str = "keep_latest") -> Any:
    return p.attempt(lambda: p.call("prune", list(threads), strategy=strategy))


@scene("deletion/prune-latest")
def pruned_to_the_latest(p: Probe) -> Any:
    two_threads(p)
    p.put(4, values={"x": 4}, parent=2)
    p.put(3, values={"x": 3}, parent=2)
    answers = [prune(p), prune(p, "a"), prune(p, "b", strategy="delete")]
    latest = [p.tuple(), p.tuple("a", "n:1"), p.tuple("b")]
    shown = [i and (p.number(i), i.checkpoint["channel_values"], i.metadata) for i in latest]
    return answers, shown, p.pending("a", "n:1"), everything(p, "ab"), p.held("a", "", 4)


@scene("deletion/prune-drops-older")
def pruned_of_the_older(p: Probe) -> Any:
    two_threads(p)
    p.put(2, ns="n:1", values={"x": 2}, parent=1)
    prune(p, "a")
    return p.places(p.config("a", None))


def delta_thread(p: Probe) -> None:
    """Two delta channels: x has a snapshot at 1 and y at 3; the path is 1, 2, 3, 4, 5."""
    from langgraph.checkpoint.serde.types import _DeltaSnapshot

    counted = {"counters_since_delta_snapshot": {"x": [1, 1], "y": [1, 1]}}
    p.put(1, values={"x": _DeltaSnapshot(["s"])}, metadata=counted)
    for number, parent in ((2, 1), (3, 2), (9, 2), (4, 3), (5, 4)):
        values = {"y": _DeltaSnapshot([3])} if number == 3 else {"z": number}
        drop = [c for c in ("x", "y") if c in p.values["a", "", parent]]
        p.put(number, parent=parent, values=values, drop=drop, metadata=counted)
    for number in (1, 2, 3, 9, 4, 5):
        p.write(number, [("x", number), ("x", -number), ("y", number)], f"t{number % 3}")


@scene("deletion/prune-keeps-delta-chain")
def pruned_delta_thread(p: Probe) -> Any:
    delta_thread(p)
    p.put(10, parent=5, values={"z": 10}, metadata={"counters_since_delta_snapshot": {"x": [1, 1]}})
    before = p.history(10, ("x", "y"))
    answer = prune(p, "a")
    return answer, before == p.history(10, ("x", "y"))


def copied(p: Probe) -> Any:
    return p.attempt(lambda: p.call("copy_thread", "a", "copy"))


@scene("deletion/copy-complete")
def a_copied_thread(p: Probe) -> Any:
    two_threads(p)
    answer = copied(p)
    before = everything(p, "copy", "a")
    p.put(3, thread="copy", values={"x": 1})
    return answer, before, p.pending("copy", "", 3)


@scene("deletion/copy-independent")
def changes_after_a_copy(p: Probe) -> Any:
    two_threads(p)
    copied(p)
    p.write(2, [("x", "source")], "t8")
    p.write(2, [("x", "copy")], "t9", thread="copy")
    p.put(7, values={"x": "source"})
    p.write(9, [("x", "source")])
    p.put(9, thread="copy", values={"x": "copy"})
    before = everything(p, "a", "copy")
    p.delete("a")
    return before, everything(p, "a", "copy")


@scene("delta-history/matches-walk")
def histories(p: Probe) -> Any:
    delta_thread(p)
    p.put(20, values={"z": 0})
    p.write(20, [("q", 1)])
    p.put(11, parent=20, values={"z": 1})
    p.put(12, parent=11, values={"z": 2})
    p.put(21, parent=5, values={"z": 3})
    p.put(30, parent=5, values={"x": ["plain"], "z": 4})
    p.put(31, parent=30, values={"z": 5}, drop=["x"])
    asked = [(n, ("x", "y", "q")) for n in (1, 2, 4, 5, 9, 12, 31, None)]
    return [p.history(number, channels) for number, channels in asked], p.history(5, ("x",))


@scene("parity/same-answers")
def both_apis(p: Probe) -> Any:
    p.tuple("a", "", 1)
    p.put(1, values={"x": 1}, metadata={"kind": "k"})
    p.tuple()
    p.put(2, parent=1, values={"x": 2})
    p.write(1, [("x", 1)])
    p.tuple("a", "", 1)
    p.write(1, [("x", 2), ("y", 2)])
    p.put(3, ns="n:1", values={"x": 1})
    options: list[dict[str, Any]] = [
        {"filter": {"kind": "k"}},
        {"limit": 1},
        {"before": p.config("a", "", 2)},
    ]
    seen = []
    for reads in ("sync", "async", "sync"):
        p.reads = reads
        seen.append([p.ids(p.config(), **narrowing) for narrowing in options])
        seen.append([everything(p, "a"), [p.pending("a", "", 1), p.id_of(), p.id_of("a", "n:1")]])
        seen.append([getattr(p.tuple("a", "", 2), "parent_config", "no tuple")])
    p.writes_by = "async"
    p.put(4, parent=2, values={"x": 4})
    p.write(4, [("x", "async")], "t5")
    p.write(4, [("x", "again")], "t5")
    p.reads = "sync"
    seen.append([getattr(p.tuple("a", "", 4), "parent_config", "no tuple")])
    seen.append(copy.deepcopy(everything(p, "a")))
    p.reads = "async"
    seen.append(everything(p, "a"))
    p.writes_by = "sync"
    seen.append([p.pending("a", "", 4)])
    p.write(4, [("x", "sync")], "t6")
    seen.append([p.pending("a", "", 4)])
    p.writes_by = "async"
    p.delete("a")
    p.reads = "sync"
    return seen, everything(p, "a")


def on_a_loop(p: Probe, *names: str) -> Any:
    """Call sync methods on the thread of a running loop; True for each that waits for it."""
    saver = p.saver
    p.put(1)
    waited: list[str] = []

    def refuse(coroutine: Any, loop: Any) -> Any:
        coroutine.close()
        raise RuntimeError("waits for its own loop")

    async def run() -> None:
        checkpoint, new = p.checkpoint(("a", "", 2))
        calls: dict[str, Any] = {
            "get_tuple": lambda: saver.get_tuple(p.config()),
            "list": lambda: list(saver.list(p.config())),
            "delete_thread": lambda: saver.delete_thread("z"),
            "put": lambda: saver.put(p.config(), checkpoint, {}, new),
            "put_writes": lambda: saver.put_writes(p.config("a", "", 1), [("x", 1)], "t", ""),
        }
        waited.extend(name for name in names if isinstance(p.attempt(calls[name]), str))

    with mock.patch.object(asyncio, "run_coroutine_threadsafe", refuse):
        asyncio.run(run())
    return waited


@scene("parity/no-event-loop-hang")
def reads_on_a_loop(p: Probe) -> Any:
    return on_a_loop(p, "get_tuple", "list", "delete_thread")


@scene("parity/no-event-loop-hang-in-writes")
def writes_on_a_loop(p: Probe) -> Any:
    return on_a_loop(p, "put", "put_writes")


@scene("lifecycle/reopen")
def reopened(p: Probe) -> Any:
    two_threads(p)
    p.reopen()
    return p.id_of(), p.id_of("a", "n:1"), everything(p, "a", "b", "ab")


@scene("lifecycle/setup-idempotent")
def set_up_again(p: Probe) -> Any:
    two_threads(p)
    answers = [p.attempt(p.saver.setup), p.attempt(p.saver.setup)]
    return answers, p.attempt(p.reopen), everything(p, "a")


@scene("lifecycle/any-first-operation")
def first_operations(p: Probe) -> Any:
    return [
        p.elsewhere().delete("a"),
        p.elsewhere().id_of(),
        p.elsewhere().ids(p.config()),
        p.elsewhere().write(1, [("x", 1)]),
        p.elsewhere().put(1),
    ]


@scene("lifecycle/any-first-operation-before-setup")
def first_operations_before_setup(p: Probe) -> Any:
    return first_operations(p)


@scene("lifecycle/abandoned-list")
def a_list_that_is_left(p: Probe) -> Any:
    for number in (1, 2, 3):
        p.put(number)
    if p.reads == "sync":
        listing = p.saver.list(p.config())
        next(listing)
    else:
        listing = p.saver.alist(p.config())
        finish(listing.__anext__())
    held = p.saver.__dict__.get("gate")
    if held is not None and held.locked():
        return "locked"
    return isinstance(p.put(4), str), p.ids(p.config(), limit=2), p.id_of()


@scene("lifecycle/shallow-clone")
def a_clone(p: Probe) -> Any:
    p.put(1, values={"x": 1})
    original, clone = p.saver, copy.copy(p.saver)
    p.saver = clone
    answers = [p.number(p.tuple()), isinstance(p.put(2, values={"x": 2}), str)]
    answers += [isinstance(p.write(2, [("x", 1)]), str), p.pending("a", "", 2)]
    p.saver = original
    answers += [p.number(p.tuple()), p.pending("a", "", 2), p.attempt(clone.close)]
    del clone
    return answers, isinstance(p.put(3, values={"x": 2}), str), p.ids(p.config())


@scene("lifecycle/close-idempotent")
def closed_twice(p: Probe) -> Any:
    answers = [p.attempt(p.saver.close), p.attempt(p.saver.close)]
    p.saver = p.elsewhere().saver
    return answers
