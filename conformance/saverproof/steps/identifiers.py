"""Checkpoint and task identifiers, minted from counters so that a replay is exact."""

from __future__ import annotations

import datetime
from functools import lru_cache

NULL_TASK_ID = "00000000-0000-0000-0000-000000000000"
"""The task LangGraph writes graph input, resume values and updates under."""

CHECKPOINT_NODE = "-02f1a6c4d8e0"
TASK_MIDDLE = "-5a1c-5e0f-9b2d-"
"""What all ids of checkpoints end with, and all of tasks have in their middle."""

# A uuid6 timestamp of November 2026, in units of 100 ns since 1582-10-15.
_EPOCH = 0x1F0_C8A4_3B1A_7C00
# Far enough apart for the low field to change from one pair of ids to the next, as in real runs.
_STRIDE = 0x4D3


@lru_cache(maxsize=65_536)
def mint(number: int) -> str:
    """The id of checkpoint ``number``: canonical uuid6 text, ordered as the numbers are.

    An even number and the next are one tick apart, as ids are that LangGraph makes before its clock
    has moved (``langgraph.checkpoint.base.id.uuid6``).
    """
    time = _EPOCH + number // 2 * 2 * _STRIDE + number % 2
    high, low = time >> 12, time & 0xFFF
    clock = f"6{low:03x}-8{number & 0xFFF:03x}"
    return f"{high >> 16:08x}-{high & 0xFFFF:04x}-{clock}{CHECKPOINT_NODE}"


@lru_cache(maxsize=4_096)
def task_id(number: int) -> str:
    """The id of task ``number``; task 0 is LangGraph's null task.

    The text order of the ids is unlike the order of the numbers, so that a saver which keeps
    the order of arrival can be told from one that sorts. An odd number and the next have all but
    the end in common, those that are 16 apart the end.
    """
    if number == 0:
        return NULL_TASK_ID
    scattered = ((number + 1) // 2 * 0x9E37_79B1) & 0xFFFF_FFFF
    return f"{scattered:08x}{TASK_MIDDLE}{16 - number % 16:012x}"


@lru_cache(maxsize=65_536)
def timestamp(number: int) -> str:
    """The ISO 8601 time at which checkpoint ``number`` says it was made."""
    days, second = divmod(number, 86_400)
    date = datetime.date(2026, 11, 21) + datetime.timedelta(days)
    time = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
    return f"{date}T{time}.{number % 1_000_000:06d}+00:00"
