"""Which question is asked of which store, what its cost may do there, and for which contract."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from saverproof.contracts.tables import cost
from saverproof.families.cost import stores
from saverproof.families.cost.laws import Law, Order
from saverproof.families.cost.stores import GrowingStore
from saverproof.families.cost.witnesses import WITNESSES

Ask = Callable[[GrowingStore, int], Any]
FLAT = MappingProxyType(dict.fromkeys(WITNESSES, Order.LOGARITHMIC))
"""As an index grows, or not at all."""
_AS_ASKED = MappingProxyType(dict.fromkeys(WITNESSES.keys() - {"memory"}, Order.LINEAR))
"""With how much is asked for; the answer itself is held in memory."""


@dataclass(frozen=True, slots=True)
class Question:
    """Something that is asked of a store at each size.

    ``answers`` says whether an answer is one at all: what a saver does not give costs nothing.
    ``allowed`` has for each witness the fastest growth that keeps the contract; one that is not
    there is not looked at. Where one more of what grows adds less than ``tolerated`` of any, it
    is as good as nothing.
    """

    contract: str
    store: type[GrowingStore]
    ask: Ask
    answers: Callable[[Any, int], bool] = lambda answer, size: True
    allowed: Mapping[str, Order] = field(default_factory=lambda: FLAT)
    tolerated: float = 0.0

    @property
    def name(self) -> str:
        """Under which it is recorded."""
        return f"{self.store.__name__}.{self.ask.__name__}"

    @property
    def words(self) -> str:
        """What is asked."""
        return str(self.ask.__doc__)

    @property
    def item(self) -> str:
        """What there is one more of when the store has grown by one."""
        return str(self.store.__doc__)

    def is_broken_by(self, witness: str, law: Law) -> bool:
        """Whether a count grows faster than the contract allows."""
        allowed = self.allowed.get(witness)
        if allowed is None or not law.order.exceeds(allowed):
            return False
        return law.per_item > self.tolerated


def _are_two(answer: Any, size: int) -> bool:
    return all(found is not None for found in answer)


def _is_there(answer: Any, size: int) -> bool:
    return answer is not None


def _is_page(answer: Any, size: int) -> bool:
    return len(answer) == 10


def _is_as_many(answer: Any, size: int) -> bool:
    return len(answer) == size


_ELSEWHERE = (stores.Checkpoints, stores.Threads, stores.Namespaces)
_ROUND_TRIPS = MappingProxyType(
    {**_AS_ASKED, "calls": Order.LOGARITHMIC, "statements": Order.LOGARITHMIC}
)
_IN_PAGES = 0.5
"""Of calls for each item: one or more is the N+1 query, one for eight or thirty-two a page."""
_WRITTEN = MappingProxyType({"written": Order.LOGARITHMIC})

QUESTIONS: tuple[Question, ...] = (
    *(Question(cost.GET_BY_ID.id, store, stores.get_by_id, _are_two) for store in _ELSEWHERE),
    *(Question(cost.GET_LATEST.id, store, stores.get_latest, _is_there) for store in _ELSEWHERE),
    *(Question(cost.PUT.id, store, stores.put) for store in _ELSEWHERE),
    Question(cost.PUT.id, stores.UnchangedValue, stores.put, allowed=_WRITTEN),
    *(
        Question(cost.PUT_WRITES.id, store, stores.put_writes)
        for store in (*_ELSEWHERE, stores.PendingWrites)
    ),
    *(
        Question(cost.PAGE.id, store, stores.page, _is_page)
        for store in (stores.Checkpoints, stores.Threads)
    ),
    Question(
        cost.PAGE.id,
        stores.Limit,
        stores.page_of_size,
        _is_as_many,
        _ROUND_TRIPS,
        _IN_PAGES,
    ),
)
GROWING = frozenset({stores.put, stores.put_writes})
"""What is done to let stores grow, too."""
BY_NAME: Mapping[str, Question] = MappingProxyType({one.name: one for one in QUESTIONS})
STORES: tuple[type[GrowingStore], ...] = tuple(dict.fromkeys(one.store for one in QUESTIONS))
