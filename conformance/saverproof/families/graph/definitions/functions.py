"""Workflows of the functional API, for the sync and for the async API each."""

from typing import Any

from langgraph.func import entrypoint, task
from langgraph.types import interrupt


def reviewed(note: Any, saver: Any) -> Any:
    """Two tasks side by side, a question, and a task on its answer."""

    @task
    def draft(number: int) -> str:
        note(f"draft {number}")
        return f"draft {number}"

    @task
    def publish(text: str) -> str:
        note("publish")
        return f"published {text}"

    @entrypoint(checkpointer=saver)
    def workflow(count: int) -> Any:
        drafts = [future.result() for future in [draft(number) for number in range(count)]]
        chosen = interrupt({"choose": drafts})
        return {"drafts": drafts, "done": publish(drafts[chosen]).result()}

    return workflow


def reviewed_async(note: Any, saver: Any) -> Any:
    """Two tasks side by side, a question, and a task on its answer."""

    @task
    async def draft(number: int) -> str:
        note(f"draft {number}")
        return f"draft {number}"

    @task
    async def publish(text: str) -> str:
        note("publish")
        return f"published {text}"

    @entrypoint(checkpointer=saver)
    async def workflow(count: int) -> Any:
        drafts = [await future for future in [draft(number) for number in range(count)]]
        chosen = interrupt({"choose": drafts})
        return {"drafts": drafts, "done": await publish(drafts[chosen])}

    return workflow


def interview(note: Any, saver: Any) -> Any:
    """A task and a question in turns, the last question asked by a task."""

    @task
    def write_down(text: str) -> str:
        note(f"write_down {text}")
        return text.upper()

    @task
    def sign() -> str:
        note("sign")
        return str(interrupt("sign?"))

    @entrypoint(checkpointer=saver)
    def workflow(name: str) -> Any:
        lines = [write_down(name).result()]
        lines += [write_down(interrupt(f"line {number}?")).result() for number in range(2)]
        return [*lines, sign().result()]

    return workflow


def interview_async(note: Any, saver: Any) -> Any:
    """A task and a question in turns, the last question asked by a task."""

    @task
    async def write_down(text: str) -> str:
        note(f"write_down {text}")
        return text.upper()

    @task
    async def sign() -> str:
        note("sign")
        return str(interrupt("sign?"))

    @entrypoint(checkpointer=saver)
    async def workflow(name: str) -> Any:
        lines = [await write_down(name)]
        lines += [await write_down(interrupt(f"line {number}?")) for number in range(2)]
        return [*lines, await sign()]

    return workflow


def counting(note: Any, saver: Any) -> Any:
    """Gives one thing and keeps another for the next call (entrypoint.final, previous)."""

    @entrypoint(checkpointer=saver)
    def workflow(number: int, *, previous: Any = None) -> Any:
        note("workflow")
        if number < 0:
            interrupt("below zero?")
        total = (previous or {"total": 0})["total"] + number
        return entrypoint.final(value=f"was {previous}", save={"total": total})

    return workflow


def counting_async(note: Any, saver: Any) -> Any:
    """Gives one thing and keeps another for the next call (entrypoint.final, previous)."""

    @entrypoint(checkpointer=saver)
    async def workflow(number: int, *, previous: Any = None) -> Any:
        note("workflow")
        if number < 0:
            interrupt("below zero?")
        total = (previous or {"total": 0})["total"] + number
        return entrypoint.final(value=f"was {previous}", save={"total": total})

    return workflow


def stumbling(note: Any, saver: Any) -> Any:
    """One task after the other, the second of which fails when it is called for the first time."""

    @task
    def fetch(number: int) -> int:
        note("fetch")
        return number * 2

    @task
    def store(number: int) -> bool:
        if note("store") == 1:
            raise ValueError("not yet")
        return True

    @entrypoint(checkpointer=saver)
    def workflow(number: int) -> Any:
        fetched = fetch(number).result()
        return [fetched, store(fetched).result()]

    return workflow


def stumbling_async(note: Any, saver: Any) -> Any:
    """One task after the other, the second of which fails when it is called for the first time."""

    @task
    async def fetch(number: int) -> int:
        note("fetch")
        return number * 2

    @task
    async def store(number: int) -> bool:
        if note("store") == 1:
            raise ValueError("not yet")
        return True

    @entrypoint(checkpointer=saver)
    async def workflow(number: int) -> Any:
        fetched = await fetch(number)
        return [fetched, await store(fetched)]

    return workflow


def errands(note: Any, saver: Any) -> Any:
    """Tasks side by side, a question, and one more task; its values are the same every time."""

    @task
    def fetch(number: int) -> int:
        note(f"fetch {number}")
        return number * 2

    @task
    def add_up(numbers: list[int], answer: str) -> str:
        note("add_up")
        return f"{answer}: {sum(numbers)}"

    @entrypoint(checkpointer=saver)
    def workflow(count: int) -> Any:
        fetched = [future.result() for future in [fetch(number) for number in range(count)]]
        answer = interrupt("go on?")
        return add_up(fetched, answer).result()

    return workflow
