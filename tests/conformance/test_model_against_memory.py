"""The model against ``InMemorySaver``, without any of the judging code between them."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from saverproof.programs.generating import next_step
from saverproof.programs.makers import batches, checkpoints, reads, whole_threads
from saverproof.programs.model.records import Address
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import DeleteThread, ListTuples, Put, PutWrites, Step
from saverproof.programs.steps.identifiers import mint, task_id
from saverproof.programs.theme import Theme
from saverproof.programs.values import same
from saverproof.savers.execution.calls import (
    address_config,
    list_arguments,
    put_call,
    put_writes_call,
    read_config,
)

THEME = Theme(
    "differential",
    {
        checkpoints.put: 12,
        checkpoints.put_again: 2,
        checkpoints.put_replacing: 2,
        checkpoints.put_copy: 2,
        batches.writes: 8,
        batches.writes_again: 5,
        batches.writes_early: 2,
        batches.writes_special: 3,
        batches.writes_empty: 1,
        whole_threads.delete_thread: 1,
        reads.list_: 3,
    },
)


def follow(step: Step, model: Model, saver: InMemorySaver) -> None:
    """Take a step in both."""
    planned = model.apply(step, lambda v: saver.get_next_version(v, None))  # type: ignore[arg-type]
    if isinstance(step, Put):
        assert planned is not None
        call = put_call(step, planned, step.thread)
        saver.put(call.config, call.checkpoint, call.metadata, call.new_versions)  # type: ignore[arg-type]
    elif isinstance(step, PutWrites):
        batch = put_writes_call(step, step.thread)
        saver.put_writes(batch.config, batch.writes, batch.task_id, batch.task_path)  # type: ignore[arg-type]
    elif isinstance(step, DeleteThread):
        saver.delete_thread(step.thread)
    elif isinstance(step, ListTuples):
        config, arguments = list_arguments(step, step.thread)
        # InMemorySaver lists without a namespace in an order of its own.
        listed = [_address(item) for item in saver.list(config, **arguments)]  # type: ignore[arg-type]
        expected = [_named(address) for address in model.listing(step)]
        if step.namespace is None:
            assert set(listed) <= set(expected)
        else:
            assert listed == expected[: step.limit]


def _named(address: Address) -> tuple[str, str, str]:
    return (address[0], address[1], mint(address[2]))


def _address(item: Any) -> tuple[str, str, str]:
    parts = item.config["configurable"]
    return (parts["thread_id"], parts["checkpoint_ns"], parts["checkpoint_id"])


def compare(model: Model, saver: InMemorySaver) -> None:
    """Every checkpoint of the model is in the saver, and says the same; and none is over."""
    assert {_address(item) for item in saver.list(None)} == set(map(_named, model.addresses()))
    for address in model.addresses():
        record = model.record(address)
        item = saver.get_tuple(read_config(address, address[0]))  # type: ignore[arg-type]
        assert record is not None
        assert item is not None
        channels = {n: c.value.make() for n, c in record.channels.items() if c.value is not None}
        assert same(channels, item.checkpoint["channel_values"])
        assert same(
            {name: channel.version for name, channel in record.channels.items()},
            item.checkpoint["channel_versions"],
        )
        writes = [(task_id(w.task), w.channel, w.value.make()) for w in model.pending(address)]
        assert sorted(map(repr, writes)) == sorted(map(repr, item.pending_writes or ()))
        parent = item.parent_config and item.parent_config["configurable"]["checkpoint_id"]
        assert parent == (record.parent and mint(record.parent))
        latest = saver.get_tuple(address_config(address[0], address[1], None))  # type: ignore[arg-type]
        assert latest is not None
        newest = model.latest(address[0], address[1])
        assert newest is not None
        assert latest.checkpoint["id"] == mint(newest)


@pytest.mark.parametrize("seed", range(40))
def test_both_hold_the_same_after_every_step(seed: int) -> None:
    model, saver, choose = Model(), InMemorySaver(), Random(seed)
    most = 0
    for _ in range(25):
        follow(next_step(model, choose, THEME), model, saver)
        compare(model, saver)
        most = max(most, len(list(model.addresses())))
    assert most > 2, "hardly anything was compared"
