"""The quantities that are counted, in words, and how much they may differ without meaning
anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Witness:
    """A quantity that is counted: ``verb`` and ``unit`` describe it, as in "reads 80 bytes".

    Counts that differ by no more than ``slack`` are taken as equal. A count is rounded to whole
    ``grain``s.
    """

    name: str
    verb: str
    unit: str
    slack: int
    grain: int = 1

    def words(self, count: float, more: str = "") -> str:
        """Return a count in words, as "reads 80 bytes"; with ``more``, as "reads 80 bytes more"."""
        told = f"{count:,.0f}" if count >= 100 or count == round(count) else f"{count:.2g}"
        first, _, rest = self.unit.partition(" ")
        unit = f"{first.removesuffix('s')} {rest}".strip() if told == "1" else self.unit
        return f"{self.verb} {told} {unit}{more}"


KEPT = "kept"
IN_SERVER = frozenset({"unindexed", "rows", "blocks", "commands"})
"""The witnesses that a server counts itself."""
PLANNED = frozenset({"rows", "blocks"})
"""The witnesses that depend on a server's query planner, which may choose another plan in a large
store: no saver is accused because of them, and no contract is held while they grow.
"""
_PAGE_OF_MEMORY = 65_536
_ALL = (
    # A page, or a batch of rows, may end just so that one more has to be asked for.
    Witness("calls", "makes", "calls of its database driver", 3),
    Witness("statements", "runs", "statements in SQLite", 3),
    Witness("unindexed", "scans", "rows in its server, without an index,", 16),
    Witness("commands", "runs", "commands in its server", 3),
    Witness("scanned", "scans", "rows in SQLite, without an index,", 16),
    Witness("sorts", "needs", "sorts in SQLite", 2),
    # Between 16 and 1,024 rows a tree gets up to two levels more, of 4,096 bytes each. A look-up
    # goes down the table and the index of checkpoints, of writes and of values: 6 trees.
    Witness("read", "reads", "bytes", 12 * 4_096),
    # A row that is put may split a leaf of a tree that was one page before: two leaves and a root
    # are written then. A thread of eight checkpoints goes into a dozen trees, two pages in each.
    Witness("written", "writes", "bytes", 24 * 4_120),
    # A page takes two system calls at most: SQLite writes it into its log after a
    # header of its own, and reads it by one.
    Witness("reads", "asks the system for", "reads", 24),
    Witness("writes", "asks the system for", "writes", 48),
    # A look-up goes through the rows that it gives, in some six tables.
    Witness("rows", "goes through", "rows in its server", 16),
    # As many trees get up to two levels more, for each of two look-ups.
    Witness("blocks", "reads", "blocks in its server", 24),
    # A level of a tree takes no step; a row that is looked at takes three or more.
    Witness("steps", "takes", "steps of SQLite's machine", 64),
    # Searching a sorted list by halves takes four lines for each of ten halves.
    Witness("lines", "executes", "lines of Python", 60),
    # The size of Python's tables depends a little on the hashes of texts, which differ by process.
    Witness("memory", "holds", "bytes of memory at once", _PAGE_OF_MEMORY, _PAGE_OF_MEMORY),
    # As for what is read and written.
    Witness(KEPT, "keeps", "bytes", 12 * 4_096),
)
WITNESSES: Mapping[str, Witness] = MappingProxyType({one.name: one for one in _ALL})
"""The witnesses by name; those that tell a person most come first."""
