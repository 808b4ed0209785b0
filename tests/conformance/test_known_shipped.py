"""Known-violations files that come with the kit."""

from pathlib import Path
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

from saverproof.contracts.contract import Level
from saverproof.contracts.registry import contract
from saverproof.errors import KnownFileError
from saverproof.run.known.reading import read_known
from saverproof.run.known.shipped_files import FOLDER, shipped_for
from saverproof.savers.facts import Facts

SQLITE = "langgraph.checkpoint.sqlite.SqliteSaver"
FILES = sorted(FOLDER.glob("*.toml"))


def facts_of(saver_class: str, version: str) -> Facts:
    facts: Any = {"saver_class": saver_class, "distribution": "their-saver", "version": version}
    return facts


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_shipped_entry_names_releases_and_which_mends_it(file: Path) -> None:
    for entry in read_known(file):
        assert contract(entry.id).level is Level.MUST
        # A release that nobody has looked at is not excused.
        assert any(one.operator in ("==", "<=", "<") for one in SpecifierSet(entry.versions or ""))
        assert "mended in " in entry.reason or "not mended by " in entry.reason


def test_each_release_gets_its_own_flaws() -> None:
    old, new = (
        {entry.id for entry in shipped_for(facts_of(SQLITE, version))}
        for version in ("3.1.1", "3.1.2")
    )
    assert "ordering/writes-sorted" in old - new
    assert "upsert/special-write-last-wins-mixed" in old & new


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (facts_of("their.Saver", "1.0"), rf"found no file for their.Saver, expected .*{SQLITE}"),
        (
            facts_of(SQLITE, "9.0"),
            r"found their-saver 9.0, expected a release that the file is for: <=3.1.2,>=3.1.1 or =",
        ),
    ],
)
def test_what_is_not_shipped_is_told_in_one_line(facts: Facts, said: str) -> None:
    with pytest.raises(KnownFileError, match=f"--saver-known=shipped: {said}"):
        shipped_for(facts)
