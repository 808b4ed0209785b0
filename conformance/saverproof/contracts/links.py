"""Web addresses for the sources of contracts: LangGraph's files and issues on GitHub."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from saverproof_reports.markup import links

_REPOSITORY = "https://github.com/langchain-ai/langgraph"
_NAME = re.compile(r"`(langgraph(?:\.\w+)+)`")
_ADDRESS = re.compile(r"https://\S+")
_LIBRARIES = (
    ("langgraph/checkpoint/sqlite", "checkpoint-sqlite"),
    ("langgraph/checkpoint/postgres", "checkpoint-postgres"),
    ("langgraph/checkpoint/conformance", "checkpoint-conformance"),
    ("langgraph/checkpoint", "checkpoint"),
    ("langgraph/store", "checkpoint"),
    ("langgraph", "langgraph"),
)
"""Start of a module's path -> its folder in LangGraph's repository. The first match counts."""


def link_of(source: str) -> str | None:
    """Return the address of the issue that a source names, or of the first file of LangGraph.

    The result is None if it names neither. A module that is not installed has no file.
    """
    if named := next((address for _, address in links(source) if address), None):
        return named
    if found := _ADDRESS.search(source):
        return found[0]
    files = (_file_of(name) for name in _NAME.findall(source))
    return next((_page_of(file) for file in files if file is not None), None)


def _page_of(file: str) -> str:
    library = next(name for start, name in _LIBRARIES if file.startswith(start))
    return f"{_REPOSITORY}/blob/main/libs/{library}/{file}"


@cache
def _file_of(name: str) -> str | None:
    """Return the file of a dotted name, relative to where packages lie, without importing it."""
    for folder in _roots():
        place, file = folder, None
        for part in name.split(".")[1:]:
            if (place / f"{part}.py").is_file():
                file = place / f"{part}.py"
                break
            if not (place / part).is_dir():
                break
            place = place / part
            file = place / "__init__.py" if (place / "__init__.py").is_file() else None
        if file is not None:
            return file.relative_to(folder.parent).as_posix()
    return None


@cache
def _roots() -> tuple[Path, ...]:
    spec = find_spec("langgraph")
    return tuple(map(Path, spec.submodule_search_locations or ())) if spec else ()
