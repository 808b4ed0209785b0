"""The bundled SQLite saver beside the official one, at equal durability, in one run.

    python tests/benchmarks/bench_savers.py [--steps 300] [--rounds 3] [--only sync]

Each figure is the median over all steps and rounds, in microseconds; the savers take turns after
each step, and in who is first, so that a busy machine or disk slows both. "limit" is what no saver
can go below: encoding what is new and a transaction of one row, or decoding the same values.
"""

import asyncio
import itertools
import operator
import sqlite3
import statistics
import tempfile
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Annotated, Any, TypedDict, TypeVar

import click
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver as OfficialSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph

from saverproof_savers import SqliteSaver

T = TypeVar("T")
Timings = dict[str, list[float]]
BIG = "x" * 20_000
ANSWER = "what the tool found, in a few sentences that it wrote " * 4


@contextmanager
def bundled(path: Path, synchronous: str) -> Iterator[Any]:
    with SqliteSaver.open(path, synchronous=synchronous) as saver:
        yield saver


@contextmanager
def official(path: Path, synchronous: str) -> Iterator[Any]:
    with OfficialSaver.from_conn_string(str(path)) as saver:
        saver.setup()
        saver.conn.execute(f"PRAGMA synchronous={synchronous}")
        yield saver


SAVERS: dict[str, Callable[[Path, str], Any]] = {"official": official, "bundled": bundled}


class Workload:
    """A thread that grows step by step, as LangGraph's loop would put it."""

    writes: Sequence[tuple[str, Any]]
    """What each task of a step writes."""

    def __init__(self, next_version: Callable[[Any, None], Any]) -> None:
        self.next_version = next_version
        self.values: dict[str, Any] = {}
        self.versions: dict[str, Any] = {}
        self.step = 0

    def change(self) -> dict[str, Any]:
        """The values that this step changes."""
        raise NotImplementedError

    def advance(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The next checkpoint and its new versions."""
        changed = self.change()
        version = self.next_version(max(self.versions.values(), default=None), None)
        new = dict.fromkeys([*changed, "branch:to:agent", "__start__"], version)
        self.values = {**self.values, **changed}
        self.versions = {**self.versions, **new}
        checkpoint = {
            "v": 4,
            "id": str(uuid6(clock_seq=self.step)),
            "ts": "2026-11-21T22:00:00+00:00",
            "channel_values": self.values,
            "channel_versions": self.versions,
            "versions_seen": {"__input__": {}, "agent": {"branch:to:agent": version}},
            "updated_channels": sorted(new),
        }
        self.step += 1
        return checkpoint, new


class Unchanged(Workload):
    """A channel of 20 kB that never changes, and a counter that does."""

    writes = (("counter", 1), ("branch:to:agent", None), ("note", "hello " * 20))

    def change(self) -> dict[str, Any]:
        counter = {"counter": self.step}
        return {"big": BIG, **counter} if self.step == 0 else counter


class Chat(Workload):
    """Messages that grow by one a step."""

    writes = (("messages", [AIMessage("a message of some words " * 5, id="x")]), ("turn", 1))

    def change(self) -> dict[str, Any]:
        kind = HumanMessage if self.step % 2 == 0 else AIMessage
        message = kind(f"message number {self.step} " * 5, id=str(uuid.uuid4()))
        return {"messages": [*self.values.get("messages", []), message]}


class Agent(Workload):
    """Messages that grow by the answers of ten tools that were called in parallel."""

    writes = (("messages", [ToolMessage(ANSWER, tool_call_id="x", id="x")]),)

    def change(self) -> dict[str, Any]:
        calls = [{"name": "search", "args": {"q": str(n)}, "id": str(n)} for n in range(10)]
        said = AIMessage("", tool_calls=calls, id=str(uuid.uuid4()))
        found = [ToolMessage(ANSWER, tool_call_id=str(n), id=str(uuid.uuid4())) for n in range(10)]
        return {"messages": [*self.values.get("messages", []), said, *found]}


WORKLOADS: dict[str, tuple[type[Workload], int, int]] = {
    # name: workload, share of the steps, tasks a step
    "unchanged 20 kB": (Unchanged, 1, 1),
    "growing chat": (Chat, 1, 1),
    "agent, 10 tools": (Agent, 6, 10),
}


def latest(thread_id: str) -> Any:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}


@contextmanager
def timed(timings: Timings, name: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    timings.setdefault(name, []).append((time.perf_counter() - start) * 1e6)


def run_sync(
    saver: Any, kind: type[Workload], steps: int, tasks: int, timings: Timings
) -> Iterator[None]:
    """Works through the operations, and pauses after each step."""
    workload, thread_id = kind(saver.get_next_version), str(uuid.uuid4())
    config = latest(thread_id)
    for _ in range(steps):
        checkpoint, new = workload.advance()
        metadata = {"source": "loop", "step": workload.step, "parents": {}}
        with timed(timings, "put"):
            config = saver.put(config, checkpoint, metadata, new)
        for _ in range(tasks):
            task_id = str(uuid.uuid4())
            with timed(timings, "put_writes"):
                saver.put_writes(config, workload.writes, task_id, "~__pregel_pull, agent")
        yield
    for _ in range(60):
        with timed(timings, "get latest"):
            saver.get_tuple(latest(thread_id))
        with timed(timings, "get by id"):
            saver.get_tuple(config)
        yield
    for _ in range(10 if kind is Unchanged else 3):
        with timed(timings, f"list {steps}"):
            found = list(saver.list(latest(thread_id)))
        assert len(found) == steps
        del found
        with timed(timings, "delta history"):
            saver.get_delta_channel_history(config=latest(thread_id), channels=["note", "turn"])
        yield


async def run_async(
    saver: Any, kind: type[Workload], steps: int, tasks: int, timings: Timings
) -> AsyncIterator[None]:
    """Works through the operations, and pauses after each step."""
    workload, thread_id = kind(saver.get_next_version), str(uuid.uuid4())
    config = latest(thread_id)
    for _ in range(steps):
        checkpoint, new = workload.advance()
        metadata = {"source": "loop", "step": workload.step, "parents": {}}
        with timed(timings, "put"):
            config = await saver.aput(config, checkpoint, metadata, new)
        with timed(timings, f"put_writes, {tasks} together"):
            await asyncio.gather(
                *(
                    saver.aput_writes(config, workload.writes, str(uuid.uuid4()), "~agent")
                    for _ in range(tasks)
                )
            )
        yield
    for _ in range(60):
        with timed(timings, "get latest"):
            await saver.aget_tuple(latest(thread_id))
        with timed(timings, "get by id"):
            await saver.aget_tuple(config)
        yield
    for _ in range(3):
        with timed(timings, f"list {steps}"):
            found = len([1 async for _ in saver.alist(latest(thread_id))])
        assert found == steps
        yield


_END = object()


def in_turn(runs: Sequence[T], turn: int) -> Sequence[T]:
    """The runs, another one first in every other turn."""
    return runs if turn % 2 else runs[::-1]


def size_of(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.iterdir())


def bench_sync(name: str, synchronous: str, steps: int, rounds: int) -> None:
    kind, share, tasks = WORKLOADS[name]
    steps //= share
    timings: dict[str, Timings] = {saver: {} for saver in SAVERS}
    limits: Timings = {}
    sizes: dict[str, int] = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            with ExitStack() as stack:
                runs = []
                for saver_name, opened in SAVERS.items():
                    (Path(folder) / saver_name).mkdir()
                    path = Path(folder) / saver_name / "c.db"
                    saver = stack.enter_context(opened(path, synchronous))
                    runs.append(run_sync(saver, kind, steps, tasks, timings[saver_name]))
                for turn in itertools.count():
                    if _END in [next(run, _END) for run in in_turn(runs, turn)]:
                        break
            sizes = {saver_name: size_of(Path(folder) / saver_name) for saver_name in SAVERS}
        for limit, found in measure_limits(kind, steps, synchronous).items():
            limits.setdefault(limit, []).extend(found)
    title = f"{name}, {steps} steps, {tasks} task(s) a step, sync API, synchronous={synchronous}"
    print_table(title, timings, {key: statistics.median(found) for key, found in limits.items()})
    print_sizes(sizes)


def measure_limits(kind: type[Workload], steps: int, synchronous: str) -> Timings:
    """Encoding and a transaction of one row, and decoding alone."""
    limits: Timings = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(sqlite3.connect(Path(folder) / "c.db", isolation_level=None)) as connection,
    ):
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={synchronous}")
        connection.execute("CREATE TABLE t (a)")
        serde, workload = JsonPlusSerializer(), kind(lambda current, _: (current or 0) + 1)
        stored = []
        for number in range(steps):
            checkpoint, new = workload.advance()
            changed = [checkpoint["channel_values"].get(channel) for channel in new]
            with timed(limits, "put"):
                for value in changed:
                    serde.dumps_typed(value)
                connection.execute("INSERT INTO t VALUES (?)", (number,))
            with timed(limits, "put_writes"):
                for _, value in workload.writes:
                    serde.dumps_typed(value)
                connection.execute("INSERT INTO t VALUES (?)", (number,))
            stored.append(serde.dumps_typed(checkpoint))
    for _ in range(30):
        with timed(limits, "get latest"):
            serde.loads_typed(stored[-1])
    limits["get by id"] = limits["get latest"]
    with timed(limits, f"list {steps}"):
        for each in stored:
            serde.loads_typed(each)
    return limits


def bench_async(name: str, steps: int, rounds: int) -> None:
    kind, share, tasks = WORKLOADS[name]
    steps //= share
    timings: dict[str, Timings] = {saver: {} for saver in SAVERS}

    async def main() -> None:
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder)
                async with (
                    AsyncSqliteSaver.from_conn_string(str(path / "o.db")) as one,
                    SqliteSaver.open(path / "b.db") as other,
                ):
                    await one.setup()
                    first = run_async(one, kind, steps, tasks, timings["official"])
                    second = run_async(other, kind, steps, tasks, timings["bundled"])
                    for turn in itertools.count():
                        order = in_turn([first, second], turn)
                        if _END in [await anext(run, _END) for run in order]:
                            break

    asyncio.run(main())
    title = f"{name}, {steps} steps, {tasks} task(s) a step, async API, synchronous=FULL"
    print_table(title, timings, {})


class Ten(TypedDict):
    log: Annotated[list[str], operator.add]


def bench_graph(rounds: int) -> None:
    builder = StateGraph(Ten)
    for number in range(10):
        builder.add_node(f"node{number}", lambda state: {"log": ["x" * 100]})
        builder.add_edge(START if number == 0 else f"node{number - 1}", f"node{number}")
    timings: dict[str, Timings] = {saver: {} for saver in SAVERS}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        graphs = {
            saver_name: builder.compile(
                checkpointer=stack.enter_context(opened(Path(folder) / f"{saver_name}.db", "FULL"))
            )
            for saver_name, opened in SAVERS.items()
        }
        for _ in range(rounds * 10):
            for saver_name, graph in graphs.items():
                thread: Any = {"configurable": {"thread_id": str(uuid.uuid4())}}
                with timed(timings[saver_name], "invoke"):
                    graph.invoke({"log": []}, thread)
    print_table("a graph of ten steps, sync API, synchronous=FULL", timings, {})


def bench_threads(synchronous: str, rounds: int, threads: int = 8, puts: int = 150) -> None:
    rates: dict[str, list[float]] = {saver: [] for saver in SAVERS}

    def work(saver: Any) -> None:
        workload, config = Unchanged(saver.get_next_version), latest(str(uuid.uuid4()))
        for _ in range(puts):
            checkpoint, new = workload.advance()
            metadata = {"source": "loop", "step": workload.step, "parents": {}}
            config = saver.put(config, checkpoint, metadata, new)

    for _ in range(rounds):
        for saver_name, opened in SAVERS.items():
            with (
                tempfile.TemporaryDirectory() as folder,
                opened(Path(folder) / "c.db", synchronous) as saver,
            ):
                workers = [threading.Thread(target=work, args=(saver,)) for _ in range(threads)]
                start = time.perf_counter()
                for each in workers:
                    each.start()
                for each in workers:
                    each.join()
                rates[saver_name].append(threads * puts / (time.perf_counter() - start))
    one, other = (statistics.median(rates[saver]) for saver in ("official", "bundled"))
    click.echo(
        f"\n{threads} threads putting (unchanged 20 kB), synchronous={synchronous}: official "
        f"{one:,.0f}/s, bundled {other:,.0f}/s, {other / one:.2f} times"
    )


def print_table(title: str, timings: dict[str, Timings], limits: dict[str, float]) -> None:
    click.echo(f"\n{title}")
    click.echo(f"  {'us, median':26}{'official':>12}{'bundled':>12}{'speed':>8}{'limit':>12}")
    for name in timings["official"]:
        one, other = (statistics.median(timings[each][name]) for each in ("official", "bundled"))
        limit = f"{limits[name]:12,.0f}" if name in limits else ""
        click.echo(f"  {name:26}{one:12,.0f}{other:12,.0f}{one / other:8.2f}{limit}")


def print_sizes(sizes: dict[str, int]) -> None:
    one, other = sizes["official"], sizes["bundled"]
    click.echo(f"  {'bytes on disk':26}{one:12,}{other:12,}{one / other:8.1f}")


def put_only_size(steps: int) -> None:
    sizes = {}
    for saver_name, opened in SAVERS.items():
        with tempfile.TemporaryDirectory() as folder:
            with opened(Path(folder) / "c.db", "OFF") as saver:
                for _ in run_sync(saver, Unchanged, steps, 0, {}):
                    pass
            sizes[saver_name] = size_of(Path(folder))
    click.echo(f"\nunchanged 20 kB, {steps} puts and no writes")
    print_sizes(sizes)


@click.command(help=__doc__)
@click.option("--steps", default=300, help="Checkpoints a thread.")
@click.option("--rounds", default=3, help="Rounds, the savers by turns.")
@click.option("--only", type=click.Choice(["sync", "async", "graph", "threads"]), multiple=True)
def main(steps: int, rounds: int, only: tuple[str, ...]) -> None:
    wanted = only or ("sync", "async", "graph", "threads")
    for name in WORKLOADS:
        for synchronous in ("FULL", "NORMAL") if "sync" in wanted else ():
            bench_sync(name, synchronous, steps, rounds)
        if "async" in wanted:
            bench_async(name, steps, rounds)
    if "sync" in wanted:
        put_only_size(steps)
    if "graph" in wanted:
        bench_graph(rounds)
    for synchronous in ("FULL", "NORMAL") if "threads" in wanted else ():
        bench_threads(synchronous, rounds)


if __name__ == "__main__":
    main()
