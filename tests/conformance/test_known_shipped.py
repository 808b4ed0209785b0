"""Known-violations files that come with the kit."""

from typing import Any

import pytest

from saverproof.contracts.contract import Level
from saverproof.contracts.registry import contract
from saverproof.errors import KnownFileError
from saverproof.run.known.shipped_files import (
    ShippedFile,
    check_shipped,
    shipped_files,
    shipped_for,
    shipped_line,
)
from saverproof.savers.facts import Facts

SQLITE = "langgraph.checkpoint.sqlite.SqliteSaver"
FILES = shipped_files()


def facts_of(saver_class: str, version: str | None) -> Facts:
    facts: Any = {
        "name": "theirs",
        "saver_class": saver_class,
        "distribution": "their-saver",
        "version": version,
    }
    return facts


@pytest.mark.parametrize("shipped", FILES.values(), ids=FILES)
def test_a_shipped_entry_names_releases_and_which_mends_it(shipped: ShippedFile) -> None:
    flawed = {entry for release in shipped.releases for entry in shipped.flaws_of(release)}
    # An entry for none of the releases that were looked at would never count.
    assert flawed == set(shipped.entries)
    for entry in shipped.entries:
        assert contract(entry.id).level is Level.MUST
        assert entry.versions
        assert entry.from_kit
        assert "mended in " in entry.reason or "not mended by " in entry.reason


def test_each_release_gets_its_own_flaws() -> None:
    old, new = (
        {entry.id for entry in shipped_for(facts_of(SQLITE, version))}
        for version in ("3.1.1", "3.1.2")
    )
    assert "ordering/writes-sorted" in old - new
    assert "upsert/special-write-last-wins-mixed" in old & new


@pytest.mark.parametrize("version", ["3.1", "3.1.1.post1", "3.1.3", None])
def test_a_release_that_nobody_has_looked_at_is_excused_nothing(version: str | None) -> None:
    assert shipped_for(facts_of(SQLITE, version)) == ()


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (
            facts_of("their.Saver", "1.0"),
            "found no file for their.Saver, expected one of the savers that saverproof list known",
        ),
        (
            facts_of(SQLITE, "9.0"),
            "found their-saver 9.0, expected a release that the file is for: 3.1.0, 3.1.1 or 3.1.2",
        ),
    ],
)
def test_what_is_not_shipped_and_was_asked_for_is_told_in_one_line(facts: Facts, said: str) -> None:
    with pytest.raises(KnownFileError, match=f"^--saver-known=shipped: {said}"):
        check_shipped(facts)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (facts_of("their.Saver", "1.0"), None),
        (
            facts_of(SQLITE, "3.1.2"),
            "known: theirs: their-saver 3.1.2 breaks 4 contracts that the kit knows of, which "
            "fails nothing (--saver-known=none: it does)",
        ),
        (
            facts_of(SQLITE, "9.0"),
            "known: theirs: none of their-saver 9.0: the kit's file is for 3.1.0, 3.1.1 or 3.1.2",
        ),
    ],
)
def test_a_run_says_at_its_start_what_the_kit_knows(facts: Facts, said: str | None) -> None:
    assert shipped_line(facts) == said
