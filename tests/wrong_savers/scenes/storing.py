"""Scenes of the families upsert, pending-writes and channels."""

from __future__ import annotations

import inspect
from functools import partial
from itertools import count, pairwise
from typing import Any
from unittest import mock

from tests.wrong_savers.scenes import scene
from tests.wrong_savers.scenes.probe import Probe


def shown(found: Any) -> Any:
    """A tuple without its versions."""
    if found is None or isinstance(found, str):
        return found
    fields = {k: v for k, v in found.checkpoint.items() if k != "channel_versions"}
    return found.config, fields, found.metadata, found.parent_config, found.pending_writes


@scene("upsert/put-is-idempotent")
def the_same_put_twice(p: Probe) -> Any:
    p.put(0, values={"x": 0})
    checkpoint, new = p.checkpoint(("a", "", 1), 0, {"x": 1})
    config = p.config("a", "", 0)
    answers = [
        isinstance(p.attempt(lambda: p.call("put", config, checkpoint, {"step": 1}, new)), str)
        for _ in range(2)
    ]
    return answers, p.ids(p.config()), shown(p.tuple())


@scene("upsert/put-replaces")
def another_put_of_an_id(p: Probe) -> Any:
    p.put(1, values={"x": 1, "y": 1}, metadata={"old": 1})
    p.put(1, values={"x": 2}, metadata={"step": 7, "new": 1}, updated_channels=["x"])
    p.values["a", "", 1] = {"x": 2}
    # Of another size.
    p.put(1, thread="b", values={"x": "long" * 9_000}, metadata={"note": "long" * 9_000})
    p.put(1, thread="b", values={"x": "short"}, metadata={"note": "short"})
    return p.ids(p.config()), shown(p.tuple()), p.held("b"), shown(p.tuple("b"))


@scene("upsert/reput-keeps-writes")
def a_put_over_pending_writes(p: Probe) -> Any:
    p.put(1, values={"x": 1})
    p.write(1, [("x", 1), ("__interrupt__", "i")])
    p.put(1, values={"x": 1})
    return sorted(p.pending("a", "", 1))


@scene("upsert/regular-write-first-wins")
def regular_writes_again(p: Probe) -> Any:
    p.put(1)
    answers = [p.write(1, [("x", 1)]), p.write(1, [("x", 2), ("y", 2)]), p.write(1, [("x", 3)])]
    return answers, p.pending("a", "", 1)


def all_special(p: Probe, *beside: tuple[str, Any]) -> Any:
    """Write every special channel twice, after these regular writes."""
    p.put(1)
    special = ("__error__", "__scheduled__", "__interrupt__", "__resume__")
    for turn in (1, 2):
        for channel in special:
            p.write(1, [*((c, (v, turn)) for c, v in beside), (channel, turn)])
            p.write(1, [*((c, (v, turn)) for c, v in beside), (channel, [turn])], "t2")
    return sorted(p.pending("a", "", 1), key=repr)


@scene("upsert/special-write-last-wins")
def special_writes_again(p: Probe) -> Any:
    p.put(2)
    for value in (b"long" * 9_000, b"short"):
        p.write(2, [("__resume__", value)])
    return all_special(p), p.pending("a", "", 2)


@scene("upsert/special-write-last-wins-mixed")
def mixed_batches_again(p: Probe) -> Any:
    behind = all_special(p, ("x", 1))
    p.put(2)
    p.write(2, [("__resume__", 1), ("x", 1)])
    p.write(2, [("__resume__", 2), ("x", 2)])
    return behind, sorted(p.pending("a", "", 2), key=repr)


@scene("pending-writes/complete")
def whole_batches(p: Probe) -> Any:
    p.put(1)
    p.write(1, [("x", 1), ("x", 1), ("y", None), ("x", 2), ("z", 0)], "t1")
    p.write(1, [("x", n) for n in range(1001)], "t2")
    p.write(1, [("__resume__", "r"), ("x", 1), ("y", 2)], "t3")
    for task in ("1-and-so-on-and-so-on-and-1", "1-and-so-on-and-so-on-and-2"):
        p.write(1, [("x", task)], task)
        p.write(1, [("x", task)], f"another-{task}")
    p.write(1, [("__pregel_tasks", 1), ("__no_writes__", None)], "t4")
    p.write(1, [("x", "at exit")], "00000000-1972-4049-e004-8b634cb01d4a")
    p.put(7)
    p.write(7, [("__resume__", "for the run")], "00000000-0000-0000-0000-000000000000")
    for channel in ("__interrupt__", "__resume__"):
        for task in ("t1", "t2"):
            p.write(7, [(channel, task)], task)
    before = p.pending("a", "", 1), p.pending("a", "", 7)
    p.write(1, [("x", "after a read")], "t5")
    p.put(2, parent=1)
    return before, p.pending("a", "", 1)


@scene("pending-writes/special-index")
def special_beside_regular(p: Probe) -> Any:
    p.put(1)
    for number, channel in enumerate(("__error__", "__scheduled__", "__interrupt__", "__resume__")):
        task = f"t{number}"
        p.write(1, [("x", n) for n in range(5)], task)
        p.write(1, [(channel, "special")], task)
        p.write(1, [(channel, "again")], task)
    p.write(1, [("__error__", 1)], "t9")
    p.write(1, [("__interrupt__", 2)], "t9")
    p.write(1, [("__resume__", 3)], "t9")
    return p.pending("a", "", 1)


@scene("pending-writes/scoped")
def the_same_task_elsewhere(p: Probe) -> Any:
    places = [("a", "", 1), ("a", "", 2), ("a", "n:1", 1), ("b", "", 1)]
    for thread, ns, number in places:
        p.put(number, thread=thread, ns=ns)
        p.write(number, [("x", f"{thread}{ns}{number}")], "t1", thread=thread, ns=ns)
    p.write(1, [("x", 1)], "t2")
    return [p.pending(*place) for place in places]


@scene("pending-writes/early-writes-kept")
def writes_before_the_checkpoint(p: Probe) -> Any:
    p.put(1)
    answer = p.write(2, [("x", 1)])
    p.put(2, parent=1)
    return answer, p.pending("a", "", 2)


@scene("pending-writes/late-writes")
def writes_after_the_children(p: Probe) -> Any:
    p.put(1)
    p.put(2, parent=1)
    p.put(3)
    answers = [p.write(number, [("x", number)]) for number in (1, 2)]
    return answers, [p.pending("a", "", number) for number in (1, 2, 3)]


@scene("pending-writes/one-task-two-paths")
def two_paths(p: Probe) -> Any:
    p.put(1)
    p.write(1, [("x", 1)], "t1", "~b")
    p.write(1, [("y", 2), ("y", 3)], "t1", "~a")
    p.write(1, [("x", 4)], "t2", "~aa")
    p.write(1, [("__interrupt__", 5)], "t1", "~c")
    return p.pending("a", "", 1)


@scene("pending-writes/empty-batch")
def an_empty_batch(p: Probe) -> Any:
    p.put(1)
    p.write(1, [("x", 1)])
    return p.write(1, []), p.pending("a", "", 1)


@scene("pending-writes/same-in-list")
def writes_in_both_reads(p: Probe) -> Any:
    for number in (1, 2):
        p.put(number)
        p.write(number, [("x", 1), ("__error__", "e"), ("y", 2)])
        p.write(number, [("x", 3)], "t0")
    got = [p.pending("a", "", number) for number in (2, 1)]
    listed = [p.tuples(config) for config in (p.config(), None)]
    if isinstance(listed[0], str):
        return listed
    same = [[item.pending_writes for item in found] == got for found in listed]
    # One more than a page of a hundred.
    p.put(1, thread="long")
    p.write(1, [("x", 1)], thread="long")
    for number in range(2, 102):
        p.put(number, thread="long")
    return same, p.tuples(p.config("long"))[-1].pending_writes


@scene("pending-writes/accepts-task-path")
def signatures(p: Probe) -> Any:
    methods = (p.saver.put_writes, p.saver.aput_writes)
    return ["task_path" in inspect.signature(method).parameters for method in methods]


@scene("pending-writes/namespace-defaults")
def writes_without_namespace(p: Probe) -> Any:
    p.put(1)
    return p.write(1, [("x", 1)], ns=None), p.pending("a", "", 1)


@scene("channels/unchanged-carried")
def channels_not_updated(p: Probe) -> Any:
    p.put(1, values={"x": 1, "y": 1})
    p.put(2, parent=1, values={"x": 2}, updated_channels=["x"])
    p.put(3, parent=2, values={"x": 3}, updated_channels=["x"])
    return [p.held("a", "", number) for number in (1, 2, 3)]


@scene("channels/history-immutable")
def a_fork_beside(p: Probe) -> Any:
    p.put(1, values={"x": 1, "y": [1]}, versions_seen={"n": {}})
    p.put(2, parent=1, values={"x": 2, "y": [2]})
    p.put(3, parent=1, values={"x": 3, "y": [3]})
    # Two days later.
    p.put(4, parent=3, values={"x": 4}, ts="2026-11-23T20:26:04.123456+00:00")
    seen = p.attempt(lambda: p.tuple("a", "", 1).checkpoint["versions_seen"])
    return [p.held("a", "", number) for number in (1, 2, 3, 4)], seen


@scene("channels/copy-fork")
def a_copy(p: Probe) -> Any:
    p.put(1, values={"x": 1, "y": 1})
    p.put(2, parent=1, values={"x": 2})
    p.values["a", "", 0], p.versions["a", "", 0] = p.values["a", "", 2], p.versions["a", "", 2]
    checkpoint, _ = p.checkpoint(("a", "", 3), 0)
    p.attempt(lambda: p.call("put", p.config("a", "", 1), checkpoint, {"source": "fork"}, {}))
    return p.held("a", "", 3)


@scene("channels/dropped-stays-dropped")
def a_dropped_channel(p: Probe) -> Any:
    p.put(1, values={"x": 1, "y": 1})
    p.put(2, parent=1, values={"x": 2}, drop=["y"])
    p.put(3, parent=2, values={"x": 3})
    p.put(5, parent=1, values={"x": 2}, channel_versions={"x": p.versions["a", "", 1]["x"]})
    return [p.held("a", "", number) for number in (2, 3)]


@scene("channels/versions-of-callers")
def versions_of_the_caller(p: Probe) -> Any:
    """Two forks of a checkpoint, with versions that the saver has not made."""
    one, fork, other = (f"{'0' * 31}{tail}" for tail in ("1.0.25", "2.0.75", "2.0.5"))
    for number, parent, x in ((1, None, one), (2, 1, fork), (3, 1, other)):
        values, versions = {"x": number, "y": [1]}, {"x": x, "y": one}
        checkpoint, _ = p.checkpoint(
            ("a", "", number), channel_values=values, channel_versions=versions
        )
        new = versions if parent is None else {"x": x}
        at = p.config("a", "", *([] if parent is None else [parent]))
        p.attempt(partial(p.call, "put", at, checkpoint, {"source": "loop"}, new))
    shown = [p.attempt(partial(p.tuple, "a", "", number)) for number in (1, 2, 3)]
    return [getattr(found, "checkpoint", found) for found in shown]


@scene("channels/versions-increase")
def versions_grow(p: Probe) -> Any:
    # Up to a number of five digits, while the clock runs backwards.
    def grown() -> Any:
        versions: list[Any] = []
        for _ in range(10_000):
            versions.append(p.saver.get_next_version(versions[-1] if versions else None, None))
            if len(versions) == 6:
                p.reopen()
        return [versions[0] > type(versions[0])(), *(a < b for a, b in pairwise(versions))]

    with mock.patch("time.time", side_effect=count(2_000_000_000, -1)):
        return p.attempt(grown)
