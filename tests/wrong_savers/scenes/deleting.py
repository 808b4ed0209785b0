"""Scenes of the families deletion and delta-history."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from langgraph.checkpoint.serde.types import _DeltaSnapshot

from saverproof.process.counted_lines import LineCount, TooManyLinesError
from tests.wrong_savers.scenes import scene
from tests.wrong_savers.scenes.probe import Probe
from tests.wrong_savers.scenes.remains import early_beside, selected_again
from tests.wrong_savers.scenes.threads import everything, two_threads


@scene("deletion/thread-all")
def a_deleted_thread(p: Probe) -> Any:
    two_threads(p)
    for number in range(1, 102):
        p.put(number, thread="many", ns=f"n{number}")
    p.delete("many")
    many = p.places(p.config("many", None))
    answers = [many, p.delete("z"), p.id_of(), p.id_of("a", "", 1), p.delete("a")]
    left = p.places(p.config("a", None)), p.id_of(), p.id_of("a", "n:1"), p.places(None)
    left = *left, p.id_of("a", "", 1)
    return answers, left, everything(p, "b", "ab"), early_beside(p, p.delete)


@scene("deletion/no-ghosts")
def the_same_ids_after_a_delete(p: Probe) -> Any:
    two_threads(p)
    p.delete("a")
    for number, ns in ((1, ""), (3, ""), (1, "n:1")):
        p.put(number, ns=ns, values={"z": 1})
    for values in ({"x": 1}, {"x": 2}, {"x": 2}):
        p.delete("c")
        p.versions.clear()
        p.put(1, thread="c", values=values)
    p.put(1, thread="d")
    p.write(1, [("x", n) for n in range(101)], thread="d")
    p.delete("d")
    p.put(1, thread="d")
    p.write(1, [("x", 1)], thread="e")
    p.delete("e")
    p.put(1, thread="e")
    return everything(p, "a", "c", "d", "e"), selected_again(p, p.delete)


@scene("deletion/copy-by-putting")
def a_thread_put_again(p: Probe) -> Any:
    """A thread of three checkpoints, put into another thread with all versions as new ones."""
    p.put(1, thread="t", values={"x": [1], "y": 1})
    p.put(2, thread="t", parent=1, values={"y": 2})
    p.write(2, [("y", 1), ("x", 2)], thread="t")
    p.put(3, thread="t", parent=1, values={"x": [3]})
    listed = p.attempt(lambda: p.call("list", p.config("t")))

    def put_again(found: Any) -> Any:
        parent = found.parent_config and found.parent_config["configurable"]["checkpoint_id"]
        at = p.config("t2", "", *([parent] if parent else []))
        versions = found.checkpoint["channel_versions"]
        stored = p.call("put", at, found.checkpoint, found.metadata, versions)
        for task, channel, value in found.pending_writes[:1]:
            p.call("put_writes", stored, [(channel, value)], task)

    answers = [
        p.attempt(partial(put_again, found))
        for found in sorted(listed, key=lambda found: str(found.checkpoint["id"]))
        if isinstance(listed, list)
    ]
    return answers, everything(p, "t", "t2")


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
    for number in range(1, 103):
        p.put(number, thread="long", metadata={"run_id": "r4"})
    delete_runs(p, "r4")
    left += (p.places(p.config("long")),)
    # Names that a pattern takes for one another, and one that only the config has.
    p.put(1, thread="like", metadata={"run_id": "r15"})
    p.put(2, thread="like", parent=1, config={"metadata": {"run_id": "r6"}})
    answers += [delete_runs(p, "r_5"), p.ids(p.config("like"))]
    answers += [delete_runs(p, "r6"), p.ids(p.config("like"))]
    p.put(1, ns="n:1", values={"x": 9})
    runs = [f"run {number}" for number in range(1, 102)]
    for number, run in enumerate(runs, 1):
        p.put(number, thread="runs", metadata={"run_id": run})
    answers += [delete_runs(p, *runs), p.ids(p.config("runs"))]
    deleting = partial(delete_runs, p)
    remains = early_beside(p, deleting), selected_again(p, deleting)
    return answers, left, p.pending("a", "n:1", 1), runs_that_are_told_apart(p), remains


def runs_that_are_told_apart(p: Probe) -> Any:
    """Runs alike at their beginning, named elsewhere, of copies, and of what was put again."""
    alike = [f"{'r' * 40}{end}" for end in "12"]
    p.put(1, thread="told", metadata={"run_id": alike[0]}, values={"x": 1})
    p.put(2, thread="told", parent=1, metadata={"run_id": alike[1], "caused_by": "r7"})
    p.put(3, thread="told", metadata={"run_id": "r8"})
    p.put(3, thread="told", metadata={"run_id": "r9"})
    p.attempt(lambda: p.call("copy_thread", "told", "told again"))
    p.values["told again", "", 1] = p.values["told", "", 1]
    p.versions["told again", "", 1] = p.versions["told", "", 1]
    p.put(4, thread="told again", parent=1, values={"y": 1})
    found = []
    for run in ("r7", "r8", *alike):
        delete_runs(p, run)
        found += [p.ids(p.config(thread)) for thread in ("told", "told again")]
    p.put(1, thread="runless")
    found += [delete_runs(p, "", "None"), p.ids(p.config("runless"))]
    for number in range(1, 103):
        p.put(number, thread="many", ns=f"n{number}", metadata={"run_id": f"many {number}"})
    delete_runs(p, "many 102")
    return found, p.held("told again", "", 4), p.places(p.config("many", None))


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
    for thread in ("c", "d"):
        p.put(1, thread=thread)
    answers += [prune(p, "c", "d", strategy="delete"), p.id_of("d")]
    p.put(1, thread="e")
    answers += [p.attempt(lambda: p.call("prune", ["e"])), p.id_of("e")]
    # What is swept up of the pruned thread itself is left open.
    beside = early_beside(p, partial(prune, p))[1]
    return answers, shown, p.pending("a", "n:1"), everything(p, "ab"), p.held("a", "", 4), beside


@scene("deletion/prune-drops-older")
def pruned_of_the_older(p: Probe) -> Any:
    two_threads(p)
    p.put(2, ns="n:1", values={"x": 2}, parent=1)
    prune(p, "a")
    prune(p, *(f"t{number}" for number in range(100)), "b")
    for number in range(1, 102):
        p.put(number, thread="c", ns=f"n{number}")
    p.put(102, thread="c", ns="n101", parent=101)
    prune(p, "c")
    places = [p.places(p.config(thread, None)) for thread in "abc"]
    p.put(1, thread="d")
    p.write(1, [("x", 1)], "t1", thread="d")
    p.put(2, thread="d", parent=1)
    prune(p, "d")
    p.put(1, thread="d")
    return places, p.pending("d", "", 1)


def delta_thread(p: Probe) -> None:
    """Two delta channels: x has a snapshot at 1 and y at 3; the path is 1, 2, 3, 4, 5."""
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
    deep_delta_thread(p)
    asked = ((10, ("x", "y"), ""), (102, ("x",), "deep"))
    before = [p.history(*one) for one in asked]
    answer = prune(p, "a")
    raised = [n for n in (1, 2, 3, 4, 5, 10) if isinstance(p.tuple("a", "", n), str)]
    same = [found == p.history(*one) for found, one in zip(before, asked, strict=True)]
    return answer, raised, same


@scene("deletion/runs-keep-delta-chain")
def deleted_runs_of_delta_threads(p: Probe) -> Any:
    """Two branches of a run are rebuilt from a run that is deleted, in two namespaces."""
    counted = {"counters_since_delta_snapshot": {"x": [1, 1]}}
    for ns in ("", "n:1"):
        p.put(1, ns=ns, values={"x": _DeltaSnapshot(["s"])}, metadata={"run_id": "r1"})
        for number, parent, run in ((2, 1, "r1"), (3, 2, "r1"), (4, 3, "r2"), (5, 1, "r2")):
            metadata = {**counted, "run_id": run}
            drop = ["x"] if parent == 1 else []
            p.put(number, ns=ns, parent=parent, values={"z": number}, drop=drop, metadata=metadata)
            p.write(number, [("x", number)], "t1", ns=ns)
    asked = [(number, ("x",), ns) for ns in ("", "n:1") for number in (4, 5)]
    before = [p.history(*one) for one in asked]
    answer = delete_runs(p, "r1")
    return answer, [found == p.history(*one) for found, one in zip(before, asked, strict=True)]


def copied(p: Probe) -> Any:
    return p.attempt(lambda: p.call("copy_thread", "a", "copy"))


@scene("deletion/copy-complete")
def a_copied_thread(p: Probe) -> Any:
    two_threads(p)
    p.write(2, [("x", n) for n in range(101)], "t7")
    p.write(2, [("__interrupt__", "why")], "t8")
    p.write(2, [("__resume__", "for the run")], "00000000-0000-0000-0000-000000000000")
    p.write(2, [("x", "last by its path")], "t0", "~z")
    answer = p.id_of("copy"), copied(p), p.id_of("copy")
    p.write(2, [("x", "again")], "t7", thread="copy")
    before = everything(p, "copy", "a")
    p.put(3, thread="copy", values={"x": 1})
    p.delete("a")
    p.put(7, values={"x": 2})
    later = p.attempt(lambda: p.call("copy_thread", "a", "later"))
    early, selected = p.pending("copy", "", 3), p.ids(p.config("copy", None), filter={"step": 1})
    p.delete("copy")
    again = p.attempt(lambda: p.call("copy_thread", "b", "copy")), everything(p, "copy")
    return answer, before, early, later, everything(p, "later"), selected, again


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


_COUNTED = {"counters_since_delta_snapshot": {"x": [1, 1]}}


def deep_delta_thread(p: Probe) -> None:
    """A namespace whose only snapshot is the 101st ancestor of 102."""
    p.put(1, ns="deep", values={"x": _DeltaSnapshot(["s"])})
    p.put(2, ns="deep", parent=1, values={"z": 2}, drop=["x"])
    for number in range(3, 103):
        p.put(number, ns="deep", parent=number - 1, values={"z": number}, metadata=_COUNTED)
    p.write(1, [("x", 1)], ns="deep")


@scene("delta-history/matches-walk")
def histories(p: Probe) -> Any:
    delta_thread(p)
    deep_delta_thread(p)
    p.put(20, values={"z": 0})
    p.write(20, [("q", 1)])
    p.put(11, parent=20, values={"z": 1})
    p.put(12, parent=11, values={"z": 2})
    p.put(21, parent=5, values={"z": 3})
    p.put(30, parent=5, values={"x": ["plain"], "z": 4})
    p.put(31, parent=30, values={"z": 5}, drop=["x"])
    asked = [(n, ("x", "y", "q")) for n in (1, 2, 4, 5, 9, 12, 31, None)]
    found = [p.history(number, channels) for number, channels in asked]
    found += [p.history(5, ("x",)), p.history(102, ns="deep"), p.history(5, ())]
    return found, histories_around_changes(p)


def histories_around_changes(p: Probe) -> Any:
    """Late writes, a copy, a removal, another parent, and a target far below the newest."""
    p.write(4, [("x", "late")], "a", "~b")
    p.write(4, [("x", "later")], "b", "~a")
    p.write(4, [("x", 1), ("x", 2)], "c", "~c")
    p.write(4, [("x", 3), ("x", 4)], "d", "~c")
    found = [p.history(5)]
    copied(p)
    found.append(p.history(5, thread="copy"))
    p.put(1, thread="r", values={"x": 1}, metadata={"run_id": "r1"})
    p.put(2, thread="r", parent=1, drop=["x"])
    found += [p.history(2, thread="r"), delete_runs(p, "r1"), p.history(2, thread="r")]
    p.delete()
    p.put(5, values={"z": 1})
    found.append(p.history(5))
    p.put(4, values={"z": 1})
    p.write(4, [("x", 1)])
    found.append(p.history(5))
    for number in range(6, 1_031):
        p.put(number)
    p.put(3, parent=4)
    return found, p.history(3)


@scene("delta-history/ends")
def in_a_loop_of_parents(p: Probe) -> Any:
    """Whether a history and a prune end where a checkpoint is put again under its descendant."""
    for number in (1, 2, 3):
        p.put(number, parent=number - 1 or None, values={"z": number}, metadata=_COUNTED)
    p.put(1, parent=3, values={"z": 1}, metadata=_COUNTED)
    return [_ends(lambda: p.history(3)), _ends(lambda: p.call("prune", ["a"]))]


def _ends(action: Callable[[], Any]) -> bool:
    """Whether an action takes fewer than a million lines of Python."""
    count = LineCount()
    count.limit = 1_000_000
    try:
        with count.counting():
            action()
    except TooManyLinesError:
        return False
    return True
