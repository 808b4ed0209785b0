"""Escape text for Markdown, so that it stays text."""

import re
from collections.abc import Iterator
from html import escape

# Everything that starts a construct of GitHub's Markdown, including mentions and issue numbers.
_SPECIAL = re.compile(r"([\\`*_\[\]#|~$<>&])")
_MENTION = re.compile(r"@(?=\w)")
_TICKS = re.compile(r"`+")
_WEB = re.compile(r"https?://[^\s<>]+")
_LINKED = re.compile(r"\b(?P<repository>[\w.-]+/[\w.-]+)#(?P<number>\d+)\b|\bGHSA(?:-\w{4}){3}\b")
"""An issue or an advisory of GitHub."""


def plain(text: str) -> str:
    """Return ``text`` on one line, shown as it is."""
    joined = " ".join(text.split())
    return _MENTION.sub("@\u2060", _SPECIAL.sub(r"\\\1", joined))


def spans(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of ``text``, each with whether it is code: those between backticks are."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        yield text, False
        return
    for number, part in enumerate(parts):
        if part:
            yield part, number % 2 == 1


def links(text: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of ``text``, each with the address of the issue or advisory that it names.

    The address is "" if a part names none.
    """
    end = 0
    for found in _LINKED.finditer(text):
        yield text[end : found.start()], ""
        issue = f"{found['repository']}/issues/{found['number']}"
        yield (
            found[0],
            f"https://github.com/{issue if found['number'] else f'advisories/{found[0]}'}",
        )
        end = found.end()
    yield text[end:], ""


def web(link: object) -> str:
    """Return ``link`` if it is a web address, else "": an address of another kind may run code."""
    text = link if isinstance(link, str) else ""
    return text if _WEB.fullmatch(text) else ""


def prose(text: str) -> str:
    """Return ``text`` on one line, with the parts between backticks as code."""
    return "".join(code(part) if is_code else _kept(part) for part, is_code in spans(text))


def linked(text: str) -> str:
    """Return ``text`` as ``prose`` does, with the issues and advisories that it names as links."""
    return "".join(code(part) if is_code else _with_links(part) for part, is_code in spans(text))


def _kept(text: str) -> str:
    """Return a part of a line, with the spaces at its ends that separate it from others."""
    start = " " if text[:1].isspace() else ""
    end = " " if text[-1:].isspace() and text.strip() else ""
    return f"{start}{plain(text)}{end}"


def _with_links(text: str) -> str:
    return "".join(
        f"[{plain(part)}]({address})" if address else _kept(part) for part, address in links(text)
    )


def code(text: str) -> str:
    """Return ``text`` on one line as inline code, which also works within a table."""
    joined = " ".join(text.split()).replace("|", "\\|")
    fence = "`" * (_longest_ticks(joined) + 1)
    space = " " if joined.startswith("`") or joined.endswith("`") or not joined else ""
    return f"{fence}{space}{joined}{space}{fence}"


def block(text: str, language: str) -> str:
    """Return ``text`` as a fenced block that nothing inside can end."""
    fence = "`" * max(3, _longest_ticks(text) + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def folded(title: str, body: str) -> str:
    """Return ``body`` folded behind a title; the title is shown as it is."""
    shown = _MENTION.sub("@\u2060", escape(" ".join(title.split())))
    # Markdown is not read inside <summary>: its escapes would be seen.
    return f"<details><summary>{shown}</summary>\n\n{body}\n\n</details>"


def _longest_ticks(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)
