"""`list`: what it finds, in which order, and that it holds nothing between two items."""

import sqlite3
import threading
from itertools import islice
from typing import Any

import pytest

from saverproof_savers import SqliteSaver
from tests.savers.helpers import at, got, number_of, numbers, put, values_of


@pytest.fixture
def history(any_saver: SqliteSaver) -> SqliteSaver:
    """Checkpoints 1 to 9 in the root, put out of order, and 10 to 12 in a namespace."""
    for number in (4, 1, 9, 3, 2, 8, 5, 7, 6):
        put(any_saver, number, {"n": number}, metadata={"step": number, "even": number % 2 == 0})
    for number in (11, 10, 12):
        put(any_saver, number, {"n": number}, namespace="node:task", metadata={"step": 1})
    put(any_saver, 5, thread_id="other", metadata={"step": 5})
    return any_saver


def test_newest_comes_first(history: SqliteSaver) -> None:
    assert numbers(history, at()) == [9, 8, 7, 6, 5, 4, 3, 2, 1]
    assert number_of(got(history)) == 9


def test_the_config_narrows(history: SqliteSaver) -> None:
    assert numbers(history, at(namespace="node:task")) == [12, 11, 10]
    assert numbers(history, at(namespace=None)) == [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
    assert numbers(history, at(number=3)) == [3]
    assert numbers(history, at("nobody", namespace=None)) == []
    everything = [number_of(each) for each in history.list(None)]
    assert everything == [12, 11, 10, 9, 8, 7, 6, 5, 5, 4, 3, 2, 1]


@pytest.mark.parametrize("namespace", ["", "node:task", "unknown"])
def test_before_is_exclusive_and_knows_no_namespace(history: SqliteSaver, namespace: str) -> None:
    assert numbers(history, at(), before=at(number=4, namespace=namespace)) == [3, 2, 1]
    assert numbers(history, at(), before=at("nobody", 100)) == numbers(history, at())


@pytest.mark.parametrize("limit", [0, 1, 3, 9, 10, 100])
def test_a_limit_takes_the_first_ones(history: SqliteSaver, limit: int) -> None:
    assert numbers(history, at(), limit=limit) == numbers(history, at())[:limit]
    assert len(list(history.list(None, limit=limit))) == min(limit, 13)


def test_the_limit_counts_after_the_filter(history: SqliteSaver) -> None:
    assert numbers(history, at(), filter={"even": True}, limit=2) == [8, 6]
    assert numbers(history, at(), filter={"even": True}, limit=2, before=at(number=6)) == [4, 2]


def test_pages_tile_a_history(history: SqliteSaver) -> None:
    pages: list[int] = []
    before = None
    while page := list(history.list(at(), before=before, limit=2)):
        pages += map(number_of, page)
        before = page[-1].config
    assert pages == numbers(history, at())


def test_a_long_history_is_listed_whole(saver: SqliteSaver) -> None:
    for number in range(1, 151):
        namespace = f"node:{number % 3}" if number % 2 else ""
        put(saver, number, namespace=namespace, metadata={"third": number % 3 == 0})
    assert numbers(saver) == list(range(150, 0, -1))
    assert numbers(saver, filter={"third": True}) == list(range(150, 0, -3))
    assert numbers(saver, filter={"third": True}, limit=40) == list(range(150, 30, -3))


METADATA: list[dict[str, Any]] = [
    {"k": True},
    {"k": 1},
    {"k": 1.0},
    {"k": "1"},
    {"k": None},
    {},
    {"k": {"a": [1, {"b": None}]}},
    {"k": [1, True]},
    {"k": "x' OR 1=1 --"},
    {"k": 2**63},
    {"k": {1: "integer key"}},
    {"k.dotted": 1},
    {'k"quoted\\': 1},
]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"k": True}, [1]),
        ({"k": False}, []),
        ({"k": 1}, [2, 3]),
        ({"k": 1.0}, [2, 3]),
        ({"k": "1"}, [4]),
        ({"k": None}, [5, 6, 12, 13]),
        ({"k": {"a": [1, {"b": None}]}}, [7]),
        ({"k": {"a": (1, {"b": None})}}, [7]),
        ({"k": {"a": [1]}}, []),
        ({"k": [1, True]}, [8]),
        ({"k": [1, 1]}, []),
        ({"k": "x' OR 1=1 --"}, [9]),
        ({"k": 2**63}, [10]),
        ({"k": {1: "integer key"}}, [11]),
        ({"k.dotted": 1}, [12]),
        ({'k"quoted\\': 1}, [13]),
        ({"k') OR 1=1 --": 1}, []),
        ({"k": 1, "missing": None}, [2, 3]),
        ({"k": 1, "missing": 1}, []),
    ],
)
def test_a_filter_is_equality_on_every_key(
    any_saver: SqliteSaver, wanted: dict[str, Any], found: list[int]
) -> None:
    for number, metadata in enumerate(METADATA, start=1):
        put(any_saver, number, metadata=metadata)
    assert sorted(numbers(any_saver, filter=wanted)) == found


def test_a_text_that_json_cannot_hold_is_found_by_its_text(saver: SqliteSaver) -> None:
    class Source(str):
        pass

    put(saver, 1, metadata={"source": Source("loop")})
    assert numbers(saver, filter={"source": "loop"}) == [1]


def test_any_operation_may_be_called_between_two_items(history: SqliteSaver) -> None:
    seen = []
    for each in history.list(at()):
        seen.append(number_of(each))
        put(history, 20 + seen[-1])
        history.put_writes(at(number=seen[-1]), [("a", 1)], "task")
        assert values_of(history, seen[-1]) == {"n": seen[-1]}
        assert len(list(history.list(at(), limit=1))) == 1
        history.delete_thread("other")
    assert seen == [9, 8, 7, 6, 5, 4, 3, 2, 1]


def test_what_is_put_while_listing_disturbs_no_order(saver: SqliteSaver) -> None:
    for number in range(2, 81, 2):
        put(saver, number)
    listed = saver.list(at())
    seen = [number_of(next(listed))]
    for number in range(1, 81, 2):
        put(saver, number)
    seen += map(number_of, listed)
    assert seen == sorted(set(seen), reverse=True)
    assert set(seen) >= set(range(2, 81, 2))


def test_what_is_deleted_while_listing_is_left_out(saver: SqliteSaver) -> None:
    for number in range(1, 101):
        put(saver, number)
    listed = saver.list(at())
    first = [number_of(each) for each in islice(listed, 3)]
    saver.delete_thread("thread")
    rest = [number_of(each) for each in listed]
    assert first == [100, 99, 98]
    assert len(rest) < 97


def test_a_paused_listing_blocks_no_writer(saver: SqliteSaver) -> None:
    for number in range(1, 101):
        put(saver, number)
    listed = saver.list(at())
    next(listed)
    assert saver.path is not None
    other = sqlite3.connect(saver.path, timeout=0)
    other.execute("BEGIN EXCLUSIVE")
    other.execute("DELETE FROM checkpoints WHERE thread_id = 'nobody'")
    other.commit()
    assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    other.close()
    thread = threading.Thread(target=put, args=(saver, 101))
    thread.start()
    thread.join(timeout=30)
    assert not thread.is_alive()
    assert len(list(listed)) == 99


def test_an_abandoned_listing_leaves_the_saver_usable(history: SqliteSaver) -> None:
    for _ in history.list(None):
        break
    put(history, 30)
    assert numbers(history, at())[0] == 30
