"""Turns the table ``[tool.saverproof]`` into options, and checks each value where it is written."""

import argparse
import difflib
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from saverproof.contracts.registry import contracts, families
from saverproof.contracts.sets import contract_set
from saverproof.errors import SaverproofError
from saverproof.run.known.shipped_files import NONE, SHIPPED
from saverproof.run.project.choices import APIS, PROFILES, duration
from saverproof.run.project.table import NAME, ProjectTable
from saverproof.savers.targets.finding import find


class ProjectTableError(SaverproofError):
    """The table cannot be used; one line with file, line, key and what was expected."""


def project_options(table: ProjectTable, folder: Path) -> list[str]:
    """Return the table as options of pytest, which is started in ``folder``.

    Raises:
        ProjectTableError: a key is unknown, or its value cannot be used.
    """
    for key in table.values:
        if key not in _KEYS:
            near = difflib.get_close_matches(key, _KEYS, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise ProjectTableError(
                f"{table.place_of(key)}: {NAME}: found the key {key!r}; {hint}"
                f"expected {', '.join(_KEYS)}"
            )
    if "saver" not in table.values:
        raise ProjectTableError(f"{table.place_of('')}: {NAME}: found no saver, expected one")
    told: list[str] = []
    for key, value in table.values.items():
        try:
            told += _KEYS[key](value, table.folder, folder)
        except (ValueError, argparse.ArgumentTypeError, SaverproofError) as error:
            said = str(error).removeprefix(f"--saver {value}: ")
            raise ProjectTableError(f"{table.place_of(key)}: {NAME}.{key}: {said}") from None
    return told


def _saver(value: Any, project: Path, folder: Path) -> list[str]:
    told = []
    for saver in _texts(value, "the name or place of a target, or a list of them"):
        find(saver, project)
        place, colon, attribute = saver.rpartition(":")
        path, rest = (place, f":{attribute}") if colon else (saver, "")
        if path.endswith(".py") or "/" in path:
            told.append(f"--saver={os.path.relpath(project / path, folder)}{rest}")
        else:
            told.append(f"--saver={saver}")
    return told


def _choice(option: str, choices: Iterable[str]) -> Callable[[Any, Path, Path], list[str]]:
    def told(value: Any, project: Path, folder: Path) -> list[str]:
        if value not in choices:
            raise ValueError(f"found {value!r}, expected {' or '.join(choices)}")
        return [f"{option}={value}"]

    return told


def _names(
    option: str, known: Callable[[], Iterable[str]]
) -> Callable[[Any, Path, Path], list[str]]:
    def told(value: Any, project: Path, folder: Path) -> list[str]:
        names = ",".join(_texts(value, "a list of names")).replace(" ", "").split(",")
        there = list(known())
        for name in names:
            if name not in there:
                near = difflib.get_close_matches(name, there, n=1)
                hint = f"did you mean {near[0]}?" if near else "saverproof list shows what there is"
                raise ValueError(f"found {name!r}; {hint}")
        return [f"{option}={','.join(names)}"]

    return told


def _budget(value: Any, project: Path, folder: Path) -> list[str]:
    duration(str(value))
    return [f"--saver-budget={value}"]


def _version(value: Any, project: Path, folder: Path) -> list[str]:
    (version,) = _texts(value, "a contract set such as '2026.11'")[:1]
    return [f"--saver-contracts-version={contract_set(version).version}"]


def _known(value: Any, project: Path, folder: Path) -> list[str]:
    (name,) = _texts(value, "the path of a file, shipped or none")[:1]
    if name in (SHIPPED, NONE):
        return [f"--saver-known={name}"]
    if not (project / name).is_file():
        raise ValueError(f"found no file {name!r} in {project}, expected known violations")
    return [f"--saver-known={os.path.relpath(project / name, folder)}"]


def _report(value: Any, project: Path, folder: Path) -> list[str]:
    (name,) = _texts(value, "the path of a folder")[:1]
    return [f"--saver-report={os.path.relpath(project / name, folder)}"]


def _flag(option: str) -> Callable[[Any, Path, Path], list[str]]:
    def told(value: Any, project: Path, folder: Path) -> list[str]:
        if not isinstance(value, bool):
            raise ValueError(f"found {value!r}, expected true or false")
        return [option] if value else []

    return told


def _texts(value: Any, expected: str) -> list[str]:
    """Return a text, or a list of texts, as a list.

    Raises:
        ValueError: the value is neither, or is an empty list.
    """
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(one, str) and one for one in texts):
        raise ValueError(f"found {value!r}, expected {expected}")
    if not texts:
        raise ValueError(f"found an empty list, expected {expected}")
    return texts


def _all_families() -> tuple[str, ...]:
    return ("functional", *families())


def _all_contracts() -> tuple[str, ...]:
    return tuple(one.id for one in contracts())


_KEYS: Mapping[str, Callable[[Any, Path, Path], list[str]]] = {
    "saver": _saver,
    "profile": _choice("--saver-profile", PROFILES),
    "budget": _budget,
    "api": _choice("--saver-api", APIS),
    "families": _names("--saver-families", _all_families),
    "contracts": _names("--saver-contracts", _all_contracts),
    "contracts-version": _version,
    "known": _known,
    "report": _report,
    "strict": _flag("--saver-strict"),
    "lenient": _flag("--saver-lenient"),
}
"""A function for each key of the table that turns its value into options."""
