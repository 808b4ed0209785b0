"""Compare observed with expected text line by line, and mark the differences within a line.

The diff is a patch that would mend the observed text, so where diffs have colours, wrong text is
red.
"""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_LONGEST_MARKED = 1000
"""Characters of a line within which differences are marked: comparing takes quadratic time."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a diff. ``mark`` is ``-`` (observed only), ``+`` (expected only) or a space.

    ``parts`` are its pieces of text, each with whether it differs.
    """

    mark: str
    parts: tuple[tuple[str, bool], ...]

    @property
    def text(self) -> str:
        """The line without marks."""
        return "".join(text for text, _ in self.parts)


def diff(observed: str, expected: str) -> list[Line]:
    """Return the lines of both texts in order; those that only one text has are marked."""
    old, new = observed.splitlines(), expected.splitlines()
    lines: list[Line] = []
    for kind, start, end, other, other_end in SequenceMatcher(None, old, new).get_opcodes():
        removed, added = old[start:end], new[other:other_end]
        if kind == "equal":
            lines += [Line(" ", ((text, False),)) for text in removed]
        elif len(removed) == len(added):
            pairs = [_marked(one, two) for one, two in zip(removed, added, strict=True)]
            lines += [Line("-", one) for one, _ in pairs]
            lines += [Line("+", two) for _, two in pairs]
        else:
            lines += [Line("-", ((text, False),)) for text in removed]
            lines += [Line("+", ((text, False),)) for text in added]
    return lines


Parts = tuple[tuple[str, bool], ...]


def _marked(old: str, new: str) -> tuple[Parts, Parts]:
    if max(len(old), len(new)) > _LONGEST_MARKED:
        return ((old, False),), ((new, False),)
    ones, twos = _WORDS.findall(old), _WORDS.findall(new)
    matcher = SequenceMatcher(None, ones, twos, autojunk=False)
    if matcher.ratio() < 0.3:  # marking nearly everything would show nothing
        return ((old, False),), ((new, False),)
    before: list[tuple[str, bool]] = []
    after: list[tuple[str, bool]] = []
    for kind, start, end, other, other_end in matcher.get_opcodes():
        before.append(("".join(ones[start:end]), kind != "equal"))
        after.append(("".join(twos[other:other_end]), kind != "equal"))
    return _without_empty(before), _without_empty(after)


def _without_empty(parts: list[tuple[str, bool]]) -> Parts:
    return tuple(part for part in parts if part[0])
