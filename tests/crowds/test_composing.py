"""Mistakes that stand together in one saver, and the programs that show each alone.

Large sets are drawn by night.
"""

from __future__ import annotations

from inspect import get_annotations
from itertools import islice

import pytest

from saverproof.mistakes import MISTAKES, Mistake
from saverproof.mistakes.reference.saver import ReferenceSaver
from tests.crowds.composing import Crowd, composed
from tests.crowds.drawing import candidates, sets
from tests.nights import by_night


def named(*names: str) -> list[Mistake]:
    """Mistakes by name."""
    known = {mistake.name: mistake for mistake in MISTAKES}
    return [known[name] for name in names]


def test_mistakes_that_leave_each_other_alone_stand_together() -> None:
    crowd = composed(named("writes-by-insertion", "regular-write-replaced"))
    assert crowd is not None
    assert {flaw.contract for flaw in crowd.flaws} == {
        "ordering/writes-sorted",
        "upsert/regular-write-first-wins",
    }


def test_the_order_is_that_in_which_both_show() -> None:
    # What replaces a method as a whole has to be asked last.
    for names in (("insert-only", "metadata-merged"), ("metadata-merged", "insert-only")):
        crowd = composed(named(*names))
        assert crowd is None or all(map(crowd.shows, crowd.mistakes))


@pytest.mark.parametrize(
    "names",
    [
        ("first-put-wins", "insert-only"),
        ("regular-write-replaced", "special-write-first-wins"),
        ("writes-by-insertion", "write-path-without-case"),
    ],
    ids=" + ".join,
)
def test_a_mistake_that_another_covers_does_not_stand(names: tuple[str, ...]) -> None:
    assert composed(named(*names)) is None


def test_a_saver_without_mistakes_answers_as_the_right_one() -> None:
    [mistake] = named("regular-write-replaced")
    crowd = Crowd((mistake,))
    assert crowd.stands
    assert crowd.without([mistake.name]) == Crowd(())


@pytest.mark.parametrize("size", [5, by_night(10)])
def test_sets_are_drawn_by_seed_and_all_of_a_set_show(size: int) -> None:
    first, again = (next(sets(size, seed=3)) for _ in range(2))
    assert first == again
    assert len(first.mistakes) == size
    assert first.stands
    assert [*islice(sets(size, seed=4), 1)] != [first]


def test_hardly_a_mistake_is_in_no_crowd() -> None:
    # A tenth hangs, takes seconds, or is found by longer runs alone.
    assert len(candidates()) > 0.9 * len(MISTAKES)


def test_no_two_mistakes_mean_different_things_by_one_name() -> None:
    """Composed, the one would call what the other has made for itself."""
    introduced: dict[str, set[str]] = {}
    for each in {base for mistake in MISTAKES for base in mistake.saver.__mro__}:
        known = {n for base in each.__mro__[1:] for n in (*vars(base), *get_annotations(base))}
        if issubclass(each, ReferenceSaver) and each is not ReferenceSaver:
            for name in vars(each).keys() - known:
                introduced.setdefault(name, set()).add(each.__qualname__)
    assert not {name: who for name, who in introduced.items() if len(who) > 1}
