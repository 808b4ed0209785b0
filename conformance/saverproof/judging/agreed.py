"""Recognizes an answer that was compared before and was right, so that it is compared only once.

Where the whole store is looked at after each step, almost all answers are of this kind.
"""

from __future__ import annotations

import marshal
from functools import lru_cache
from typing import Any

from saverproof.judging.facts import FactLog
from saverproof.judging.made_values import made_of
from saverproof.programs.model.records import Record
from saverproof.programs.values import Value

_FORMAT = 2
"""The last format of ``marshal`` in which equal objects have equal bytes: later ones also tell
which objects are shared.
"""
_LONGEST = 1 << 16
"""Bytes of the longest answer that is kept."""
_PLAIN: frozenset[type] = frozenset({str, int, bool, float, type(None)})


class Agreed:
    """An answer that was compared with its record and was right, and the facts that were counted
    then. Its pending writes are left out. ``answer`` is None if it cannot be recognized.
    """

    __slots__ = ("_counted", "answer")

    def __init__(self, record: Record, observed: Any, log: FactLog) -> None:
        values = (channel.value for channel in record.channels.values())
        plain = all(value is None or _is_plain(value) for value in values)
        self.answer = _bytes_of(observed) if plain else None
        self._counted = tuple(log.judged.items())

    def recognizes(self, observed: Any) -> bool:
        """Return whether an answer is the same, with the same types, at every depth."""
        return self.answer is not None and self.answer == _bytes_of(observed)

    def count(self, log: FactLog) -> None:
        """Count the same facts once more."""
        for fact, times in self._counted:
            log.judged[fact] += times


def _bytes_of(observed: Any) -> bytes | None:
    """Return bytes that no other answer has, or None if no such bytes can be made.

    No other answer has them if the answer should hold neither bytes nor objects: ``marshal`` writes
    a bytearray as it writes bytes, and cannot write objects.
    """
    try:
        parts = (observed.config, observed.parent_config, observed.metadata, observed.checkpoint)
        answer = marshal.dumps(parts, _FORMAT)
    except (AttributeError, ValueError):
        return None
    return answer if len(answer) <= _LONGEST else None


@lru_cache(maxsize=8_192)
def _is_plain(value: Value) -> bool:
    """Return whether a value consists of texts, numbers and None, in lists, tuples and dicts."""
    parts = [made_of(value)]
    for part in parts:
        kind = type(part)
        if kind is dict:
            parts += [*part, *part.values()]
        elif kind is list or kind is tuple:
            parts += part
        elif kind not in _PLAIN:
            return False
    return True
