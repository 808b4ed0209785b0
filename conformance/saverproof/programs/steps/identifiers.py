"""Ids of checkpoints and tasks, made from numbers so that a replay has exactly the same ids."""

from __future__ import annotations

import datetime
from functools import lru_cache

NULL_TASK_ID = "00000000-0000-0000-0000-000000000000"
"""The task id under which LangGraph writes graph input, resume values and updates."""

CHECKPOINT_NODE = "-02f1a6c4d8e0"
TASK_MIDDLE = "-5a1c-5e0f-9b2d-"
"""The middle part of all task ids; ``CHECKPOINT_NODE`` is the end of all checkpoint ids."""

EXIT_TASK = 10_000
"""The number from which on tasks have ids as LangGraph makes them with durability "exit" for the
first step. The number's digits replace the first group, so that the id of step 0 begins as the null
task's id does.
"""
LATE_TASK = 20_000
"""The number from which on tasks have ids of the later steps of such a run, which sort after the
ids of all real tasks.
"""

# A uuid6 timestamp of November 2026, in units of 100 ns since 1582-10-15.
_EPOCH = 0x1F0_C8A4_3B1A_7C00
# Far enough apart for the low field to change from one pair of ids to the next, as in real runs.
_STRIDE = 0x4D3


@lru_cache(maxsize=65_536)
def mint(number: int) -> str:
    """Return the id of checkpoint ``number``: canonical uuid6 text, in the order of the numbers.

    An even number and the next are one tick apart, like ids that LangGraph makes before its clock
    has moved (``langgraph.checkpoint.base.id.uuid6``).
    """
    time = _EPOCH + number // 2 * 2 * _STRIDE + number % 2
    high, low = time >> 12, time & 0xFFF
    clock = f"6{low:03x}-8{number & 0xFFF:03x}"
    return f"{high >> 16:08x}-{high & 0xFFFF:04x}-{clock}{CHECKPOINT_NODE}"


@lru_cache(maxsize=4_096)
def task_id(number: int) -> str:
    """Return the id of task ``number``; task 0 is LangGraph's null task.

    The text order of the ids differs from the order of the numbers. So a saver that keeps the order
    of arrival can be told from one that sorts. The ids of an odd number and the next share all but
    the end; those of numbers 16 apart share the end. From ``EXIT_TASK`` and ``LATE_TASK`` on they
    are those of a run's steps (``langgraph.pregel._checkpoint.exit_delta_task_id``).
    """
    if number == 0:
        return NULL_TASK_ID
    if number >= LATE_TASK:
        step = number - LATE_TASK
        return f"ffffffff-{step >> 16:04x}-{step & 0xFFFF:04x}-9b2d-{number % 16:012x}"
    if number >= EXIT_TASK:
        return f"{number - EXIT_TASK:08d}{TASK_MIDDLE}{16 - number % 16:012x}"
    scattered = ((number + 1) // 2 * 0x9E37_79B1) & 0xFFFF_FFFF
    return f"{scattered:08x}{TASK_MIDDLE}{16 - number % 16:012x}"


@lru_cache(maxsize=65_536)
def timestamp(number: int) -> str:
    """Return the ISO 8601 time of checkpoint ``number``."""
    days, second = divmod(number, 86_400)
    date = datetime.date(2026, 11, 21) + datetime.timedelta(days)
    time = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
    return f"{date}T{time}.{number % 1_000_000:06d}+00:00"
