"""What `make steady` takes for equal, and what not."""

from __future__ import annotations

import json

import pytest
from tests.conformance.steady_counts import differing, is_hurry

WRITTEN = "sync / cost/put / put of one more checkpoint / checkpoint in the thread / written"
LINES = WRITTEN.replace("written", "lines")


def series(*counts: int, order: str = "constant") -> str:
    return json.dumps([[16, 64, 256], counts, order])


def test_what_is_not_the_same_in_all_runs_is_told_with_what_each_has() -> None:
    runs = [{LINES: series(7, 7, 7), "cost/put": "held"}, {LINES: series(7, 7, 8)}]
    assert differing(runs) == {
        LINES: [series(7, 7, 7), series(7, 7, 8)],
        "cost/put": ["held", "missing"],
    }
    assert differing([runs[0], dict(runs[0])]) == {}


@pytest.mark.parametrize(
    ("name", "other", "hurried"),
    [
        (WRITTEN, series(595, 600, 600), True),
        (WRITTEN, series(595, 601, 595), False),
        (WRITTEN, series(595, 600, 600, order="linear"), False),
        (WRITTEN, "missing", False),
        (LINES, series(595, 600, 600), False),
    ],
)
def test_a_message_that_hurries_a_server_is_no_difference(
    name: str, other: str, hurried: bool
) -> None:
    assert is_hurry(name, [series(595, 595, 595), other]) is hurried
