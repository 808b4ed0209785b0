"""The comparison of makers of programs, on two wrong savers and two makers.

By night, a whole comparison: ``make ablation`` makes one as well.
"""

from __future__ import annotations

import pytest
from tests.conformance.ablation import Settings, cost, main, table, tried

from saverproof.families.functional.effort import ProgramMaker

ENUMERATED, RANDOM = ProgramMaker.ENUMERATED, ProgramMaker.RANDOM
TWO = Settings(frozenset({ENUMERATED, RANDOM}))


@pytest.mark.nightly
def test_a_maker_is_needed_for_what_the_others_miss() -> None:
    by_glob, lost = tried("filter-by-glob", TWO), tried("last-put-is-lost", TWO)
    assert (by_glob.found, by_glob.needed) == (True, {ENUMERATED})
    assert (lost.found, lost.needed) == (True, {RANDOM})
    assert [*table([by_glob, lost], TWO)][-3:] == [
        "found only with enumerated: filter-by-glob",
        "found only with random driver: last-put-is-lost",
        "missed by all: none",
    ]


def test_what_no_maker_finds_is_told_as_missed() -> None:
    missed = tried("filter-by-glob", Settings(frozenset({RANDOM})))
    assert not missed.found
    assert not missed.needed


def test_the_programs_of_a_maker_are_counted() -> None:
    assert cost(ENUMERATED, TWO).programs > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no-such-saver"], "no wrong saver that programs find is called 'no-such-saver'"),
        (["--every", "0"], "expected a number from 1, got '0'"),
        (["--makers", "dice"], "invalid choice: 'dice'"),
    ],
)
def test_bad_input_is_told_in_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    told = capsys.readouterr().err
    assert ended.value.code == 2
    assert said in told
    assert told.count("\n") == 1
