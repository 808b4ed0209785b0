"""Scenes of the families interface, ordering and identity."""

from __future__ import annotations

import copy
import threading
from typing import Any

from tests.wrong_savers.scenes import scene
from tests.wrong_savers.scenes.probe import Probe

YESTERDAY = "2026-11-20T20:26:00.123456+00:00"


def forked(p: Probe) -> None:
    """Two threads; one has a fork and arrived out of order, with a re-put in it.

    Its greatest id has the earliest time.
    """
    p.put(1, values={"x": 1})
    fork = {"step": 2, "kind": "fork"}
    p.put(4, parent=1, values={"x": 4}, metadata=fork, ts=YESTERDAY)
    p.put(2, parent=1, values={"x": 2}, metadata={"step": 5})
    p.put(3, parent=2, values={"x": 3}, metadata={"step": 6, "kind": "fork"})
    p.put(1, values={"x": 1})
    p.put(2, thread="b", values={"x": 1})
    p.put(5, thread="b", parent=2, values={"x": 1})


@scene("interface/complete")
def every_base_operation(p: Probe) -> Any:
    answers = [p.put(1), p.write(1, [("x", 1)]), p.tuples(p.config()), p.tuple(), p.delete()]
    return [str(answer).startswith("raised") for answer in answers]


@scene("ordering/list-newest-first")
def list_of_a_forked_thread(p: Probe) -> Any:
    forked(p)
    return p.ids(p.config()), p.ids(p.config("b")), p.ids(p.config(), filter={"kind": "fork"})


@scene("ordering/latest-is-greatest-id")
def latest_of_a_forked_thread(p: Probe) -> Any:
    forked(p)
    p.put(9, thread="c", values={"x": 1})
    p.put(3, thread="c", values={"x": 1})
    p.put(4, thread="d", values={"x": 1})
    p.put(7, thread="d", values={"x": 1})
    p.put(4, thread="d", values={"x": 1})
    # The newest goes, which was no child of the one before it.
    p.put(1, thread="e")
    p.put(2, thread="e", parent=1)
    p.put(3, thread="e", parent=1, metadata={"run_id": "r1"})
    p.attempt(lambda: p.call("delete_for_runs", ["r1"]))
    return [p.id_of(thread) for thread in "abcde"]


@scene("ordering/before-is-exclusive")
def list_below_bounds(p: Probe) -> Any:
    forked(p)
    p.put(3, ns="n", values={"x": 1})
    bounds = [p.config("a", "", n) for n in (0, 1, 2, 3, 4, 9)] + [p.config("a", "n", 3)]
    bounds += [{"configurable": {"checkpoint_id": p.id(3)}}, p.config("b", "", 5)]
    beside = p.ids(p.config(), before=bounds[3], filter={"source": "loop"})
    anywhere = p.ids(p.config("a", None), before=bounds[5])
    found = [sorted(p.ids(p.config(), before=bound)) for bound in bounds]
    return found, sorted(beside), sorted(anywhere)


@scene("ordering/limit-zero")
def a_limit_of_nothing(p: Probe) -> Any:
    p.put(1)
    return p.attempt(lambda: p.ids(p.config(), limit=0))


@scene("ordering/limit-is-a-prefix")
def list_with_limits(p: Probe) -> Any:
    forked(p)
    p.put(6, ns="n", values={"x": 1})
    p.put(7, ns="n", parent=6, values={"x": 1})
    below = p.config("a", "", 4)
    filters = ({"kind": "fork"}, {"step": 5})
    filtered = [p.ids(p.config(), filter=f, limit=n) for f in filters for n in (0, 1, 2, 3)]
    paged = [p.ids(p.config(), before=below, limit=n) for n in (0, 1, 2, 3)]
    counts = [len(p.ids(p.config("a", None), limit=n)) for n in (0, 1, 2, 3)]
    p.put(8, thread="b")
    counts.append(len(p.ids(None, limit=1)))
    # One more than a page of a hundred.
    for number in range(1, 102):
        p.put(number, thread="long")
    counts.append(len(p.ids(p.config("long"), limit=101)))
    return [p.ids(p.config(), limit=n) for n in (0, 1, 2, 3, 9)], filtered, paged, counts


@scene("ordering/pages-tile")
def walk_pages(p: Probe) -> Any:
    forked(p)
    p.put(5, parent=4, values={"x": 5})
    visited: list[int] = []
    page = p.ids(p.config(), limit=2)
    while page and len(visited) < 20:
        visited += page
        page = p.ids(p.config(), before=p.config("a", "", page[-1]), limit=2)
    return visited


@scene("ordering/all-threads-newest-first")
def list_all_threads(p: Probe) -> Any:
    for number, thread in enumerate("abab", 1):
        p.put(number, thread=thread, values={"x": number})
    return p.ids(None)


@scene("ordering/writes-sorted")
def writes_of_many_tasks(p: Probe) -> Any:
    p.put(1)
    batch = [("x", n) for n in range(12)]
    p.write(1, [("x", "z")], "t3", "~pull, b")
    p.write(1, batch, "t2", "~pull, B")
    p.write(1, [("x", "u"), ("__error__", "bad")], "t1", "~pull, b")
    p.write(1, [("x", "n")], "t4", "~9, c")
    p.write(1, [("x", "m")], "t5", "~10, c")
    p.write(1, [("x", "q")], "t0", "")
    p.write(1, [("x", "p")], "t6", "~pull b")
    p.write(1, [("x", "o"), ("x", "oo")], "t7", "~pull; a")
    for task, end in (("t8", 2), ("t9", 1)):
        p.write(1, [("x", end)], task, f"~push, {'~push, ' * 9}{end}")
    p.write(1, [("x", "late")], "t10", "~~0000000001~pull, a")
    return p.pending("a", "", 1)


@scene("identity/put-returns-address")
def answers_of_put(p: Probe) -> Any:
    answers = [p.put(1), p.put(2, parent=1), p.put(3, ns="n:1")]
    keys = ("thread_id", "checkpoint_ns", "checkpoint_id")
    addresses = [
        [a["configurable"].get(key) for key in keys] if isinstance(a, dict) else a for a in answers
    ]
    return addresses, [
        p.attempt(lambda a=a: p.call("get_tuple", a).checkpoint["id"]) for a in answers
    ]


@scene("identity/tuple-addresses-itself")
def addresses_of_tuples(p: Probe) -> Any:
    p.put(1)
    p.put(2, parent=1)
    p.put(3, ns="n:1")
    found = [p.tuple(), p.tuple("a", "n:1"), p.tuple("a", "", 1)]
    listed = [*p.tuples(p.config("a", None)), *p.tuples(None)]
    addresses = [item.config["configurable"] for item in listed]
    return [item.config["configurable"] for item in found], sorted(addresses, key=str)


@scene("identity/parent")
def parents(p: Probe) -> Any:
    p.put(1)
    p.put(2, parent=1)
    p.put(4, parent=1)
    p.put(3, parent=2)
    p.put(2, parent=1)
    p.put(6, parent=5)
    p.put(5, ns="n:1")
    p.put(7, ns="n:1", parent=5)
    p.put(9)
    p.put(8, parent=9)
    numbers = [("", n) for n in (1, 2, 3, 4, 6, 8)] + [("n:1", 5), ("n:1", 7)]
    got = [p.tuple("a", ns, n).parent_config for ns, n in numbers]
    listed = [item.parent_config for item in p.tuples(p.config("a", None))]
    return got, sorted(listed, key=str)


@scene("identity/unknown-is-none")
def unknown_addresses(p: Probe) -> Any:
    p.put(1)
    asked: list[Any] = [("z",), ("a", "n"), ("a", "", 9), ("z", "n", 1), ("a", "n", 1)]
    listed = [p.ids(p.config(*a)) for a in asked] + [p.ids(p.config("z", None))]
    return [p.id_of(*address) for address in asked], listed


@scene("identity/none-id-is-latest")
def ids_that_mean_none(p: Probe) -> Any:
    p.put(1)
    p.put(2, parent=1)
    got = [p.id_of("a", "", nothing) for nothing in (None, "")]
    listed = [p.ids(p.config("a", "", nothing)) for nothing in (None, "")]
    roots = []
    for number, nothing in enumerate((None, ""), 3):
        p.put(number, config=p.config("a", "", nothing))
        roots.append(p.tuple("a", "", number).parent_config)
    return got, listed, roots


@scene("identity/get-defaults-to-root")
def get_without_namespace(p: Probe) -> Any:
    p.put(1)
    p.put(2, ns="n:1")
    return p.id_of("a", None), p.id_of("a", None, 1), p.id_of("a", None, 2)


@scene("identity/empty-id")
def an_empty_id(p: Probe) -> Any:
    p.put(1)
    p.attempt(lambda: p.put(2, thread="b", config=p.config("b", "", "")))
    return p.attempt(lambda: p.id_of("a", "", "")), p.id_of("b")


@scene("identity/list-without-namespace")
def a_listing_of_all_namespaces(p: Probe) -> Any:
    p.put(1)
    p.put(2, ns="n:1")
    return p.attempt(lambda: sorted(p.ids(p.config("a", None))))


@scene("identity/list-selects")
def narrowed_lists(p: Probe) -> Any:
    # One more than a page of a thousand.
    for number in range(1, 1002):
        p.put(number)
    p.put(13, ns="n:1")
    # Three threads with the same ids: pages of ten end between equal ids.
    for number in range(1, 13):
        p.put(number, thread="b")
        p.put(number, thread="c")
    configs = [None, p.config("a", None), p.config(), p.config("a", "n:1"), p.config("a", "", 3)]
    found = [sorted(p.ids(c)) for c in [*configs, p.config("a", None, 13)]]
    for number in range(101):
        p.put(number, thread=f"t{number}")
    return found, p.ids(p.config("b"), filter={}), len(p.ids(None))


class Opaque:
    """What the loop puts into configs: cannot be compared, hashed, copied or serialized."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self) -> None:
        self.lock = threading.Lock()


@scene("identity/loop-configs")
def configs_of_the_loop(p: Probe) -> Any:
    private: dict[str, Any] = {"__pregel_scratchpad": Opaque(), "__pregel_send": lambda: None}
    loop = {"checkpoint_map": {"": p.id(1)}, **private}
    more = {"tags": ["t"], "metadata": {"k": Opaque()}, "callbacks": Opaque()}

    def config(*address: Any) -> Any:
        return {**p.config(*address, **loop), **more}

    checkpoint, new = p.checkpoint(("a", "", 1), None, {"x": 1})
    answers = [
        p.attempt(lambda: p.call("put", config(), checkpoint, {"step": 1}, new)) is None,
        p.attempt(lambda: p.call("put_writes", config("a", "", 1), [("x", 1)], "t", "")),
        p.number(p.attempt(lambda: p.call("get_tuple", config("a", "", 1)))),
        p.number(p.attempt(lambda: p.call("get_tuple", config()))),
        p.ids(config(), filter=None, before=None, limit=None),
        p.ids(config()),
    ]
    return answers, p.ids(p.config())


@scene("identity/inputs-untouched")
def inputs_after_calls(p: Probe) -> Any:
    given: list[Any] = []

    def kept(value: Any) -> Any:
        given.append(value)
        return value

    config = kept({**p.config("a", "", __private="p"), "metadata": {"run": "r"}})
    checkpoint, new = p.checkpoint(("a", "", 1), None, {"x": [1]}, versions_seen={"n": {}})
    p.attempt(lambda: p.call("put", config, kept(checkpoint), kept({"step": 1}), kept(new)))
    writes = kept([("x", [1]), ("y", 2)])
    p.attempt(lambda: p.call("put_writes", kept(p.config("a", "", 1)), writes, "t", ""))
    asked = kept(p.config("a", None, __private="p"))
    p.attempt(lambda: p.call("get_tuple", asked))
    narrowing = kept({"step": 1}), kept(p.config("a", "", 9))
    p.tuples(kept(p.config("a", None)), filter=narrowing[0], before=narrowing[1], limit=3)
    runs, threads = kept(["r8", "r9"]), kept(["c", "d"])
    p.attempt(lambda: p.call("delete_for_runs", runs))
    p.attempt(lambda: p.call("prune", threads, strategy="keep_latest"))
    return (
        [set(item) if isinstance(item, dict) else item for item in given],
        copy.deepcopy([item for item in given if item is not new and item is not checkpoint]),
        checkpoint.get("versions_seen"),
    )


@scene("identity/snapshots")
def objects_changed_afterwards(p: Probe) -> Any:
    value: dict[str, list[Any]] = {"k": [1]}
    written: dict[str, list[Any]] = {"w": [1]}
    checkpoint, new = p.checkpoint(
        ("a", "", 1), None, {"x": value}, versions_seen={"n": {"x": "1"}}, updated_channels=["x"]
    )
    metadata: dict[str, Any] = {"step": 1, "parents": {"": "p"}}
    p.call("put", p.config(), checkpoint, metadata, new)
    p.write(1, [("x", written)])
    value["k"].append("after put")
    written["w"].append("after put")
    metadata["parents"]["n"] = "after put"
    checkpoint["versions_seen"]["n"]["y"] = "after put"
    seen = copy.deepcopy(plain(p.tuple()))
    found = p.tuple()
    found.checkpoint["channel_values"]["x"]["k"].append("after get")
    found.checkpoint["channel_values"]["z"] = "after get"
    found.checkpoint["versions_seen"]["n"]["z"] = "after get"
    found.metadata["parents"]["n"] = "after get"
    found.pending_writes[0][2]["w"].append("after get")
    found.config["configurable"]["checkpoint_id"] = "after get"
    return seen, plain(p.tuple()), [plain(item) for item in p.tuples(p.config())]


def plain(found: Any) -> Any:
    """Everything in a tuple that a caller could change."""
    checkpoint = {k: v for k, v in found.checkpoint.items() if k != "channel_versions"}
    return checkpoint, found.metadata, found.pending_writes, found.config["configurable"]
