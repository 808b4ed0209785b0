"""Scenes of the families parity and lifecycle."""

from __future__ import annotations

import asyncio
import copy
from typing import Any
from unittest import mock

from saverproof.savers.targets.event_loop import having_a_loop
from tests.wrong_savers.scenes import scene
from tests.wrong_savers.scenes.probe import Probe, finish
from tests.wrong_savers.scenes.remains import much_is_stored, what_is_kept
from tests.wrong_savers.scenes.threads import everything, two_threads


def tidied_up_by_async(p: Probe) -> list[Any]:
    """What is left of a thread with two namespaces by copying, pruning and the deletion of runs."""
    for ns in ("", "n:1"):
        for number in (1, 2):
            run = {"run_id": f"r{number}"}
            p.put(number, thread="tidied", ns=ns, parent=number - 1 or None, metadata=run)
    answers = [p.attempt(lambda: p.call("copy_thread", "tidied", "copy"))]
    copied = everything(p, "copy")
    answers.append(p.attempt(lambda: p.call("prune", ["copy"], strategy="keep_latest")))
    pruned = everything(p, "copy")
    answers.append(p.attempt(lambda: p.call("delete_for_runs", ["r1"])))
    return [answers, copied, pruned, everything(p, "tidied")]


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
    for answer in (1, 2):
        p.write(4, [("__resume__", answer)], "t5")
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
    return seen, everything(p, "a"), tidied_up_by_async(p)


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
    much_is_stored(p)
    two_threads(p)
    p.reopen()
    return p.id_of(), p.id_of("a", "n:1"), everything(p, "a", "b", "ab"), what_is_kept(p)


@scene("lifecycle/setup-idempotent")
def set_up_again(p: Probe) -> Any:
    two_threads(p)
    p.write(9, [("early", 1)])
    answers = [p.attempt(p.saver.setup), p.attempt(p.saver.setup)]
    p.put(9)
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
    left = []
    for _ in range(_AS_MANY_AS_A_SMALL_POOL_HAS):
        left.append(_left(p))
        held = p.saver.__dict__.get("gate")
        if held is not None and held.locked():
            return "locked"
    answers = isinstance(p.put(4), str), p.ids(p.config(), limit=2), p.id_of()
    # One in memory has nothing to close.
    return *answers, p.attempt(getattr(p.saver, "close", lambda: None))


_AS_MANY_AS_A_SMALL_POOL_HAS = 5


def _left(p: Probe) -> Any:
    """Return a listing that is left after its first item."""
    if p.reads == "sync":
        listing = p.saver.list(p.config())
        p.attempt(lambda: next(listing))
        with having_a_loop():
            listing.close()
    else:
        listing = p.saver.alist(p.config())
        p.attempt(lambda: finish(listing.__anext__()))
    return listing


@scene("lifecycle/shallow-clone")
def a_clone(p: Probe) -> Any:
    p.put(1, values={"x": 1})
    original, clone = p.saver, copy.copy(p.saver)
    p.saver = clone
    answers = [p.number(p.tuple()), isinstance(p.put(2, values={"x": 2}), str)]
    answers += [isinstance(p.write(2, [("x", 1)]), str), p.pending("a", "", 2)]
    p.saver = original
    answers += [p.number(p.tuple()), p.pending("a", "", 2)]
    del clone
    return answers, isinstance(p.put(3, values={"x": 2}), str), p.ids(p.config())


@scene("lifecycle/savers-by-turns")
def two_savers(p: Probe) -> Any:
    def stored() -> list[bool]:
        puts = [p.put(1, values={"x": 1}), p.write(1, [("x", 1)])]
        return [isinstance(answer, str) for answer in puts]

    second = p.beside()
    answers = [stored(), isinstance(second.put(1, values={"x": 7}), str), p.held("a", "", 1)]
    second.delete()
    return answers, stored(), p.held("a", "", 1), p.pending("a", "", 1)


@scene("lifecycle/close-idempotent")
def closed_twice(p: Probe) -> Any:
    answers = [p.attempt(p.saver.close), p.attempt(p.saver.close)]
    p.saver = p.elsewhere().saver
    return answers
