"""What `make steady` takes for equal, and what not."""

from __future__ import annotations

import json

import pytest
from tests.conformance.cost.steady_counts import differing, is_known

WRITTEN = "sync / cost/put / put of one more checkpoint / checkpoint in the thread / written"
KEPT = WRITTEN.replace("written", "kept")
MEMORY = WRITTEN.replace("written", "memory")
BLOCKS = WRITTEN.replace("written", "blocks")
LINES = WRITTEN.replace("written", "lines")


def series(*counts: int, order: str = "constant") -> str:
    return json.dumps([[16, 64, 256], counts, order])


BYTES = series(595, 595, 595)
PAGES = series(65_536, 131_072, 131_072)


def test_what_is_not_the_same_in_all_runs_is_told_with_what_each_has() -> None:
    runs = [{LINES: series(7, 7, 7), "cost/put": "held"}, {LINES: series(7, 7, 8)}]
    assert differing(runs) == {
        LINES: [series(7, 7, 7), series(7, 7, 8)],
        "cost/put": ["held", "missing"],
    }
    assert differing([runs[0], dict(runs[0])]) == {}


@pytest.mark.parametrize(
    ("name", "first", "other", "known"),
    [
        (WRITTEN, BYTES, series(595, 600, 600), True),
        (WRITTEN, BYTES, series(595, 601, 595), False),
        (WRITTEN, BYTES, series(595, 600, 600, order="linear"), False),
        (WRITTEN, BYTES, "missing", False),
        (BLOCKS, BYTES, series(595, 619, 595), True),
        (BLOCKS, BYTES, series(595, 620, 595), False),
        (KEPT, series(98_304, 98_304, 98_304), series(98_304, 98_304, 131_072), True),
        (KEPT, series(98_304, 98_304, 98_304), series(98_304, 98_304, 163_840), False),
        (KEPT, series(4_096, 4_096, 4_096), series(4_096, 4_096, 8_192), False),
        (MEMORY, series(65_536, 65_536, 65_536), series(65_536, 131_072, 65_536), True),
        (MEMORY, series(65_536, 65_536, 65_536), series(65_536, 196_608, 65_536), False),
        (MEMORY, PAGES, PAGES.replace("constant", "logarithmic"), True),
        (MEMORY, PAGES, PAGES.replace("constant", "linear"), False),
        (LINES, BYTES, series(595, 600, 600), False),
    ],
)
def test_a_message_that_hurries_a_server_and_a_step_of_memory_are_no_difference(
    name: str, first: str, other: str, known: bool
) -> None:
    assert is_known(name, [first, other]) is known
