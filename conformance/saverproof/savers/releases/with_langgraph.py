"""Older releases of LangGraph itself, each in a folder with all that it needs."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from saverproof.savers.releases import pip
from saverproof.savers.releases.installed import (
    Release,
    cache_folder,
    folder_name,
    keep,
    set_aside,
    versions_in,
)
from saverproof.savers.releases.requested import LANGGRAPH


def kept_with_langgraph(version: str, distribution: str) -> Release | None:
    """Return an older LangGraph with a release of the distribution if it is in the cache. Without a
    distribution, or with one that is no release of an index, the installed saver is to be played.
    """
    beside = _beside(distribution)
    for folder in sorted(cache_folder().glob(f"{_name(version, beside)}-*")):
        # A folder of this name is whole: it is given the name when all is in it.
        if _suits(folder, distribution):
            return _release(folder, beside)
    return None


def installed_with_langgraph(version: str, distribution: str) -> Release:
    """Return an older LangGraph with the newest release of the distribution that goes with it, from
    the cache, or else from the index of pip. The version may end with ``.*``.

    Raises:
        ReleaseError: they cannot be installed or kept.
    """
    version = _newest(version)
    if (found := kept_with_langgraph(version, distribution)) is not None:
        return found
    beside = _beside(distribution)
    wanted = f"{LANGGRAPH}=={version}"
    requirements = [wanted, beside] if beside else [wanted, *map(str, _needs(distribution))]
    with set_aside(wanted) as aside:
        pip.install_with_all(requirements, aside)
        name = _name(versions_in(aside)[LANGGRAPH], beside)
        return _release(keep(aside, name), beside)


def _newest(version: str) -> str:
    """Return the newest release that a version with ``.*`` stands for. If the index has none, it is
    returned unchanged: pip says why.
    """
    if not version.endswith(".*"):
        return version
    series = SpecifierSet(f"=={version}")
    return next((one for one in pip.available(LANGGRAPH) if series.contains(one)), version)


def _release(folder: Path, beside: str) -> Release:
    there = versions_in(folder)
    return Release(beside, there.get(beside, ""), str(folder), there[LANGGRAPH])


def _name(version: str, beside: str) -> str:
    """Return the first part of the names of folders. No name of a distribution has a plus sign."""
    return folder_name(LANGGRAPH, f"{version}+{beside}")


def _beside(distribution: str) -> str:
    """Return the distribution's normalized name if it comes from an index.

    Return "" if it was installed from a folder or a file, for instance while it is being developed:
    no index has the code that is judged then.
    """
    if not distribution:
        return ""
    origin = metadata.distribution(distribution).read_text("direct_url.json")
    return canonicalize_name(distribution) if origin is None else ""


def _needs(distribution: str) -> Iterator[Requirement]:
    """Yield what the installed release of a distribution requires of LangGraph's own."""
    for text in (metadata.requires(distribution) or ()) if distribution else ():
        needed = Requirement(text)
        is_usual = needed.marker is None or needed.marker.evaluate({"extra": ""})
        if is_usual and canonicalize_name(needed.name).startswith(LANGGRAPH):
            yield needed


def _suits(folder: Path, distribution: str) -> bool:
    """Return whether the saver's release that is to be played goes with what is in a folder."""
    if _beside(distribution):
        return True
    there = versions_in(folder)
    return all(
        needed.specifier.contains(there.get(canonicalize_name(needed.name), ""), prereleases=True)
        for needed in _needs(distribution)
        if canonicalize_name(needed.name) in there
    )
