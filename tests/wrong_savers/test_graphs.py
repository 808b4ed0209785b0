"""Small graphs show each wrong saver of the graph family."""

from __future__ import annotations

from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from tests.wrong_savers import WrongSaver
from tests.wrong_savers.scenes.graphs import GRAPHS
from tests.wrong_savers.support import (
    of,
)


def ran(graph: str, saver: Any) -> Any:
    """What a graph does on a saver."""
    try:
        return GRAPHS[graph](saver)
    except Exception as error:  # noqa: BLE001 (any exception is an answer)
        return f"raised {type(error).__name__}"


@of("graph")
def test_a_graph_runs_otherwise(wrong: WrongSaver) -> None:
    expected = ran(wrong.breaks, ReferenceSaver())
    assert not isinstance(expected, str)
    assert ran(wrong.breaks, wrong.saver()) != expected
