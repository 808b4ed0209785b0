"""Each async method answers as its sync twin does, whichever of them wrote."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from saverproof_savers import SnapshotSqliteSaver, SqliteSaver
from tests.savers.faulty import Plan
from tests.savers.helpers import at, make, number_of, numbers, put, values_of, writes_of


def test_every_operation_has_an_async_twin(any_saver: SqliteSaver) -> None:
    saver = any_saver

    async def main() -> None:
        await saver.asetup()
        for number in (1, 2, 3):
            parent = number - 1 or None
            address = await saver.aput(
                at(number=parent),
                make(number, {"a": number}),
                {"step": number, "run_id": f"r{number}"},
                {"a": number},
            )
            assert address == at(number=number)
        await saver.aput_writes(at(number=3), [("a", 1)], "task", "path")
        await saver.aput_writes(at(number=3), [], "task")
        assert writes_of(saver, 3) == [("a", 1)]
        assert await saver.aget_tuple(at()) == saver.get_tuple(at())
        assert await saver.aget(at()) == saver.get(at())
        assert await saver.aget_tuple(at("nobody")) is None
        for criteria in ({}, {"limit": 2}, {"filter": {"step": 2}}, {"before": at(number=3)}):
            options: dict[str, Any] = dict(criteria)
            found = [each async for each in saver.alist(at(), **options)]
            assert found == list(saver.list(at(), **options))
        async for each in saver.alist(None):
            assert number_of(each) == 3
            break
        await saver.acopy_thread("thread", "copy")
        assert numbers(saver, at("copy")) == [3, 2, 1]
        await saver.adelete_for_runs(["r1"])
        assert numbers(saver, at("copy")) == [3, 2]
        await saver.aprune(["copy"])
        assert numbers(saver, at("copy")) == [3]
        await saver.adelete_thread("copy")
        assert numbers(saver, at("copy")) == []
        with pytest.raises(ValueError, match="found strategy 'odd'"):
            await saver.aprune(["thread"], strategy="odd")

    asyncio.run(main())


def test_an_operation_may_be_awaited_between_two_items(any_saver: SqliteSaver) -> None:
    for number in range(1, 50):
        put(any_saver, number)

    async def main() -> list[int]:
        seen = []
        async for each in any_saver.alist(at()):
            seen.append(number_of(each))
            await any_saver.aput_writes(each.config, [("a", 1)], "task")
            assert await any_saver.aget_tuple(each.config) is not None
        return seen

    assert asyncio.run(main()) == list(range(49, 0, -1))


def test_one_saver_serves_several_event_loops(saver: SqliteSaver) -> None:
    for number in (1, 2, 3):
        asyncio.run(saver.aput(at(), make(number, {"a": number}), {}, {"a": number}))
    assert values_of(saver, 3) == {"a": 3}


def test_values_are_taken_when_the_call_begins(saver: SqliteSaver) -> None:
    checkpoint = make(1, {"a": [1]})
    writes = [("a", [1])]

    async def main() -> None:
        calls = [
            asyncio.create_task(saver.aput(at(), checkpoint, {}, {"a": 1})),
            asyncio.create_task(saver.aput_writes(at(number=1), writes, "task")),
        ]
        await asyncio.sleep(0)
        checkpoint["channel_values"]["a"].append(2)
        writes[0][1].append(2)
        await asyncio.gather(*calls)

    asyncio.run(main())
    assert values_of(saver, 1) == {"a": [1]}
    assert writes_of(saver, 1) == [("a", [1])]


def test_a_failed_call_raises_and_the_next_one_works(saver: SqliteSaver) -> None:
    async def main() -> None:
        with pytest.raises(ValueError, match="holds data already"):
            await saver.acopy_thread("thread", "other")
        with pytest.raises(TypeError):
            await saver.aput(at(), make(2, {"a": object()}), {}, {"a": 2})
        await saver.aput(at(), make(2), {}, {})

    put(saver, 1)
    put(saver, 1, thread_id="other")
    asyncio.run(main())
    assert numbers(saver) == [2, 1]


def test_async_with_opens_and_closes(path: Path) -> None:
    async def main() -> None:
        async with SqliteSaver.open(path) as saver:
            await saver.aput(at(), make(1, {"a": 1}), {}, {"a": 1})
        async with SnapshotSqliteSaver(path.with_suffix(".snapshot")) as snapshot:
            await snapshot.aput(at(), make(1, {"a": 1}), {}, {"a": 1})

    asyncio.run(main())
    with SqliteSaver.open(path) as saver:
        assert values_of(saver, 1) == {"a": 1}


def test_leaving_the_block_lets_the_loop_run_on(path: Path, plan: Plan) -> None:
    """A write that waits for another connection's lock is waited for, but not by the loop."""

    async def main() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            async with SqliteSaver.open(path, busy_timeout_ms=30_000) as saver:
                await saver.aput(at(), make(1, {}), {}, {})
                other.execute("BEGIN IMMEDIATE")
                plan.armed = True
                waiting = asyncio.create_task(saver.aput(at(), make(2, {}), {}, {}))
                while "BEGIN IMMEDIATE" not in plan.statements:
                    await asyncio.sleep(0)
                # It can only be called if the loop goes on while the block is left.
                asyncio.get_running_loop().call_soon(other.execute, "ROLLBACK")
            assert await waiting == at(number=2)

    asyncio.run(main())
