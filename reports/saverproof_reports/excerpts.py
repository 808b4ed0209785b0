"""Shorten two long texts to what differs between them, where there is no room for both."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import takewhile

SHORT = 200
"""Characters of a text that is shown whole."""
_CONTEXT = 24
"""Characters that are kept on either side of what differs."""
_LONGEST = 360
"""Characters after which a part that differs as a whole is cut."""
_MOST_WORDS = 800
"""The most words that are matched: matching takes quadratic time. Longer texts count as different
as a whole.
"""
_MOST_LINES = 8
"""How many lines of a text are shown on a terminal; the report has all."""
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_GAP = "…"


def excerpts(expected: str, observed: str) -> tuple[str, str]:
    """Return both texts with an ellipsis for each long stretch that they share.

    Short texts stay as they are.
    """
    if max(len(expected), len(observed)) <= SHORT:
        return expected, observed
    one, two = expected, observed
    if "\n" not in expected + observed:
        one, two = _differing(expected, observed)
    return _cut(one), _cut(two)


def _differing(old: str, new: str) -> tuple[str, str]:
    ones, twos = _WORDS.findall(old), _WORDS.findall(new)
    start = _shared(ones, twos)
    most = min(len(ones), len(twos)) - start
    end = min(_shared(ones[::-1], twos[::-1]), most)
    head, tail = "".join(ones[:start]), "".join(ones[len(ones) - end :])
    ones, twos = ones[start : len(ones) - end], twos[start : len(twos) - end]
    if max(len(ones), len(twos)) > _MOST_WORDS:
        middles = "".join(ones), "".join(twos)
    else:
        middles = _without_shared(ones, twos)
    before = head if len(head) <= 2 * _CONTEXT else _GAP + head[-_CONTEXT:]
    after = tail if len(tail) <= 2 * _CONTEXT else tail[:_CONTEXT] + _GAP
    return before + middles[0] + after, before + middles[1] + after


def _shared(ones: list[str], twos: list[str]) -> int:
    """Return the number of words at the beginning that both texts share."""
    pairs = zip(ones, twos, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _without_shared(ones: list[str], twos: list[str]) -> tuple[str, str]:
    before, after = "", ""
    matcher = SequenceMatcher(None, ones, twos, autojunk=False)
    for kind, start, end, other, other_end in matcher.get_opcodes():
        old, new = "".join(ones[start:end]), "".join(twos[other:other_end])
        if kind == "equal" and len(old) > 2 * _CONTEXT + len(_GAP):
            old = new = old[:_CONTEXT] + _GAP + old[-_CONTEXT:]
        before += old
        after += new
    return before, after


def _cut(text: str) -> str:
    lines = list(_lines(text))
    more = len(lines) - _MOST_LINES
    kept = lines if more <= 1 else [*lines[:_MOST_LINES], f"({more} more lines in the report)"]
    return "\n".join(kept)


def _lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if len(line) <= _LONGEST:
            yield line
        else:
            yield f"{line[:_LONGEST]}{_GAP} ({len(line):,} characters, all of them in the report)"
