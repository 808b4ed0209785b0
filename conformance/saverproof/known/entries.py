"""One known violation: a broken contract that a run is told to expect."""

from collections.abc import Iterable
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a known-violations file."""

    id: str
    """The contract."""
    reason: str
    link: str | None
    versions: str | None
    """The versions of the saver's distribution for which it holds ("<3.2"); None: all."""
    api: str | None
    """"sync", "async" or "crossed"; None: all."""
    example: str | None
    """Absolute path of an artefact that shows the violation."""
    file: str
    """The file that it stands in."""
    example_saver: str | None = None
    """The saver that the example was recorded on."""
    example_api: str | None = None
    """The API through which it was."""

    def covers(self, contract: str, api: str) -> bool:
        """Whether a violation of ``contract`` through ``api`` is the known one."""
        return self.id == contract and self.api in (None, api)

    def shows(self, saver: str) -> bool:
        """Whether the example is about the saver, so that running it again tells something."""
        return self.example is not None and self.example_saver == saver

    def holds_for(self, version: str | None) -> bool:
        """Whether the entry is about this version of the saver. An unknown version is covered."""
        if self.versions is None or version is None:
            return True
        return SpecifierSet(self.versions, prereleases=True).contains(version)


def entry_for(entries: Iterable[Entry], contract: str, api: str) -> Entry | None:
    """The first entry that covers the violation."""
    return next((entry for entry in entries if entry.covers(contract, api)), None)
