"""The delta history equals the walk of the base class over the same saver."""

import asyncio
import random
from typing import Any

import pytest
from langgraph.checkpoint import base
from langgraph.checkpoint.base import BaseCheckpointSaver

from saverproof_savers import SqliteSaver
from tests.savers.helpers import at, put

pytestmark = pytest.mark.skipif(
    not hasattr(base, "DeltaChannelHistory"), reason="langgraph-checkpoint before 4.1"
)


def both(saver: SqliteSaver, number: int | None, channels: list[str]) -> Any:
    """What both give."""
    config = at(number=number)
    walked = BaseCheckpointSaver.get_delta_channel_history(saver, config=config, channels=channels)
    assert saver.get_delta_channel_history(config=config, channels=channels) == walked
    found = asyncio.run(saver.aget_delta_channel_history(config=config, channels=channels))
    assert found == walked
    return walked


@pytest.mark.parametrize("seed", range(8))
def test_it_equals_the_walk(any_saver: SqliteSaver, seed: int) -> None:
    choose = random.Random(seed)
    for number in choose.sample(range(1, 13), 12):
        # By the parent and not by the id: a parent may be younger than its child.
        parent = choose.choice([None, *(n for n in range(1, 13) if n != number)])
        if parent is not None and is_below(any_saver, parent, number):
            parent = None
        values = {"log": number} if choose.random() < 0.2 else {}
        put(any_saver, number, values, parent=parent, versions={"log": number, "other": 1})
        for task in choose.sample(["b", "a", "c"], 2):
            batch = [("log", number), ("other", 1), ("log", None)]
            any_saver.put_writes(at(number=number), batch, task, choose.choice(["", "~2", "~1"]))
    histories = [both(any_saver, n, ["log", "other", "unknown"]) for n in (None, *range(1, 14))]
    assert any(history["log"]["writes"] for history in histories)


def is_below(saver: SqliteSaver, number: int, ancestor: int) -> bool:
    """Whether `ancestor` is reached from `number`: a loop, on which the base class never ends."""
    found = saver.get_tuple(at(number=number))
    seen = 0
    while found is not None and seen < 20:
        if found.config == at(number=ancestor) or found.parent_config == at(number=ancestor):
            return True
        seen += 1
        found = saver.get_tuple(found.parent_config) if found.parent_config else None
    return False


def test_no_channels_give_nothing(saver: SqliteSaver) -> None:
    assert saver.get_delta_channel_history(config=at(), channels=[]) == {}
    assert asyncio.run(saver.aget_delta_channel_history(config=at(), channels=[])) == {}


def test_a_chain_that_is_a_loop_ends(saver: SqliteSaver) -> None:
    put(saver, 1, {}, parent=2, versions={"log": 1})
    put(saver, 2, {}, parent=1, versions={"log": 2})
    saver.put_writes(at(number=1), [("log", 1)], "task")
    history = saver.get_delta_channel_history(config=at(), channels=["log"])
    assert history == {"log": {"writes": [("task", "log", 1)]}}
