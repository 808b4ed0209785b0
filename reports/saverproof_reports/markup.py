"""Text inside Markdown, so that it stays text."""

import re
from collections.abc import Iterator
from html import escape

# Everything that starts a construct of GitHub's Markdown, mentions and issue numbers included.
_SPECIAL = re.compile(r"([\\`*_\[\]#|~$<>&])")
_MENTION = re.compile(r"@(?=\w)")
_TICKS = re.compile(r"`+")
_WEB = re.compile(r"https?://[^\s<>]+")
_LINKED = re.compile(r"\b(?P<repository>[\w.-]+/[\w.-]+)#(?P<number>\d+)\b|\bGHSA(?:-\w{4}){3}\b")
"""An issue of GitHub's, or an advisory."""


def plain(text: str) -> str:
    """``text`` on one line, shown as it is."""
    joined = " ".join(text.split())
    return _MENTION.sub("@\u2060", _SPECIAL.sub(r"\\\1", joined))


def spans(text: str) -> Iterator[tuple[str, bool]]:
    """``text`` in parts, each with whether it is code, which stands between backticks."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        yield text, False
        return
    for number, part in enumerate(parts):
        if part:
            yield part, number % 2 == 1


def links(text: str) -> Iterator[tuple[str, str]]:
    """``text`` in parts, each with the address of the issue or advisory that it names, or ""."""
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
    """``link`` if it is a web address, else "": an address of another kind may run code."""
    text = link if isinstance(link, str) else ""
    return text if _WEB.fullmatch(text) else ""


def prose(text: str) -> str:
    """``text`` on one line, what stands between backticks as code."""
    return "".join(code(part) if is_code else _kept(part) for part, is_code in spans(text))


def linked(text: str) -> str:
    """The same, the issues and advisories that it names as links."""
    return "".join(code(part) if is_code else _with_links(part) for part, is_code in spans(text))


def _kept(text: str) -> str:
    """A part of a line: a space at an end of it separates it from the next one."""
    start = " " if text[:1].isspace() else ""
    end = " " if text[-1:].isspace() and text.strip() else ""
    return f"{start}{plain(text)}{end}"


def _with_links(text: str) -> str:
    return "".join(
        f"[{plain(part)}]({address})" if address else _kept(part) for part, address in links(text)
    )


def code(text: str) -> str:
    """``text`` on one line as inline code, also within a table."""
    joined = " ".join(text.split()).replace("|", "\\|")
    fence = "`" * (_longest_ticks(joined) + 1)
    space = " " if joined.startswith("`") or joined.endswith("`") or not joined else ""
    return f"{fence}{space}{joined}{space}{fence}"


def block(text: str, language: str) -> str:
    """``text`` as a fenced block that nothing inside can end."""
    fence = "`" * max(3, _longest_ticks(text) + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def folded(title: str, body: str) -> str:
    """``body`` behind a title that opens it; the title is shown as it is."""
    shown = _MENTION.sub("@\u2060", escape(" ".join(title.split())))
    # Markdown is not read here: its escapes would be seen.
    return f"<details><summary>{shown}</summary>\n\n{body}\n\n</details>"


def _longest_ticks(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)
