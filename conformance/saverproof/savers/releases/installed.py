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
"""How deep the requirements of requirements are followed, as far as the environment does not meet
them.
"""


@dataclass(frozen=True, slots=True)
class Release:
    """An older release in ``folder``. To play it, a process has that folder first on its path."""

    distribution: str
    version: str
    folder: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"


def cache_folder() -> Path:
    """Return the folder in which older releases are kept."""
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "saverproof" / "releases"


def kept(distribution: str, version: str) -> Release | None:
    """Return the release if it is in the cache, and the environment still has the other packages
    that it needs.
    """
    for folder in sorted(cache_folder().glob(f"{folder_name(distribution, version)}-*")):
        # A folder of this name is whole: it is given the name when all is in it.
        if not _unmet(folder):
            return Release(distribution, version, str(folder))
    return None


def installed(distribution: str, version: str) -> Release:
    """Return the release, from the cache, or else from the index of pip.

    Raises:
        ReleaseError: the release cannot be installed or kept.
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
    """Install a release into a hidden folder, and rename the folder once everything is there."""
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
    """Return the first part of the names of a release's folders, which is different for each Python
    and machine.
    """
    return f"{canonicalize_name(distribution)}-{version}-{_PYTHON}"


def _unmet(folder: Path) -> list[str]:
    """Return the requirements of the distributions in a folder that neither the folder nor the
    environment meets.
    """
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
    """Return whether this version meets a requirement; without a version, whether the environment
    does.
    """
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
