"""Find known violations that no longer occur."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from saverproof.contracts.registry import family_table
from saverproof.run.known.entries import Entry
from saverproof_reports.steadiness import BY_TIMING


@dataclass(frozen=True, slots=True)
class StaleEntry:
    """An entry whose contract was judged, and held."""

    entry: Entry
    fails: bool
    """True if it is certain enough that the violation is gone to fail the run."""

    @property
    def line(self) -> str:
        """The message for the user, in one line."""
        through = f" through the {self.entry.api} API" if self.entry.api else ""
        return f"{self.entry.file}: {self.entry.id} held{through}; " + (
            "remove the entry" if self.fails else "is the entry stale? (not certain)"
        )


def stale(
    entries: Iterable[Entry], contracts: Iterable[Mapping[str, Any]], profile: str, saver: str
) -> Iterator[StaleEntry]:
    """Yield the entries whose contract held for ``saver``, given the saver's ``contracts`` in a
    report.

    A search may miss a violation. So only the deep profile makes it certain that a violation is
    gone, and nothing does if the violation depends on timing. A contract that was not exercised,
    through the entry's API if it names one, is never stale. Entries with an example of this saver
    are left out: they are judged by running the example. Entries of the kit are left out, as users
    cannot remove them.
    """
    judged = {contract["id"]: contract for contract in contracts}
    for entry in entries:
        contract = judged.get(entry.id)
        if entry.from_kit or entry.shows(saver) or contract is None:
            continue
        if _held(entry, contract):
            steady = family_table(contract["id"].partition("/")[0]).phase not in BY_TIMING
            yield StaleEntry(entry, fails=steady and profile == "deep")


def _held(entry: Entry, contract: Mapping[str, Any]) -> bool:
    if contract["verdict"] == "unknown":
        return False
    if any(entry.covers(entry.id, violation["api"]) for violation in contract["violations"]):
        return False
    checked: Mapping[str, int] = contract["checked"]
    return any(times for api, times in checked.items() if entry.api in (None, api))
