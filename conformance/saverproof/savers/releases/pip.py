"""Asks the pip of this interpreter, which knows the user's index, settings and hashes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from saverproof.errors import ReleaseError, one_line

_RETRIES = 1
"""How often pip tries a connection again: its default of five takes most of a minute."""
_MOST_TOLD = 20
"""The most releases that a message names."""
_OWNER_ONLY = 0o077
_UNREACHABLE = re.compile(
    r"after connection broken by|Failed to establish a new connection|Max retries exceeded"
)
_CONFLICT = re.compile(
    r"^ERROR: Cannot install (.+) because these package versions have", re.MULTILINE
)
_OTHER_PYTHON = re.compile(
    r"requires a different Python: (?P<found>\S+) not in '(?P<wanted>[^']+)'"
    r"|require a different python version: (?P<ignored>.+)"
)


def available(distribution: str) -> list[str]:
    """Return the final releases of a distribution that the index has, the newest first.

    Raises:
        ReleaseError: the index has none, or cannot be reached.
    """
    said = _run(distribution, "index", "versions", distribution)
    found = re.search(r"^Available versions: (.+)$", said, re.MULTILINE)
    return [] if found is None else found[1].split(", ")


def install(requirements: Sequence[str], folder: Path) -> None:
    """Install these requirements, without their own requirements, into a new folder.

    Raises:
        ReleaseError: there is no such release, or not for this Python, or no index can be reached.
    """
    _install(requirements, folder, "--no-deps")


def install_with_all(requirements: Sequence[str], folder: Path) -> None:
    """Install these requirements, and whatever they require, into a new folder.

    Raises:
        ReleaseError: they do not go together, or as in ``install``.
    """
    _install(requirements, folder)


def _install(requirements: Sequence[str], folder: Path, *options: str) -> None:
    how = (*options, "--no-compile", "--no-warn-conflicts", "--target", str(folder))
    _run(", ".join(requirements), "install", "--quiet", *how, *requirements)


def _run(what: str, *arguments: str) -> str:
    options = ("--no-input", "--disable-pip-version-check", f"--retries={_RETRIES}")
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "pip", *arguments, *options],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        umask=_OWNER_ONLY,
        check=False,
    )
    if ended.returncode == 0:
        return ended.stdout
    raise ReleaseError(f"{what}: {_why(ended.stderr, what)}")


def _why(said: str, what: str) -> str:
    """Return in one line why pip failed."""
    if "No module named pip" in said:
        return f"{sys.executable} has no pip, expected one to install it with"
    if _UNREACHABLE.search(said):
        return "the index of pip cannot be reached, expected one (see pip config list)"
    if conflict := _CONFLICT.search(said):
        return f"the index of pip has no releases that go together: {conflict[1]}"
    wanted = what.partition(", ")[0].partition("==")[2]
    for other in _OTHER_PYTHON.finditer(said):
        needed = other["wanted"] or _of_ignored(other["ignored"], wanted)
        if needed:
            return f"needs Python {needed}, found {sys.version.split()[0]}"
    if "No matching distribution found" in said:
        there = re.search(r"\(from versions: (.+)\)", said)
        known = "" if there is None or there[1] == "none" else f"; it has {_newest(there[1])}"
        return f"the index of pip has no such release{known}"
    errors = [line for line in said.splitlines() if line.startswith("ERROR: ")]
    return one_line((errors or said.splitlines() or ["pip failed"])[-1].removeprefix("ERROR: "))


def _newest(listed: str) -> str:
    """Return the newest releases of pip's list, which begins with the oldest."""
    known = listed.split(", ")
    return ", ".join(["...", *known[-_MOST_TOLD:]] if len(known) > _MOST_TOLD else known)


def _of_ignored(ignored: str, wanted: str) -> str:
    """Return the Python versions that a release needs, from pip's list of ignored releases: ``1.0
    Requires-Python >=3.13; 2.0 ...``. "" if the list does not have the release.
    """
    for one in ignored.split(";"):
        version, _, needed = one.strip().partition(" Requires-Python ")
        if version == wanted:
            return needed.strip()
    return ""
