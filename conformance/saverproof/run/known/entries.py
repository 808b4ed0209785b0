"""An entry of a known-violations file: a broken contract that a run is told to expect."""

from collections.abc import Iterable
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a known-violations file."""

    id: str
    """The id of the contract."""
    reason: str
    link: str | None
    versions: str | None
    """The versions of the saver's distribution that have the violation ("<3.2"); None: all."""
    api: str | None
    """"sync", "async" or "crossed"; None: all."""
    example: str | None
    """Absolute path of an artefact that shows the violation."""
    file: str
    """The path of the known-violations file, for messages."""
    from_kit: bool = False
    """True if the file came with the kit, and is not the author's."""
    example_saver: str | None = None
    """The saver that the example was recorded on; None without an example."""
    example_api: str | None = None
    """The API through which the example was recorded; None without an example."""

    def covers(self, contract: str, api: str) -> bool:
        """Return whether the entry covers a violation of ``contract`` through ``api``."""
        return self.id == contract and self.api in (None, api)

    def shows(self, saver: str) -> bool:
        """Return whether the entry's example is about the saver, so that it can be replayed on
        it.
        """
        return self.example is not None and self.example_saver == saver

    def holds_for(self, version: str | None) -> bool:
        """Return whether the entry covers this version of the saver; unknown versions are
        covered.
        """
        if self.versions is None or version is None:
            return True
        return SpecifierSet(self.versions, prereleases=True).contains(version)


def entry_for(entries: Iterable[Entry], contract: str, api: str) -> Entry | None:
    """Return the first entry that covers the violation, or None."""
    return next((entry for entry in entries if entry.covers(contract, api)), None)
