"""The criteria of ``list``: the wanted checkpoints, in pages of keys, and the filter."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import get_checkpoint_id

from saverproof_savers.codec import Address
from saverproof_savers.schema import TableNames

Key = tuple[str, str, str]
"""The place of a checkpoint in a listing: (checkpoint_id, thread_id, checkpoint_ns). Newest comes
first.
"""

_FIRST_PAGE = 32
"""How many keys the first page has; each further page has four times as many."""
_LARGEST_PAGE = 2048
"""The most keys of a page: they are held in memory, while checkpoints are not."""
_INT64 = 2**63


@dataclass(frozen=True, slots=True)
class ListCriteria:
    """The criteria of a listing. A criterion that is None excludes nothing."""

    thread_id: str | None
    checkpoint_ns: str | None
    checkpoint_id: str | None
    before: str | None
    filter: Mapping[str, Any]
    limit: int | None

    @classmethod
    def of(
        cls,
        config: RunnableConfig | None,
        filter: Mapping[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> "ListCriteria":
        """Make criteria of the arguments of ``list``.

        Raises:
            ValueError: there is a config without a thread_id.
        """
        address = Address.of(config) if config is not None else None
        namespace = config["configurable"].get("checkpoint_ns") if config is not None else None
        return cls(
            thread_id=address.thread_id if address else None,
            checkpoint_ns=namespace,
            checkpoint_id=address.checkpoint_id if address else None,
            before=(get_checkpoint_id(before) or None) if before else None,
            filter=dict(filter or {}),
            limit=limit,
        )

    @property
    def whole_scope(self) -> tuple[str, str] | None:
        """The thread and namespace, if all their checkpoints (before one) are wanted; else None."""
        if self.thread_id is None or self.checkpoint_ns is None:
            return None
        if self.checkpoint_id is not None or self.filter:
            return None
        return self.thread_id, self.checkpoint_ns

    def matches(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether the metadata equals the filter on every key.

        Null is the same as missing.
        """
        return all(same(metadata.get(key), value) for key, value in self.filter.items())

    def page_of_keys(
        self, names: TableNames, after: Key | None, page: int
    ) -> tuple[str, list[Any]]:
        """Return the statement for the keys that follow ``after``, and its parameters."""
        conditions: list[str] = []
        parameters: list[Any] = []

        def add(condition: str, *values: Any) -> None:
            conditions.append(condition)
            parameters.extend(values)

        if self.thread_id is not None:
            add("thread_id = ?", self.thread_id)
        if self.checkpoint_ns is not None:
            add("checkpoint_ns = ?", self.checkpoint_ns)
        if self.checkpoint_id is not None:
            add("checkpoint_id = ?", self.checkpoint_id)
        if self.before is not None:
            add("checkpoint_id < ?", self.before)
        if after is not None:
            # The second condition implies the first, which is the one that can use an index.
            add("checkpoint_id <= ?", after[0])
            add("(checkpoint_id, thread_id, checkpoint_ns) < (?, ?, ?)", *after)
        compared = {key: each for key, each in self.filter.items() if _sql_can_compare(key, each)}
        if compared:
            fits = " AND ".join(map(_may_equal, compared))
            add(_FITS_OR_IS_DAMAGED.format(fits), *compared.values())
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        sql = f"""SELECT checkpoint_id, thread_id, checkpoint_ns FROM "{names.checkpoints}" {where}
            ORDER BY checkpoint_id DESC, thread_id DESC, checkpoint_ns DESC LIMIT ?"""
        return sql, [*parameters, self._page_size(page)]

    def _page_size(self, page: int) -> int:
        size = int(min(_FIRST_PAGE * 4**page, _LARGEST_PAGE))
        if self.limit is not None and not self.filter:
            return min(size, self.limit)
        return size


# Keep a damaged row, so that decoding reports it. Objects stand between these two in the order of
# texts, which is faster than to ask for the type. CASE, because AND has no order.
_FITS_OR_IS_DAMAGED = """CASE WHEN metadata NOT BETWEEN '{{' AND '|' OR NOT json_valid(metadata)
    THEN 1 ELSE {} END"""


def _may_equal(key: str) -> str:
    # An object may stand for a value that JSON cannot hold.
    at = f"metadata, '$.{key}'"
    return f"(json_extract({at}) = ? OR json_type({at}) = 'object')"


ANYTHING = ListCriteria(None, None, None, None, {}, None)


def _sql_can_compare(key: str, value: Any) -> bool:
    """Return whether SQL can leave out rows early.

    It may keep too many (true is 1), never too few.
    """
    if not (key.isascii() and key.isidentifier()):
        return False
    if type(value) is str:
        return "\0" not in value and value.isprintable()
    if type(value) is int:
        return -_INT64 <= value < _INT64
    return type(value) is bool


def same(found: Any, wanted: Any) -> bool:
    """Return whether values are equal as in JSON.

    Numbers compare by value, a boolean never equals a number, a tuple equals a list.
    """
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if isinstance(found, Mapping) and isinstance(wanted, Mapping):
        return found.keys() == wanted.keys() and all(
            same(value, wanted[key]) for key, value in found.items()
        )
    if isinstance(found, list | tuple) and isinstance(wanted, list | tuple):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    return bool(found == wanted)
