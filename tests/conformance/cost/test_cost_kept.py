"""What a store keeps of a channel that does not change: it is kept once, not in each step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.reference.sqlite import SqliteReference
from tests.right_savers.writes_values_once import WritesValuesOnce

from saverproof.families.cost.effort import sizes_of
from saverproof.families.cost.judging import breaches
from saverproof.families.cost.measuring import CostBench
from saverproof.families.cost.questions import QUESTIONS
from saverproof.families.cost.stores import Agent
from saverproof.families.items import ItemPlan
from saverproof.savers.targets.target import Target

PADDING = "x" * 4_000


class MuchForEachStep(WritesValuesOnce):
    """Right: a page of metadata for each step, whatever the size of the channel."""

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        return super().put(config, checkpoint, {**metadata, "trace": PADDING}, new_versions)


class EachValueTwice(WritesValuesOnce):
    """Keeps each value of a channel once more, as another content."""

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        values, versions = checkpoint["channel_values"], checkpoint["channel_versions"]
        again = {f"{name} again": ["again", value] for name, value in values.items()}
        named = dict.fromkeys(again, max(versions.values()))
        twice = {"channel_values": values | again, "channel_versions": versions | named}
        return super().put(config, {**checkpoint, **twice}, metadata, new_versions | named)


def target_of(saver: type[SqliteReference]) -> Target:
    @contextmanager
    def opened(workspace: Any) -> Iterator[Any]:
        with closing(saver.at(workspace.path)) as made:
            yield made

    return Target(name="tried", open=opened)


@pytest.mark.parametrize(
    ("saver", "is_broken"),
    [
        # Its values are moved when a second checkpoint holds them, and leave a free place.
        (WritesValuesOnce, False),
        (MuchForEachStep, False),
        (EachValueTwice, True),
        (SqliteReference, True),
    ],
)
def test_a_channel_that_does_not_change_is_kept_once(
    saver: type[SqliteReference], is_broken: bool, tmp_path: Path
) -> None:
    plan = ItemPlan({}, {}, "cost", "sync", profile="quick", seed=0, folder=str(tmp_path))
    questions = [question for question in QUESTIONS if question.store is Agent]
    sizes = sizes_of(Agent, "quick", {"capabilities": ["separate_records"]})
    bench = CostBench(plan, target_of(saver))
    (measured,) = bench.measure(Agent, sizes, questions)
    assert not measured.trouble
    assert bool(breaches([measured])) is is_broken
