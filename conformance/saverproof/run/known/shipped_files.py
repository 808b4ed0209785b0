"""Known flaws of released savers, in files that come with the kit (``--saver-known=shipped``)."""

from collections.abc import Iterable
from pathlib import Path

from packaging.specifiers import SpecifierSet

from saverproof.errors import KnownFileError
from saverproof.run.known.entries import Entry
from saverproof.run.known.reading import read_known
from saverproof.savers.facts import Facts

SHIPPED = "shipped"
"""The value of ``--saver-known`` that stands for the files of the kit."""
FOLDER = Path(__file__).with_name("shipped")


def shipped_for(facts: Facts) -> tuple[Entry, ...]:
    """Return the flaws that this release of a saver is known to have.

    Raises:
        KnownFileError: there is no file for the saver's class, or none of its entries is for its
            release; one line says what there is.
    """
    file = FOLDER / f"{facts['saver_class']}.toml"
    if not file.is_file():
        there = ", ".join(sorted(path.stem for path in FOLDER.glob("*.toml")))
        raise KnownFileError(
            f"--saver-known={SHIPPED}: found no file for {facts['saver_class']}, "
            f"expected one of {there}"
        )
    entries = read_known(file)
    found = tuple(entry for entry in entries if entry.holds_for(facts["version"]))
    if not found:
        releases = " or ".join(_releases(entries))
        raise KnownFileError(
            f"--saver-known={SHIPPED}: found {facts['distribution']} {facts['version']}, expected "
            f"a release that the file is for: {releases}"
        )
    return found


def _releases(entries: Iterable[Entry]) -> Iterable[str]:
    """Return the version specifiers of the entries, each once, in order."""
    return dict.fromkeys(str(SpecifierSet(entry.versions or "")) for entry in entries)
