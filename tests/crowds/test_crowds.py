"""What is seen is said: no flaw of a saver with several is held, or lost in a green run.

A fixed sample here, most of it by night; ``make crowds`` measures all pairs and drawn sets.
"""

from __future__ import annotations

import pytest

from saverproof.mistakes import MISTAKES
from tests.crowds.composing import Crowd
from tests.crowds.first_savers import FIRST
from tests.crowds.flawed import FlawedSaver, families_of
from tests.crowds.judging import SILENT, Judgement, judge
from tests.crowds.mending import mend
from tests.nights import by_night

PAIRS = (("before-inclusive", "async-list-without-before"),)
"""Two mistakes each, of which one is near the other, or hides it."""
PAIRS_BY_NIGHT = (
    ("writes-by-insertion", "regular-write-replaced"),
    ("list-defaults-to-root", "limit-none-raises"),
    ("empty-id-narrows-the-list", "filter-none-raises"),
    ("first-put-wins", "filter-without-case"),
    ("resume-not-special", "mixed-batch-replaces"),
    ("writes-by-row-id", "regular-write-replaced"),
    ("writes-by-index-only", "regular-write-replaced"),
    ("writes-by-path-only", "special-writes-pile-up"),
    ("root-has-aparent-config", "empty-id-is-aparent"),
    ("last-path-of-the-task", "regular-write-replaced"),
    ("first-path-of-the-task", "unsigned-indexes"),
    ("no-special-indexes", "regular-write-replaced"),
)
"""Other pairs of the same kinds."""
SETS = (
    (
        "empty-batch-refused",
        "empty-values-as-dicts",
        "values-copied-shallowly",
        "limit-zero-is-refused",
        "metadata-keys-cut",
    ),
)


def crowd(names: tuple[str, ...]) -> Crowd:
    """The saver with the mistakes of these names."""
    known = {mistake.name: mistake for mistake in MISTAKES}
    return Crowd(tuple(known[name] for name in names))


def assert_nothing_is_lost(saver: FlawedSaver) -> Judgement:
    """Each flaw is told by its own contract, or the run fails and says what is open."""
    found = judge(saver)
    told = {flaw.name: found.of(flaw) for flaw in saver.flaws}
    assert not {name: each for name, each in told.items() if each in SILENT}, found.order
    return found


def assert_rightly_told(saver: Crowd) -> None:
    """Beside that, nothing is accused that none of the mistakes breaks, and no cause twice."""
    found = assert_nothing_is_lost(saver)
    broken = {name for each in saver.mistakes for name in (each.breaks, *each.also)}
    assert not found.findings.keys() - broken
    assert not found.twice


@pytest.mark.parametrize("names", [*PAIRS, *map(by_night, PAIRS_BY_NIGHT)], ids=" + ".join)
def test_of_two_mistakes_neither_is_lost(names: tuple[str, ...]) -> None:
    assert_rightly_told(crowd(names))


@pytest.mark.nightly
@pytest.mark.parametrize("names", SETS, ids=" + ".join)
def test_of_several_mistakes_none_is_lost(names: tuple[str, ...]) -> None:
    assert_rightly_told(crowd(names))


@pytest.mark.nightly
@pytest.mark.parametrize("names", PAIRS_BY_NIGHT[:1], ids=" + ".join)
def test_mending_in_the_order_of_the_report_comes_to_an_end(names: tuple[str, ...]) -> None:
    mending = mend(crowd(names))
    assert mending.ended, mending


@pytest.mark.nightly
def test_a_first_saver_loses_neither_of_its_two_flaws() -> None:
    [saver] = (one for one in FIRST if one.name == "two-flaws")
    assert_nothing_is_lost(saver.in_families(families_of(saver.flaws)))


@pytest.mark.nightly
def test_what_cannot_stand_beside_a_mistake_is_not_hidden_by_it() -> None:
    """One statement for a batch cannot also be another one for each write."""
    found = judge(crowd(("mixed-batch-ignores",)))
    assert not {name: why for name, why in found.reasons.items() if "may hide" in why}
    assert found.verdicts["upsert/regular-write-first-wins"] == "held"


@pytest.mark.nightly
def test_what_two_mistakes_answer_exactly_hides_no_third() -> None:
    """Where the order of pending writes is wrong, another mistake would still change it."""
    found = judge(crowd(("writes-by-row-id", "regular-write-replaced")))
    assert not {name: why for name, why in found.reasons.items() if "may hide" in why}


def test_what_is_never_shown_stays_hidden() -> None:
    """Where every listing raises, nobody knows what one would show."""
    found = judge(crowd(("list-defaults-to-root", "limit-none-raises")))
    assert "may hide" in found.reasons["identity/parent"]


@pytest.mark.parametrize(
    "name",
    [
        "history-newest-first",
        "history-goes-round",
        "nested-chains-cut",
        "nested-chains-of-runs-cut",
    ],
)
def test_what_is_made_of_wrong_reads_is_not_held(name: str) -> None:
    """Where no parent is shown, nothing is rebuilt from ancestors, whatever a walk would do."""
    saver = crowd(("no-parents", name))
    found = assert_nothing_is_lost(saver)
    assert found.verdicts[saver.mistakes[1].breaks] == "not-exercised"
    assert "identity/parent" in found.reasons[saver.mistakes[1].breaks]
