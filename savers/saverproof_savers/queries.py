"""The SQL of the saver, made once for the names of its tables."""

from dataclasses import dataclass
from typing import NamedTuple

from saverproof_savers.schema import TableNames

CHUNK = 32
"""How many checkpoints are fetched at once."""

_ONE = "thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
_SEVERAL = f"thread_id = ? AND checkpoint_ns = ? AND checkpoint_id IN ({','.join('?' * CHUNK)})"
_ROW = "checkpoint_id, parent_checkpoint_id, type, checkpoint, channels, metadata"
_WRITE = "task_path, task_id, idx, channel, type, value"


def _used_values(checkpoints: str) -> str:
    """Return a query for the rows of values that a thread's checkpoints use.

    Damaged checkpoints use none.
    """
    # A NULL in the list would keep NOT IN from ever being true.
    return f"""SELECT coalesce(json_extract(entry.value, '$[1]'), 0) FROM {checkpoints},
        json_each(CASE WHEN json_valid(channels) THEN channels ELSE '{{}}' END) AS entry
        WHERE entry.type = 'array' AND json_array_length(entry.value) = 2 AND thread_id = ?"""


class _Tables(NamedTuple):
    """The quoted names of the tables."""

    checkpoints: str
    writes: str
    values: str


def _with_writes(on: _Tables, checkpoint_id: str) -> str:
    """Return a query for a checkpoint and its writes."""
    # One statement, because a checkpoint is read often, and each statement costs. No numbered
    # placeholders: Python 3.12.0 to 3.12.3 warn of each use.
    one = f"thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = {checkpoint_id}"
    return f"""SELECT {_ROW} FROM {on.checkpoints} WHERE {one}
        UNION ALL SELECT {_WRITE} FROM {on.writes} WHERE {one}"""


def _of_checkpoints(on: _Tables) -> dict[str, str]:
    """Return the statements that read and store checkpoints."""
    latest = f"""(SELECT checkpoint_id FROM {on.checkpoints}
        WHERE thread_id = ? AND checkpoint_ns = ? ORDER BY checkpoint_id DESC LIMIT 1)"""
    return {
        "checkpoint_and_writes": _with_writes(on, "?"),
        "latest_and_writes": _with_writes(on, latest),
        "latest_checkpoint": f"""SELECT {_ROW} FROM {on.checkpoints}
            WHERE thread_id = ? AND checkpoint_ns = ? ORDER BY checkpoint_id DESC LIMIT 1""",
        "checkpoints_by_ids": f"SELECT {_ROW} FROM {on.checkpoints} WHERE {_SEVERAL}",
        "checkpoints_before": f"""SELECT {_ROW} FROM {on.checkpoints}
            WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id < ?
            ORDER BY checkpoint_id DESC LIMIT ?""",
        "channels_of_one": f"SELECT channels FROM {on.checkpoints} WHERE {_ONE}",
        "channels_of_two": f"""SELECT checkpoint_id, channels FROM {on.checkpoints}
            WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id IN (?, ?)""",
        "channels_of_siblings": f"""SELECT channels FROM {on.checkpoints}
            WHERE thread_id = ? AND checkpoint_ns = ? AND parent_checkpoint_id IS ?""",
        "add_checkpoint": f"""INSERT INTO {on.checkpoints}
            (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,
            channels, metadata, run_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id) DO UPDATE SET
            parent_checkpoint_id = excluded.parent_checkpoint_id, type = excluded.type,
            checkpoint = excluded.checkpoint, channels = excluded.channels,
            metadata = excluded.metadata, run_id = excluded.run_id""",
        "add_new_checkpoint": f"""INSERT INTO {on.checkpoints}
            (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,
            channels, metadata, run_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING""",
    }


def _of_writes(on: _Tables) -> dict[str, str]:
    """Return the statements that read and store pending writes."""
    return {
        "writes_of_several": f"SELECT {_WRITE}, checkpoint_id FROM {on.writes} WHERE {_SEVERAL}",
        "writes_between": f"""SELECT {_WRITE}, checkpoint_id FROM {on.writes}
            WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id BETWEEN ? AND ?""",
        "add_write": f"""INSERT INTO {on.writes}
            (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type,
            value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) DO UPDATE SET
            task_path = excluded.task_path, channel = excluded.channel, type = excluded.type,
            value = excluded.value WHERE excluded.idx < 0""",
    }


def _of_values(on: _Tables) -> dict[str, str]:
    """Return the statements that read, store and drop values."""
    return {
        "value_by_id": f"SELECT type, value FROM {on.values} WHERE value_id = ? AND thread_id = ?",
        "values_by_ids": f"""SELECT value_id, type, value FROM {on.values}
            WHERE value_id IN (SELECT value FROM json_each(?)) AND thread_id = ?""",
        "same_value": f"""SELECT value_id FROM {on.values}
            WHERE value_id IN (SELECT value FROM json_each(?)) AND type = ? AND value = ?
            AND thread_id = ? LIMIT 1""",
        "existing_values": f"""SELECT value_id FROM {on.values}
            WHERE value_id IN (SELECT value FROM json_each(?)) AND thread_id = ?""",
        "add_value": f"""INSERT INTO {on.values}
            (thread_id, checkpoint_ns, channel, version, type, value)
            VALUES (?, ?, ?, ?, ?, ?)""",
        "drop_values": f"""DELETE FROM {on.values}
            WHERE value_id IN (SELECT value FROM json_each(?)) AND thread_id = ?""",
        "drop_values_unless_used": f"""DELETE FROM {on.values}
            WHERE value_id IN (SELECT value FROM json_each(?)) AND thread_id = ?
            AND value_id NOT IN ({_used_values(on.checkpoints)})""",
        "drop_values_of_none": f"""DELETE FROM {on.values}
            WHERE thread_id = ? AND value_id NOT IN (SELECT value FROM json_each(?))""",
    }


def _of_histories(on: _Tables) -> dict[str, str]:
    """Return the statements that read the history of a delta channel."""
    return {
        # Walk by the parent, not by the order of ids. CROSS JOIN makes each step one look-up.
        "ancestors": f"""WITH RECURSIVE ancestor (id, parent_id, channels) AS (
            SELECT checkpoint_id, parent_checkpoint_id, channels
            FROM {on.checkpoints} WHERE {_ONE}
            UNION ALL
            SELECT c.checkpoint_id, c.parent_checkpoint_id, c.channels
            FROM ancestor CROSS JOIN {on.checkpoints} AS c
            WHERE c.thread_id = ? AND c.checkpoint_ns = ? AND c.checkpoint_id = parent_id)
            SELECT id, parent_id, channels FROM ancestor""",
        "delta_writes": f"""SELECT checkpoint_id, task_id, type, value FROM {on.writes}
            WHERE thread_id = ? AND checkpoint_ns = ? AND channel = ?
            AND checkpoint_id IN (SELECT value FROM json_each(?))
            ORDER BY task_path, task_id, idx""",
    }


@dataclass(frozen=True)
class Queries:
    """The SQL statements of one store. Parameters stand in the order of the columns named."""

    names: TableNames
    checkpoint_and_writes: str
    latest_and_writes: str
    latest_checkpoint: str
    checkpoints_by_ids: str
    checkpoints_before: str
    value_by_id: str
    writes_of_several: str
    writes_between: str
    values_by_ids: str
    channels_of_one: str
    channels_of_two: str
    channels_of_siblings: str
    same_value: str
    add_value: str
    add_checkpoint: str
    add_new_checkpoint: str
    drop_values: str
    add_write: str
    drop_values_unless_used: str
    drop_values_of_none: str
    existing_values: str
    ancestors: str
    delta_writes: str

    @classmethod
    def over(cls, names: TableNames) -> "Queries":
        """Make the statements for tables of these names."""
        quoted = (f'"{name}"' for name in (names.checkpoints, names.writes, names.values))
        on = _Tables(*quoted)
        return cls(
            names=names,
            **_of_checkpoints(on),
            **_of_writes(on),
            **_of_values(on),
            **_of_histories(on),
        )
