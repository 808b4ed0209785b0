"""Reads and writes the folder of a corpus: a manifest, programs with what they show, and a store's
files.

Everything but the manifest is compressed, and the manifest has its hash. The folder holds JSON and
bytes only: the kit neither unpickles nor runs anything in it.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from saverproof.errors import CorpusError, describe
from saverproof.families.upgrade.trials import ProgramFacts
from saverproof.programs.steps.codec import from_json, to_json
from saverproof.programs.steps.definitions import Program

FORMAT = 1
"""The format of corpora. It changes when an older kit would misread a new corpus."""
MANIFEST = "manifest.json"
_PROGRAMS = "programs.json.xz"
_STORE = "store"
_MOST_BYTES = 1 << 28
"""The most bytes that a file may unpack to: a store of a few programs needs far less."""


@dataclass(frozen=True, slots=True)
class KeptProgram:
    """A program in a corpus: its steps, the prefix of its threads' names, the versions that it put,
    and what the release shows of it.
    """

    program: Program
    name: str
    versions: Mapping[str, tuple[str, str]]
    shown: ProgramFacts


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a corpus: the target, the distribution, its release, and the release of
    langgraph-checkpoint.
    """

    saver: str
    distribution: str
    release: str
    checkpoint: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """A store that a release has written; ``files`` are the store's files, by their relative
    paths.
    """

    origin: Origin
    programs: tuple[KeptProgram, ...]
    files: Mapping[str, bytes]


def write_corpus(folder: Path, corpus: Corpus) -> None:
    """Write a corpus to a new folder, as a whole or not at all, readable by its owner alone.

    Raises:
        CorpusError: the folder exists already, or cannot be written.
    """
    if folder.exists():
        raise CorpusError(f"{folder}: is there already, expected a new folder")
    aside = folder.with_name(f".{folder.name}-{secrets.token_hex(4)}")
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(aside, corpus)
        aside.rename(folder)
    except OSError as error:
        raise CorpusError(f"{folder}: cannot be written: {describe(error)}") from None
    finally:
        with suppress(FileNotFoundError):
            shutil.rmtree(aside)


def _write(folder: Path, corpus: Corpus) -> None:
    programs = [
        {
            "name": one.name,
            "program": to_json(one.program),
            "versions": one.versions,
            "shown": one.shown,
        }
        for one in corpus.programs
    ]
    content = {_PROGRAMS: json.dumps(programs, sort_keys=True).encode()}
    content |= {f"{_STORE}/{name}.xz": data for name, data in corpus.files.items()}
    # Listings and single reads show the same texts, megabytes apart: gzip looks back 32 kB.
    packed = {name: lzma.compress(data) for name, data in content.items()}
    manifest = {
        "format": FORMAT,
        "saver": corpus.origin.saver,
        "distribution": corpus.origin.distribution,
        "release": corpus.origin.release,
        "langgraph-checkpoint": corpus.origin.checkpoint,
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in packed.items()},
    }
    packed[MANIFEST] = (json.dumps(manifest, indent=2) + "\n").encode()
    folder.mkdir(mode=0o700)
    for name, data in packed.items():
        place = folder / name
        for part in reversed(place.relative_to(folder).parents[:-1]):
            (folder / part).mkdir(mode=0o700, exist_ok=True)
        with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)


def read_corpus(folder: Path) -> Corpus:
    """Return the corpus in a folder, after a check of every file by its hash.

    Raises:
        CorpusError: there is no corpus, or it is damaged, or of a newer format.
    """
    manifest = _manifest(folder)
    files = {name: _unpacked(folder, name, known) for name, known in manifest["sha256"].items()}
    try:
        programs = tuple(map(_kept_program, json.loads(files.pop(_PROGRAMS, b""))))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CorpusError(f"{folder}: damaged: {_PROGRAMS}: {describe(error)}") from None
    origin = Origin(
        *(manifest[key] for key in ("saver", "distribution", "release", "langgraph-checkpoint"))
    )
    store = {name.removeprefix(f"{_STORE}/")[:-3]: data for name, data in files.items()}
    return Corpus(origin, programs, store)


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise CorpusError(f"{folder}: no corpus: expected a folder with {MANIFEST}") from None
    except (OSError, ValueError) as error:
        raise CorpusError(f"{folder}: damaged: {MANIFEST}: {describe(error)}") from None
    number = manifest.get("format") if isinstance(manifest, dict) else None
    if isinstance(number, int) and number > FORMAT:
        raise CorpusError(
            f"{folder}: format {number}, expected at most {FORMAT}: a newer saverproof wrote it"
        )
    keys = ("saver", "distribution", "release", "langgraph-checkpoint")
    is_whole = number == FORMAT and all(isinstance(manifest.get(key), str) for key in keys)
    if not is_whole or not _are_hashes(manifest.get("sha256")):
        expected = f"format {FORMAT}, {', '.join(keys)}, and the sha256 of each file"
        raise CorpusError(f"{folder}: damaged: {MANIFEST}: expected {expected}")
    return dict(manifest)


def _are_hashes(found: object) -> bool:
    """Return whether these are hashes of files whose names lie inside the folder of a corpus."""
    return (
        isinstance(found, dict)
        and _PROGRAMS in found
        and all(isinstance(known, str) for known in found.values())
        and all(name == _PROGRAMS or _is_of_store(name) for name in found)
    )


def _is_of_store(name: str) -> bool:
    """Return whether a name is that of a packed file of the store, and points to nowhere else."""
    path = PurePosixPath(name)
    return (
        len(path.parts) > 1
        and path.parts[0] == _STORE
        and ".." not in path.parts
        and len(path.name) > len(".xz")
        and name.endswith(".xz")
        and "\0" not in name
    )


def _unpacked(folder: Path, name: str, known: str) -> bytes:
    try:
        packed = (folder / name).read_bytes()
    except OSError as error:
        raise CorpusError(f"{folder}: damaged: {name}: {describe(error)}") from None
    if (found := hashlib.sha256(packed).hexdigest()) != known:
        raise CorpusError(f"{folder}: damaged: {name}: sha256 is {found}, expected {known}")
    try:
        with lzma.open(io.BytesIO(packed)) as file:
            data = file.read(_MOST_BYTES + 1)
    except (EOFError, lzma.LZMAError) as error:
        raise CorpusError(f"{folder}: damaged: {name}: {describe(error)}") from None
    if len(data) > _MOST_BYTES:
        raise CorpusError(f"{folder}: {name} unpacks to more than {_MOST_BYTES >> 20} MiB")
    return data


def _kept_program(data: Any) -> KeptProgram:
    """Return a program from its data.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: the data is no program.
    """
    versions = {str(key): (str(of), str(seen)) for key, (of, seen) in data["versions"].items()}
    shown = {str(name): str(text) for name, text in data["shown"].items()}
    return KeptProgram(from_json(data["program"]), str(data["name"]), versions, shown)
