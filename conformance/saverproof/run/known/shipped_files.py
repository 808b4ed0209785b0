"""Known flaws of released savers, in files that come with the kit.

A file is named after the saver's class. ``releases`` are the releases that were judged, with a flaw
or without. The tables are as in any known-violations file, each with ``versions``. ``.ci/field.py
known`` writes the files from the results of the field.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from saverproof.errors import KnownFileError
from saverproof.run.known.entries import Entry
from saverproof.run.known.reading import entries_of, read_toml
from saverproof.savers.facts import Facts
from saverproof_reports.wording import count_of

SHIPPED = "shipped"
"""The value of ``--saver-known`` that asks for the kit's file on the saver, and fails if there is
none.
"""
NONE = "none"
"""The value of ``--saver-known`` that leaves out the kit's files."""
FOLDER = Path(__file__).with_name("shipped")
_OFF = f", which fails nothing (--saver-known={NONE}: it does)"


@dataclass(frozen=True, slots=True)
class ShippedFile:
    """The flaws of some releases of a saver."""

    releases: tuple[str, ...]
    entries: tuple[Entry, ...]

    @classmethod
    def of(cls, saver_class: str) -> "ShippedFile | None":
        """Return the file for a saver's class, or None if the kit has none."""
        path = FOLDER / f"{saver_class}.toml"
        return cls.read(path) if path.is_file() else None

    @classmethod
    def read(cls, path: Path) -> "ShippedFile":
        """Read a file of the kit."""
        data = read_toml(path)
        return cls(tuple(data["releases"]), entries_of(path, data, from_kit=True))

    def flaws_of(self, release: str | None) -> tuple[Entry, ...]:
        """Return the flaws of a release; none if the release was never judged."""
        if release not in self.releases:
            return ()
        return tuple(entry for entry in self.entries if entry.holds_for(release))


def shipped_files() -> Mapping[str, ShippedFile]:
    """Return every file of the kit, by the class of its saver."""
    return {path.stem: ShippedFile.read(path) for path in sorted(FOLDER.glob("*.toml"))}


def shipped_for(facts: Facts) -> tuple[Entry, ...]:
    """Return the known flaws of this release of a saver; none if the release was never judged."""
    file = ShippedFile.of(facts["saver_class"])
    return () if file is None else file.flaws_of(facts["version"])


def check_shipped(facts: Facts) -> None:
    """Raise an error for a saver of which the kit knows nothing.

    Raises:
        KnownFileError: there is no file for the saver's class, or its release was never judged;
            one line says which ones were.
    """
    file = ShippedFile.of(facts["saver_class"])
    if file is None:
        raise KnownFileError(
            f"--saver-known={SHIPPED}: found no file for {facts['saver_class']}, expected one of "
            "the savers that saverproof list known names"
        )
    if facts["version"] not in file.releases:
        raise KnownFileError(
            f"--saver-known={SHIPPED}: found {facts['distribution']} {facts['version']}, expected "
            f"a release that the file is for: {joined(file.releases)}"
        )


def shipped_line(facts: Facts) -> str | None:
    """Return what the start of a run says of the flaws that the kit knows; None if the kit has no
    file for the saver.
    """
    file = ShippedFile.of(facts["saver_class"])
    if file is None:
        return None
    judged = f"{facts['distribution']} {facts['version']}"
    if facts["version"] not in file.releases:
        return (
            f"known: {facts['name']}: none of {judged}: the kit's file is for "
            f"{joined(file.releases)}"
        )
    count = len({entry.id for entry in file.flaws_of(facts["version"])})
    broken = count_of(count, "contract") if count else "nothing"
    return (
        f"known: {facts['name']}: {judged} breaks {broken} that the kit knows of"
        f"{_OFF if count else ''}"
    )


def joined(releases: Sequence[str]) -> str:
    """Return releases in words."""
    *first, last = releases
    return f"{', '.join(first)} or {last}" if first else last
