"""The files of known flaws that the kit ships, made of the results and of what was read.

A saver is left out where it was judged on a stand-in: a flaw may be the stand-in's there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import tomlkit
from field_packages import Release, packages, readings
from field_page import Saver, savers

_HEAD = """\
Flaws of released versions of {distribution} ({name}). Each was read in the saver's source;
the reason says where, and which release mends it.
Families that were judged: {families}, through {api}.
Generated from field/results and field/readings.toml: make pages
"""
_APIS = {"both": "both APIs", "sync": "the sync API", "async": "the async API"}


@dataclass(frozen=True, slots=True)
class Flaw:
    """A contract, and the judged releases that break it, the oldest first."""

    contract: str
    where: str
    broken_in: tuple[str, ...]
    mended_in: str | None

    def reason(self) -> str:
        """Say which release mends it, and what was read."""
        if self.mended_in is None:
            return f"not mended by {self.broken_in[-1]}: {self.where}"
        return f"mended in {self.mended_in}: {self.where}"


def shipped() -> Mapping[str, str]:
    """Return the files that the kit ships, by the class of the saver."""
    of_class: dict[str, list[Saver]] = {}
    for one in savers():
        if one.judged and one.release.shipped and not one.release.stands_in:
            of_class.setdefault(one.result["class"], []).insert(0, one)
    texts = {name: _text(name, found) for name, found in sorted(of_class.items())}
    return {name: text for name, text in texts.items() if text is not None}


def _text(saver_class: str, found: list[Saver]) -> str | None:
    """Return the file of one saver, of judged releases, the oldest first; None without flaws."""
    flaws = list(_flaws(found))
    if not flaws:
        return None
    release: Release = found[-1].release
    document = tomlkit.document()
    head = _HEAD.format(
        distribution=release.distribution,
        name=saver_class.rpartition(".")[2],
        families=release.families.replace(",", ", ") or "all",
        api=_APIS[release.api],
    )
    for line in head.splitlines():
        document.add(tomlkit.comment(line))
    document.add(tomlkit.nl())
    releases = [one.release.version for one in found]
    document.add("releases", tomlkit.item(releases))
    document.add(tomlkit.nl())
    entries = tomlkit.aot()
    for flaw in flaws:
        for versions in _specifiers(flaw.broken_in, releases):
            entry = tomlkit.table()
            entry.add("id", flaw.contract)
            entry.add("reason", flaw.reason())
            entry.add("versions", versions)
            entries.append(entry)
    document.add("known", entries)
    return tomlkit.dumps(document)


def _flaws(found: list[Saver]) -> Iterator[Flaw]:
    """Yield what was read and is not in dispute, in the order of the readings."""
    listed = {one.version for one in packages() if one.name == found[-1].release.name}
    for reading in readings():
        if reading.name != found[-1].release.name:
            continue
        assert set(reading.releases) <= listed
        broken = tuple(
            one.release.version
            for one in found
            if one.release.version in reading.releases
            or reading.contract in {finding.id for finding in one.findings}
        )
        if broken:
            yield Flaw(
                reading.contract, reading.where, broken, _mended(reading.contract, broken, found)
            )


def _mended(contract: str, broken: tuple[str, ...], found: list[Saver]) -> str | None:
    """Return the first release after the last broken one that was seen to keep the contract."""
    versions = [one.release.version for one in found]
    for one in found[versions.index(broken[-1]) + 1 :]:
        if contract in one.result["others"]["must"].get("held", ()):
            return one.release.version
    return None


def _specifiers(broken: tuple[str, ...], releases: list[str]) -> Iterator[str]:
    """Yield a specifier for each run of neighbours among the judged releases."""
    run: list[str] = []
    for release in [*releases, None]:
        if release in broken:
            run.append(str(release))
        elif run:
            yield f"=={run[0]}" if len(run) == 1 else f">={run[0]},<={run[-1]}"
            run = []
