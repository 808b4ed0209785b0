"""Text inside Markdown, so that it stays text."""

import re

# Everything that starts a construct of GitHub's Markdown, mentions and issue numbers included.
_SPECIAL = re.compile(r"([\\`*_\[\]#|~$<>&])")
_MENTION = re.compile(r"@(?=\w)")
_TICKS = re.compile(r"`+")


def plain(text: str) -> str:
    """``text`` on one line, shown as it is."""
    joined = " ".join(text.split())
    return _MENTION.sub("@\u2060", _SPECIAL.sub(r"\\\1", joined))


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
    return f"<details><summary>{plain(title)}</summary>\n\n{body}\n\n</details>"


def _longest_ticks(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)
