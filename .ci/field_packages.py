"""What the field report judges: the rows of field/packages.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FIELD = ROOT / "field"


@dataclass(frozen=True, slots=True)
class Release:
    """One release of a distribution, judged through one target."""

    name: str
    """The name of the saver on the page, and of its results."""
    distribution: str
    version: str
    target: str
    """What ``saverproof judge`` takes."""
    store: str
    """Where the saver keeps its data in this report, in words."""
    stands_in: str = ""
    """The service that the store stands in for, or ""."""
    families: str = ""
    """The families that are judged, as ``--saver-families`` takes them; "": all."""
    api: str = "both"
    """The API that is driven: sync, async or both."""
    extras: tuple[str, ...] = ()
    """Further requirements of the environment."""
    shipped: bool = True
    """Whether the kit ships what is known of it: not if its flaws are another package's."""

    @property
    def requirement(self) -> str:
        """The distribution at this release, as pip takes it."""
        return f"{self.distribution}=={self.version}"

    @property
    def stem(self) -> str:
        """The name of the file with its result."""
        return f"{self.name}-{self.version}"


@dataclass(frozen=True, slots=True)
class Absent:
    """A distribution that is not judged here, and why."""

    distribution: str
    version: str
    why: str


@dataclass(frozen=True, slots=True)
class Dispute:
    """A broken contract that is not held against a saver, since the kit may be wrong."""

    name: str
    contract: str
    why: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found in a saver's source about a contract that it breaks."""

    name: str
    contract: str
    where: str
    releases: tuple[str, ...] = ()
    """Releases of which a run says so that is not among the results."""


def packages() -> Iterator[Release]:
    """Yield each release to judge."""
    for one in _table("packages.toml")["package"]:
        row = dict(one)
        releases = row.pop("releases")
        extras = tuple(row.pop("extras", ()))
        for version in releases:
            yield Release(version=version, extras=extras, **row)


def absent() -> list[Absent]:
    """Return the distributions that are not judged."""
    return [Absent(**one) for one in _table("packages.toml").get("absent", [])]


def disputes() -> list[Dispute]:
    """Return what the page calls disputed."""
    return [Dispute(**one) for one in _table("readings.toml").get("dispute", [])]


def readings() -> list[Reading]:
    """Return what was read in sources."""
    rows = [dict(one) for one in _table("readings.toml").get("reading", [])]
    return [Reading(releases=tuple(row.pop("releases", ())), **row) for row in rows]


# The page asks for what was read in sources at each of hundreds of findings.
@cache
def _table(name: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = tomllib.loads((FIELD / name).read_text("utf-8"))
    return found
