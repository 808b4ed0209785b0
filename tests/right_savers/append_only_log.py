"""A saver on one file that only grows, with checksums; a torn tail is cut off."""

from __future__ import annotations

from tests.reference.log_file import LogFileReference
from tests.right_savers.registry import right


@right(
    "one file, to which lines are appended; what it says is kept in memory as well",
    about={"atomicity", "cost", "deletion", "lifecycle"},
    advice={"cost/space-given-back": "a log never gets shorter"},
)
class AppendOnlyLog(LogFileReference):
    pass
