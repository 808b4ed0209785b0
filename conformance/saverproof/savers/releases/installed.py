"""Older releases in folders of their own, kept in the user's cache folder."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
    """An older release in ``folder``. To play it, a process has that folder first on its path.

    ``langgraph`` is the version of an older LangGraph that is in the folder as well; "" if the
    installed one plays. ``distribution`` is "" if it is with the installed saver.
    """

    distribution: str
    version: str
    folder: str
    langgraph: str = ""

    def __str__(self) -> str:
        saver = f"{self.distribution} {self.version}" if self.distribution else ""
        older = f"langgraph {self.langgraph}" if self.langgraph else ""
        return " with ".join(filter(None, (older, saver)))


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
    wanted = f"{distribution}=={version}"
    with set_aside(wanted) as aside:
        _install(wanted, aside)
        place = keep(aside, folder_name(distribution, version))
    return Release(distribution, version, str(place))


@contextmanager
def set_aside(wanted: str) -> Iterator[Path]:
    """Yield a hidden folder, which is removed at the end unless it is kept until then.

    Raises:
        ReleaseError: what is ``wanted`` cannot be kept.
    """
    aside = cache_folder() / f".{secrets.token_hex(8)}"
    try:
        cache_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            yield aside
        finally:
            with suppress(FileNotFoundError):
                shutil.rmtree(aside)
    except OSError as error:
        raise ReleaseError(
            f"{wanted}: cannot be kept in {cache_folder()}: {describe(error)}"
        ) from None


def keep(aside: Path, name: str) -> Path:
    """Give a folder with everything in it a name that begins so, and return its place."""
    return aside.rename(aside.with_name(f"{name}-{secrets.token_hex(4)}"))


def _install(wanted: str, folder: Path) -> None:
    """Install a release, and of its requirements those that the environment does not meet."""
    requirements = [wanted]
    for _ in range(_ROUNDS):
        # Install all at once: pip adds nothing to a package that is in the folder already.
        pip.install(requirements, folder)
        if not (unmet := _unmet(folder)):
            return
        requirements += unmet
        shutil.rmtree(folder)
    raise ReleaseError(f"{wanted}: needs {', '.join(unmet)}, which do not go together")


def folder_name(distribution: str, version: str) -> str:
    """Return the first part of the names of a release's folders, which is different for each Python
    and machine.
    """
    return f"{canonicalize_name(distribution)}-{version}-{_PYTHON}"


def _unmet(folder: Path) -> list[str]:
    """Return the requirements of the distributions in a folder that neither the folder nor the
    environment meets.
    """
    there = versions_in(folder)
    return sorted(
        f"{needed.name}{needed.specifier}"
        for needed in set(_requirements(folder))
        if not _is_met(needed, there.get(canonicalize_name(needed.name)))
    )


def versions_in(folder: Path) -> dict[str, str]:
    """Return the versions of the distributions in a folder, by their normalized names."""
    return {
        canonicalize_name(one.name): one.version
        for one in metadata.distributions(path=[str(folder)])
    }


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
