"""Graphs made of channels and nodes, without a state: what `StateGraph` itself is made of."""

import operator
from typing import Any

from langgraph.channels import BinaryOperatorAggregate, LastValue
from langgraph.pregel import NodeBuilder, Pregel


def relayed(note: Any, saver: Any) -> Any:
    """Three nodes, each waiting for a channel that keeps its value when it was read."""

    def first(given: Any) -> Any:
        note("first")
        return [f"first heard {given}"]

    def second(middle: Any) -> Any:
        note("second")
        return [f"second heard {middle}"]

    def third(last: Any) -> Any:
        note("third")
        return [f"third heard {len(last)}"]

    return Pregel(
        nodes={
            "first": NodeBuilder().subscribe_only("given").do(first).write_to("middle", "log"),
            "second": NodeBuilder().subscribe_only("middle").do(second).write_to("last", "log"),
            "third": NodeBuilder().subscribe_only("last").do(third).write_to("log"),
        },
        channels={
            "given": LastValue(str),
            "middle": LastValue(list),
            "last": LastValue(list),
            "log": BinaryOperatorAggregate(list, operator.add),
        },
        input_channels=["given"],
        output_channels=["log"],
        checkpointer=saver,
    )
