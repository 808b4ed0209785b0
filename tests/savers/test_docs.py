"""What the documentation shows is true: its SQL runs, and its options are those of the code."""

import inspect
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from saverproof_savers import JsonFirstSerializer, SnapshotSqliteSaver, SqliteSaver
from tests.savers.helpers import at, put

PAGE = (Path(__file__).parents[2] / "docs" / "savers.md").read_text(encoding="utf-8")


(_BLOCK,) = re.findall(r"```sql\n(.*?)```", PAGE, flags=re.DOTALL)
STATEMENTS = [text for text in _BLOCK.split(";") if text.strip()]


def test_the_sql_runs(path: Path) -> None:
    with SqliteSaver.open(path, serde=JsonFirstSerializer()) as saver:
        put(saver, 1, {"n": 1, "state": {"city": "Bonn"}}, thread_id="1")
        saver.put_writes(at("1", 1), [("n", 2)], "task")
    assert len(STATEMENTS) == 5
    with closing(sqlite3.connect(path)) as connection:
        found = [
            connection.execute(
                text.replace("'1ef...'", "(SELECT max(checkpoint_id) FROM checkpoints)")
            ).fetchall()
            for text in STATEMENTS
        ]
    assert all(found)
    assert ("n", 1, 1, None, None) in found[2]
    assert found[4] == [("Bonn",)]


def test_writes_that_were_taken_up_are_not_shown_as_waiting(path: Path) -> None:
    (statement,) = (text for text in STATEMENTS if "checkpoint_writes" in text)
    waiting: list[list[Any]] = []

    def ask(state: MessagesState) -> dict[str, Any]:
        return {"messages": [interrupt("which?")]}

    def work(state: MessagesState) -> dict[str, Any]:
        return {"messages": ["done"]}

    config: Any = {"configurable": {"thread_id": "1"}}
    with SqliteSaver.open(path) as saver, closing(sqlite3.connect(path)) as connection:
        builder = StateGraph(MessagesState).add_node(ask).add_node(work)
        builder.add_edge(START, "ask").add_edge(START, "work")
        graph = builder.compile(checkpointer=saver)
        for given in ({"messages": ["hello"]}, Command(resume="this one")):
            graph.invoke(given, config)
            waiting.append([channel for *_, channel, _ in connection.execute(statement)])
        # They are kept beside their checkpoints, for the history.
        assert connection.execute("SELECT count(*) FROM checkpoint_writes").fetchone() > (3,)
    assert "__interrupt__" in waiting[0]
    assert "messages" in waiting[0]
    assert waiting[1] == []


def test_every_option_is_told_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE, flags=re.MULTILINE))
    options = inspect.signature(SqliteSaver.open).parameters
    assert set(options) <= set(rows)
    assert rows["busy_timeout_ms"] == f"`{options['busy_timeout_ms'].default}`"
    assert rows["synchronous"] == f'`"{options["synchronous"].default}"`'
    for name, option in inspect.signature(SnapshotSqliteSaver).parameters.items():
        if isinstance(option.default, str | int):
            shown = f'"{option.default}"' if isinstance(option.default, str) else option.default
            assert f"{name}={shown}" in PAGE
