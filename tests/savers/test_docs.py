"""What the documentation shows is true: its SQL runs, and its options are those of the code."""

import inspect
import re
import sqlite3
from contextlib import closing
from pathlib import Path

from saverproof_savers import JsonFirstSerializer, SnapshotSqliteSaver, SqliteSaver
from tests.savers.helpers import at, put

PAGE = (Path(__file__).parents[2] / "docs" / "savers.md").read_text(encoding="utf-8")


def test_the_sql_runs(path: Path) -> None:
    with SqliteSaver.open(path, serde=JsonFirstSerializer()) as saver:
        put(saver, 1, {"n": 1, "state": {"city": "Bonn"}}, thread_id="1")
        saver.put_writes(at("1", 1), [("n", 2)], "task")
    (block,) = re.findall(r"```sql\n(.*?)```", PAGE, flags=re.DOTALL)
    statements = [text for text in block.split(";") if text.strip()]
    assert len(statements) == 5
    with closing(sqlite3.connect(path)) as connection:
        found = [
            connection.execute(
                text.replace("'1ef...'", "(SELECT max(checkpoint_id) FROM checkpoints)")
            ).fetchall()
            for text in statements
        ]
    assert all(found)
    assert ("n", 1, 1, None, None) in found[2]
    assert found[4] == [("Bonn",)]


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
