"""A saver that never changes a file: it writes a new one, syncs it, and renames it into place."""

from __future__ import annotations

from tests.reference.state_file import StateFileReference
from tests.right_savers.registry import right


@right(
    "one file, replaced as a whole; a change that fails leaves a new one beside it",
    about={"atomicity", "lifecycle"},
    declines={"separate_records": "the whole store is one file, written each time"},
)
class TemporaryFile(StateFileReference):
    pass
