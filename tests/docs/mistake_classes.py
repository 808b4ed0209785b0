"""The page of the classes of mistakes: which wrong savers stand for each, and what shows them.

``python -m tests.docs.mistake_classes`` writes it anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.wrong_savers import WRONG, WrongSaver

from saverproof.mistakes.programs import programs

PAGE = Path(__file__).parents[2] / "docs" / "mistakes.md"
MODULES = {
    "Delta channels, in nested namespaces, around changes, and far from the newest checkpoint": (
        "delta_changes",
    ),
    "Values that savers look into": ("structured_values", "sizes"),
    "Names that are alike": ("what_is_alike", "what_is_named"),
    "Removals and copies, crossed with what is there and with one another": (
        "what_is_removed",
        "what_is_left",
        "swept_away",
    ),
    "One question beside another": ("what_is_asked",),
    "What a snapshot of much work leaves out": ("snapshots",),
    "Tasks that wait for people, and their answers": ("approvals",),
    "One half of a saver, sync or async, that was left behind": ("async_halves",),
}
"""Each class of mistakes that a program shows, and the modules of its wrong savers."""
NAMES = {
    "Faults and kills": (
        "cancelled-is-not-found",
        "cancelled-read-keeps-the-gate",
        "early-writes-wait",
        "failed-once-failed-forever",
        "failed-reads-run-out",
        "interrupted-call-is-committed",
        "interrupted-call-keeps-the-gate",
        "interrupted-call-stays-open",
        "large-values-beside-the-database",
        "large-values-never-synced",
        "last-one-commits-for-all",
        "lock-file-is-believed",
        "locked-is-not-found",
        "migration-noted-first",
        "recovered-in-place",
        "rollback-takes-the-neighbours",
        "rollback-takes-the-neighbours-task",
        "torn-tail-kept",
    ),
    "Callers, and savers beside one another": (
        "latest-id-kept-by-the-process",
        "list-counts-from-the-newest",
        "list-iterates-the-dict",
        "size-tells-of-changes",
    ),
}
"""The same of those that faults, kills or many callers show, by the names of the savers."""
_HEAD = """# Classes of mistakes

Some classes of mistakes that saverproof looks for, with deliberately wrong savers that stand for
each. The self-test demands that every one is found and blamed for the contract that it breaks.
"From" is the first profile that tries what shows the mistake: where a program takes seconds,
`quick` does without. The length is that of the shortest known program, in steps; mistakes that
harm or many callers show have none.
"""
_ISSUES = """
## Public issues about cost, growth and leaks

What users of checkpointers reported, and the saver that does the same here.

| issue | wrong saver | its mistake | contract |
|---|---|---|---|
"""
_ISSUE = re.compile(r"(?P<repository>[\w.-]+/[\w.-]+)#(?P<number>\d+)")
_FAMILIES_OF_ISSUES = ("cost/", "resources/")
_ROWS = "| wrong saver | its mistake | contract | from | steps |\n|---|---|---|---|--:|\n"


def page() -> str:
    """The whole page as Markdown."""
    parts = [_HEAD]
    for title, savers in _classes():
        parts.append(f"\n## {title}\n\n{_ROWS}{''.join(map(_row, savers))}")
    return "".join([*parts, _ISSUES, *(_issue_row(*one) for one in issues())])


def issues() -> list[tuple[str, WrongSaver]]:
    """The public issues about cost that a wrong saver stands for, each as owner/name#number."""
    return sorted(
        (found[0], wrong)
        for wrong in WRONG
        if wrong.breaks.startswith(_FAMILIES_OF_ISSUES)
        for found in _ISSUE.finditer(wrong.note)
    )


def _issue_row(issue: str, wrong: WrongSaver) -> str:
    repository, _, number = issue.partition("#")
    link = f"[{issue}](https://github.com/{repository}/issues/{number})"
    mistake = re.split(rf"(?:, as in|:) (?={_ISSUE.pattern})", wrong.note)[0]
    return _line((link, f"`{wrong.name}`", mistake, f"`{wrong.breaks}`"))


def _classes() -> Iterator[tuple[str, list[WrongSaver]]]:
    for title, modules in MODULES.items():
        yield title, [one for one in WRONG if one.saver.__module__.rsplit(".")[-1] in modules]
    known = {one.name: one for one in WRONG}
    for title, names in NAMES.items():
        yield title, [known[name] for name in names]


def _row(wrong: WrongSaver) -> str:
    program = programs().get(wrong.name)
    cells = (
        f"`{wrong.name}`",
        wrong.note.replace("|", "\\|"),
        f"`{wrong.breaks}`",
        "default" if wrong.heavy else "quick",
        "" if program is None else str(len(program)),
    )
    return _line(cells)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
