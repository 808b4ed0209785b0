"""Read a known-violations file.

The file is TOML with a table ``[[known]]`` for each violation. ``id`` and ``reason`` are required.
``link``, ``versions``, ``api`` and ``example`` (a path relative to the file) are optional.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from saverproof.contracts.registry import UnknownContract, contract
from saverproof.errors import KnownFileError, describe, kind_of
from saverproof.run.known.entries import Entry
from saverproof_reports import ReportError, read_artefact

_REQUIRED = ("id", "reason")
_FIELDS = ("id", "reason", "link", "versions", "api", "example")
_APIS = ("sync", "async", "crossed")


def read_known(path: Path) -> tuple[Entry, ...]:
    """Return the entries of the file.

    Raises:
        KnownFileError: the file cannot be read, or an entry is wrong; the message is one line.
    """
    data = read_toml(path)
    odd = sorted(set(data) - {"known"})
    if odd:
        raise KnownFileError(f"{path}: found {odd[0]!r}, expected only tables [[known]]")
    return entries_of(path, data)


def read_toml(path: Path) -> dict[str, Any]:
    """Return what the file holds.

    Raises:
        KnownFileError: it cannot be read, or is not TOML; the message is one line.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise KnownFileError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise KnownFileError(f"{path}: is not UTF-8 at byte {error.start}") from error
    except tomllib.TOMLDecodeError as error:
        raise KnownFileError(f"{path}: is not TOML: {describe(error)}") from error


def entries_of(path: Path, data: Mapping[str, Any], *, from_kit: bool = False) -> tuple[Entry, ...]:
    """Return the entries of a file that holds ``data``.

    Raises:
        KnownFileError: an entry is wrong; the message is one line.
    """
    tables = data.get("known", [])
    if not isinstance(tables, list):
        raise KnownFileError(f"{path}: known is not a list, expected tables [[known]]")
    return tuple(_entry(path, number, table, from_kit) for number, table in enumerate(tables, 1))


def _entry(path: Path, number: int, table: Any, from_kit: bool) -> Entry:
    where = f"{path}: entry {number}"
    if not isinstance(table, dict):
        raise KnownFileError(f"{where} is {kind_of(table)}, expected a table [[known]]")
    for key, value in table.items():
        if key not in _FIELDS:
            raise KnownFileError(f"{where}: found {key!r}, expected one of {', '.join(_FIELDS)}")
        if not isinstance(value, str) or not value.strip():
            raise KnownFileError(f"{where}: {key} is {value!r}, expected text")
    missing = [key for key in _REQUIRED if key not in table]
    if missing:
        raise KnownFileError(f"{where}: {missing[0]} is missing")
    try:
        contract(table["id"])
    except UnknownContract as error:
        raise KnownFileError(f"{where}: {error}") from None
    if table.get("api", "sync") not in _APIS:
        raise KnownFileError(f"{where}: api is {table['api']!r}, expected {', '.join(_APIS)}")
    try:
        SpecifierSet(table.get("versions", ""))
    except InvalidSpecifier:
        raise KnownFileError(
            f"{where}: versions is {table['versions']!r}, expected a specifier such as '<3.2'"
        ) from None
    return Entry(
        id=table["id"],
        reason=table["reason"].strip(),
        link=table.get("link"),
        versions=table.get("versions"),
        api=table.get("api"),
        file=str(path),
        from_kit=from_kit,
        **_example(path, where, table),
    )


def _example(path: Path, where: str, table: dict[str, Any]) -> dict[str, str | None]:
    """Return the fields of an entry that are about its example."""
    if "example" not in table:
        return {"example": None}
    file = path.parent / table["example"]
    try:
        artefact = read_artefact(file)
    except ReportError as error:
        raise KnownFileError(f"{where}: example: {error}") from None
    for field in ("id", "api"):
        found = artefact["contract" if field == "id" else field]
        if table.get(field, found) != found:
            raise KnownFileError(f"{where}: example shows {found}, expected {table[field]}: {file}")
    return {
        "example": str(file),
        "example_saver": artefact["saver"],
        "example_api": artefact["api"],
    }
