"""Reads which older releases a user asks for: by version, or by a name such as "previous"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from saverproof.errors import ReleaseError

PREVIOUS, PREVIOUS_MAJOR, ALL = "previous", "previous-major", "all"
_BY_NAME = (PREVIOUS, PREVIOUS_MAJOR, ALL)
EXPECTED = f"expected DISTRIBUTION==VERSION, or one of {', '.join(_BY_NAME)}"
LANGGRAPH = "langgraph"
"""The distribution of LangGraph itself. Any saver can be judged with an older one."""
_WHOLE_VERSION = 3
"""How many numbers the version of a release of LangGraph has."""


@dataclass(frozen=True, slots=True)
class Requested:
    """The releases that a user asks for: one version of a ``distribution``, or without one, the
    releases of every saver's distribution that the name in ``version`` stands for.

    A version of LangGraph may end with ``.*``: its newest release that begins so.
    """

    version: str
    distribution: str = ""

    @property
    def is_by_name(self) -> bool:
        """True if releases are asked for by a name, so that the index has to be asked which ones
        exist.
        """
        return not self.distribution

    @property
    def is_of_langgraph(self) -> bool:
        """True if LangGraph itself is to be older."""
        return self.distribution == LANGGRAPH

    def is_of(self, distribution: str) -> bool:
        """Return whether releases of this distribution are asked for."""
        return self.is_by_name or canonicalize_name(distribution) == self.distribution


def requested(text: str) -> Requested:
    """Return what the option's text asks for.

    Raises:
        ReleaseError: the text is neither one release nor a name of releases.
    """
    if text in _BY_NAME:
        return Requested(text)
    try:
        requirement = Requirement(text)
        (only,) = requirement.specifier
        name = canonicalize_name(requirement.name)
        version = _version(name, only.version)
    except (InvalidRequirement, InvalidVersion, ValueError):
        raise ReleaseError(f"found {text!r}, {EXPECTED}") from None
    plain = not (requirement.extras or requirement.marker or requirement.url)
    if only.operator != "==" or not plain:
        raise ReleaseError(f"found {text!r}, {EXPECTED}")
    return Requested(version, name)


def _version(distribution: str, text: str) -> str:
    """Return the version that a text stands for.

    Raises:
        InvalidVersion: it stands for none.
    """
    if distribution != LANGGRAPH:
        Version(text)
        return text
    begins = text.removesuffix(".*")
    version = Version(begins)
    is_short = len(version.release) < _WHOLE_VERSION and str(version) == version.base_version
    return f"{begins}.*" if is_short or text != begins else begins


def chosen_of(name: str, available: Iterable[str], installed: str) -> list[str]:
    """Return the releases that a name stands for, the newest first.

    Raises:
        ReleaseError: the index has no such release.
    """
    present = Version(installed)
    older = sorted((v for v in map(Version, available) if v < present), reverse=True)
    if name == PREVIOUS_MAJOR:
        older = [version for version in older if version.major < present.major]
    if not older:
        kind = "of an earlier major version" if name == PREVIOUS_MAJOR else f"before {installed}"
        raise ReleaseError(f"{name}: the index of pip has no release {kind}")
    return [str(version) for version in (older if name == ALL else older[:1])]
