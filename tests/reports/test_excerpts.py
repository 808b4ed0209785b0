"""Two long texts are shown by what differs between them."""

import pytest

from saverproof_reports.excerpts import SHORT, excerpts

LONG = "'values': {" + ", ".join(f"'key{n}': {n}" for n in range(80)) + "}"


def test_short_texts_are_shown_whole() -> None:
    assert excerpts("[1, 2]", "[2, 1]" * 20) == ("[1, 2]", "[2, 1]" * 20)


@pytest.mark.parametrize("at", ["'key0'", "'key40'", "'key79'"])
def test_of_long_texts_what_differs_is_left(at: str) -> None:
    expected, observed = excerpts(LONG, LONG.replace(at, "'other'"))
    assert at in expected
    assert "'other'" in observed
    assert max(len(expected), len(observed)) < SHORT


def test_two_places_far_apart_are_both_shown() -> None:
    expected, observed = excerpts(LONG, LONG.replace("'key10'", "'a'").replace("'key60'", "'b'"))
    assert "'key10'" in expected
    assert "'key60'" in expected
    assert "'key30'" not in expected + observed
    assert "'a'" in observed
    assert "'b'" in observed


def test_a_text_that_lacks_a_part_shows_the_part_of_the_other() -> None:
    expected, observed = excerpts(LONG, LONG.replace("'key40': 40, ", ""))
    assert "'key40': 40" in expected
    assert "'key40'" not in observed


def test_equal_and_empty_texts_are_no_trouble() -> None:
    assert excerpts("", "") == ("", "")
    same, other = excerpts(LONG, LONG)
    assert same == other
    assert len(same) < SHORT


def test_what_differs_in_whole_is_cut_and_says_so() -> None:
    expected, observed = excerpts("nothing", "word " * 2_000)
    assert expected == "nothing"
    assert len(observed) < 450
    assert observed.endswith("(10,000 characters, all of them in the report)")


def test_of_many_lines_the_first_are_shown() -> None:
    _, observed = excerpts("an answer", "\n".join(f"line {n}" for n in range(100)))
    assert observed.splitlines()[-1] == "(92 more lines in the report)"
    assert len(observed.splitlines()) == 9
