"""Older releases in folders of their own, kept in the user's cache folder."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from saverproof.errors import ReleaseError, describe
from saverproof.savers.releases import pip

_PYTHON = f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}"
_ROUNDS = 5
"""How deep requirements of requirements may go that the environment does not meet."""


@dataclass(frozen=True, slots=True)
class Release:
    """An older release, installed in ``folder``, which goes first on the path of a process."""

    distribution: str
    version: str
    folder: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"


def cache_folder() -> Path:
    """Return where older releases are kept."""
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "saverproof" / "releases"


def kept(distribution: str, version: str) -> Release | None:
    """The release if it is in the cache, and the environment still has what it needs beside it."""
    for folder in sorted(cache_folder().glob(f"{folder_name(distribution, version)}-*")):
        # A folder of this name is whole: it is given the name when all is in it.
        if not _unmet(folder):
            return Release(distribution, version, str(folder))
    return None


def installed(distribution: str, version: str) -> Release:
    """The release, from the cache, or else from the index of pip.

    Raises:
        ReleaseError: it cannot be had, or not be kept.
    """
    if (found := kept(distribution, version)) is not None:
        return found
    try:
        cache_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        return _install(distribution, version)
    except OSError as error:
        raise ReleaseError(
            f"{distribution}=={version}: cannot be kept in {cache_folder()}: {describe(error)}"
        ) from None


def _install(distribution: str, version: str) -> Release:
    """Install it aside, and give it its name only when all is there."""
    place = cache_folder() / f"{folder_name(distribution, version)}-{secrets.token_hex(4)}"
    aside = place.with_name(f".{place.name}")
    requirements = [f"{distribution}=={version}"]
    try:
        for _ in range(_ROUNDS):
            # All at once: of a package that is in the folder, pip would add nothing to it.
            pip.install(requirements, aside)
            if not (unmet := _unmet(aside)):
                aside.rename(place)
                return Release(distribution, version, str(place))
            requirements += unmet
            shutil.rmtree(aside)
    finally:
        with suppress(FileNotFoundError):
            shutil.rmtree(aside)
    raise ReleaseError(f"{requirements[0]}: needs {', '.join(unmet)}, which do not go together")


def folder_name(distribution: str, version: str) -> str:
    """Return what the names of a release's folders begin with: it is of one Python and machine."""
    return f"{canonicalize_name(distribution)}-{version}-{_PYTHON}"


def _unmet(folder: Path) -> list[str]:
    """Return what the distributions in a folder need that neither it nor the environment has."""
    there = {
        canonicalize_name(one.name): one.version
        for one in metadata.distributions(path=[str(folder)])
    }
    return sorted(
        f"{needed.name}{needed.specifier}"
        for needed in set(_requirements(folder))
        if not _is_met(needed, there.get(canonicalize_name(needed.name)))
    )


def _is_met(needed: Requirement, version: str | None) -> bool:
    """Return whether that version will do; without one, what the environment has."""
    if version is None:
        try:
            version = metadata.version(needed.name)
        except metadata.PackageNotFoundError:
            return False
    return needed.specifier.contains(version, prereleases=True)


def _requirements(folder: Path) -> Iterator[Requirement]:
    for one in metadata.distributions(path=[str(folder)]):
        for needed in map(Requirement, one.requires or ()):
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                yield needed
