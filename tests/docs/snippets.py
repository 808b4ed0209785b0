"""The fenced blocks of the documentation, page by page."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
_EXPRESSION = re.compile(r"\$\{\{[^}]*\}\}")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: the page, the language that it is marked with, and what stands in it."""

    page: str
    language: str
    code: str

    @property
    def file(self) -> str:
        """The file that a block of Python says it is, in a comment at its top."""
        named = re.match(r"# ([\w/]+\.py)\n", self.code)
        return named[1] if named else ""


BLOCKS = [
    Block(page.name, language, code)
    for page in PAGES
    for language, code in _FENCED.findall(page.read_text("utf-8"))
]


def blocks(language: str) -> list[Block]:
    """The blocks of a language, on all pages."""
    return [block for block in BLOCKS if block.language == language]


def commands() -> Iterator[tuple[str, list[str]]]:
    """Every command of a shell: those to be typed, and those of CI recipes; each with its page."""
    for block in blocks("sh"):
        for line in block.code.splitlines():
            if words := shlex.split(line, comments=True):
                yield block.page, words
    for block in blocks("yaml"):
        for line in _scripts(yaml.safe_load(_EXPRESSION.sub("1", block.code))):
            yield block.page, shlex.split(line)


def _scripts(data: Any) -> Iterator[str]:
    """What a workflow of GitHub or GitLab runs."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key == "run":
                yield from value.splitlines()
            elif key == "script":
                yield from value
            else:
                yield from _scripts(value)
    elif isinstance(data, list):
        for value in data:
            yield from _scripts(value)
