"""The questions: which one is asked of which store, how its cost may grow, and for which
contract.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from saverproof.contracts.tables import cost
from saverproof.families.cost import stores
from saverproof.families.cost.stores import GrowingStore
from saverproof.families.cost.witnesses import KEPT, PLANNED, WITNESSES
from saverproof.families.laws import GrowthOrder, Law

Ask = Callable[[GrowingStore, int], Any]
Allowed = Mapping[str, GrowthOrder]
_ANSWERS = WITNESSES.keys() - {KEPT}
FLAT: Allowed = MappingProxyType(dict.fromkeys(_ANSWERS, GrowthOrder.LOGARITHMIC))
"""The limits for a cost that may grow only as an index does, or not at all."""
_LINEAR: Allowed = MappingProxyType(dict.fromkeys(_ANSWERS - {"memory"}, GrowthOrder.LINEAR))
"""The limits for a cost that may grow with the amount of work. Memory is not limited, as what is
read or written may be held in it for a moment.
"""
_ROUND_TRIPS: Allowed = MappingProxyType(
    {**_LINEAR, "calls": GrowthOrder.LOGARITHMIC, "statements": GrowthOrder.LOGARITHMIC}
)
_WRITTEN: Allowed = MappingProxyType({"written": GrowthOrder.LOGARITHMIC})
_KEPT: Allowed = MappingProxyType({KEPT: GrowthOrder.LOGARITHMIC})
_KEPT_FOR_EACH: Allowed = MappingProxyType({KEPT: GrowthOrder.LINEAR})

_ITEMS: Mapping[type[GrowingStore], str] = MappingProxyType(
    {
        stores.Checkpoints: "checkpoint in the thread",
        stores.Threads: "other thread in the store",
        stores.Namespaces: "other namespace in the thread",
        stores.PendingWrites: "write that the checkpoint has",
        stores.Channels: "channel that does not change",
        stores.UnchangedValue: "byte of a channel that does not change",
        stores.Limit: "checkpoint asked for",
        stores.LargeValues: "byte of a value that the filter leaves out",
        stores.BeforeSeed: "checkpoint before the channel's stored value",
        stores.SinceSeed: "checkpoint since the channel's stored value",
        stores.AfterTarget: "checkpoint after the one that is asked for",
        stores.ThreadSize: "checkpoint in the thread",
        stores.Rounds: "thread that was put and deleted",
        stores.RoundsOfRuns: "run that was put and deleted",
        stores.RoundsOfPruning: "time that the thread was pruned",
        stores.RoundsOfRetries: "thread that was put twice and deleted",
        stores.RoundsOfCopies: "thread that was copied, and deleted with its copy",
        stores.RoundsWhileOpen: "thread that was put and deleted",
        stores.Agent: "byte of a channel that does not change in 32 steps",
        stores.Chat: "byte that is new in a chat",
        stores.DeltaChat: "step of a chat in a delta channel",
    }
)
"""The unit of growth of each store, in words."""
_GROWN_AS: Mapping[type[GrowingStore], type[GrowingStore]] = MappingProxyType(
    {stores.AfterTarget: stores.SinceSeed}
)
"""Stores that grow as another one does, so that one of them serves the questions of both."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question that is asked of a store at each size.

    ``answers`` says whether an answer is a right one: an answer that a saver does not give costs
    nothing. ``allowed`` has for each witness the fastest growth that keeps the contract; other
    witnesses are not judged. If one more item adds less than ``tolerated`` to a count, the growth
    is ignored. ``needs`` are the operations that the question needs.
    """

    contract: str
    store: type[GrowingStore]
    ask: Ask
    answers: Callable[[Any, int], bool] = lambda answer, size: True
    allowed: Allowed = field(default_factory=lambda: FLAT)
    tolerated: float = 0.0
    needs: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The name under which the question is recorded."""
        return f"{self.store.__name__}.{self.ask.__name__}"

    @property
    def words(self) -> str:
        """The question in words."""
        return str(self.ask.__doc__)

    @property
    def item(self) -> str:
        """The store's unit of growth, in words."""
        return _ITEMS[self.store]

    @property
    def grown(self) -> type[GrowingStore]:
        """The store that is let grow for the question, and for others."""
        return _GROWN_AS.get(self.store, self.store)

    @property
    def counts_what_is_kept(self) -> bool:
        """True if nothing is asked, and the size of the store itself is counted."""
        return self.ask in (stores.kept, stores.kept_while_open)

    @property
    def is_of_open_files(self) -> bool:
        """True if the files of the store are counted while its saver is open."""
        return self.ask is stores.kept_while_open

    @property
    def removes(self) -> bool:
        """True if the question removes its thread, so that each repetition needs a thread of its
        own.
        """
        return self.ask in _OF_DOOMED

    def is_broken_by(self, witness: str, law: Law) -> bool:
        """Return whether a count grows faster than the contract allows, and nothing can change that
        in a larger store.
        """
        return self._exceeds(witness, law) and not self.is_doubted_by(witness, law)

    def is_doubted_by(self, witness: str, law: Law) -> bool:
        """Return whether a count grows that might not grow in a larger store: a query planner may
        choose otherwise there, and a store that gives space back at times may do so again.
        """
        open_ended = witness in PLANNED or self.gives_back(witness, law)
        return open_ended and self._exceeds(witness, law)

    @staticmethod
    def gives_back(witness: str, law: Law) -> bool:
        """Return whether a store that had grown keeps less than before."""
        return witness == KEPT and law.deepest_fall > WITNESSES[KEPT].slack

    def _exceeds(self, witness: str, law: Law) -> bool:
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


def _is_one(answer: Any, size: int) -> bool:
    return len(answer) == 1


def _is_as_many(answer: Any, size: int) -> bool:
    return len(answer) == size


def _has_seven(answer: Any, size: int) -> bool:
    return len(answer["log"]["writes"]) == 7


def _has_all_since(answer: Any, size: int) -> bool:
    return len(answer["log"]["writes"]) == size - 1


_ELSEWHERE = (stores.Checkpoints, stores.Threads, stores.Namespaces)
_IN_PAGES = 0.5
"""The calls for each item from which a cost is too high. One or more is the N+1 query; one for
eight or thirty-two items is paging.
"""
_TWICE = 2.0
"""The bytes for each byte of a value from which a store keeps too much: two would be two copies,
while indexes and half-empty pages add less.
"""

_MOVED = 3.0
"""The bytes for each byte of an unchanged channel from which a store keeps too much. A row that was
rewritten leaves its former place free, so that one copy takes two; kept in each of 32 steps, it
would take 32.
"""
_A_REST = 16_384.0
"""The bytes for each round from which a store keeps too much of removed data. In a round, eight
times as many bytes are written and removed, and four times as many of what is put twice, or of
what an answer given anew replaces. Files grow in steps, so some of them may stay.
"""
_NOT_FOLDED = 65_536.0
"""The bytes for each round from which files grow while a saver is open. In a round, four times as
many bytes are written and removed. An engine's log may take so much, until it is folded into the
store and begins anew.
"""


def _removing(contract: str, ask: Ask, needs: str) -> tuple[Question, ...]:
    """Return the questions that show whether a removal costs only as much as is removed."""
    return (
        Question(contract, stores.Threads, ask, needs=frozenset({needs})),
        Question(contract, stores.ThreadSize, ask, allowed=_LINEAR, needs=frozenset({needs})),
    )


def _given_back(store: type[GrowingStore], *needs: str) -> Question:
    return Question(
        cost.SPACE_GIVEN_BACK.id,
        store,
        stores.kept,
        allowed=_KEPT,
        tolerated=_A_REST,
        needs=frozenset(needs),
    )


QUESTIONS: tuple[Question, ...] = (
    *(Question(cost.GET_BY_ID.id, store, stores.get_by_id, _are_two) for store in _ELSEWHERE),
    *(Question(cost.GET_LATEST.id, store, stores.get_latest, _is_there) for store in _ELSEWHERE),
    *(Question(cost.PUT.id, store, stores.put) for store in _ELSEWHERE),
    # A checkpoint has the versions of all its channels. What is called for each of them is not due.
    Question(cost.PUT.id, stores.Channels, stores.put, allowed=_ROUND_TRIPS, tolerated=_IN_PAGES),
    Question(cost.PUT.id, stores.UnchangedValue, stores.put, allowed=_WRITTEN),
    *(
        Question(cost.PUT_WRITES.id, store, stores.put_writes)
        for store in (*_ELSEWHERE, stores.PendingWrites)
    ),
    Question(cost.PAGE.id, stores.Checkpoints, stores.page, _is_page),
    Question(cost.PAGE.id, stores.Threads, stores.page, _is_page),
    Question(cost.PAGE.id, stores.Limit, stores.page_of_size, _is_as_many, _ROUND_TRIPS, _IN_PAGES),
    # No index serves any key of any metadata: that a filter goes through a thread is told, and that
    # it reads its values is a breach.
    Question(cost.FILTER.id, stores.Checkpoints, stores.filtered, _is_one, _LINEAR),
    Question(cost.FILTER.id, stores.Threads, stores.filtered, _is_one),
    Question(cost.FILTER.id, stores.LargeValues, stores.filtered, _is_one),
    Question(cost.DELTA_HISTORY.id, stores.BeforeSeed, stores.delta_history, _has_seven),
    Question(cost.DELTA_HISTORY.id, stores.AfterTarget, stores.old_delta_history, _has_seven),
    Question(
        cost.DELTA_HISTORY.id, stores.SinceSeed, stores.delta_history, _has_all_since, _LINEAR
    ),
    *_removing(cost.DELETE.id, stores.delete_thread, "delete_thread"),
    Question(
        cost.DELETE.id,
        stores.Threads,
        stores.delete_for_runs,
        needs=frozenset({"delete_for_runs"}),
    ),
    *_removing(cost.PRUNE.id, stores.prune, "prune"),
    *_removing(cost.COPY.id, stores.copy_thread, "copy_thread"),
    Question(cost.BYTES_PER_STEP.id, stores.Agent, stores.kept, allowed=_KEPT, tolerated=_MOVED),
    Question(cost.BYTES_PER_STEP.id, stores.Chat, stores.kept, allowed=_KEPT, tolerated=_TWICE),
    Question(cost.BYTES_PER_STEP.id, stores.DeltaChat, stores.kept, allowed=_KEPT_FOR_EACH),
    _given_back(stores.Rounds, "delete_thread"),
    _given_back(stores.RoundsOfRetries, "delete_thread"),
    _given_back(stores.RoundsOfCopies, "copy_thread", "delete_thread"),
    _given_back(stores.RoundsOfRuns, "delete_for_runs"),
    _given_back(stores.RoundsOfPruning, "prune"),
    Question(
        cost.SPACE_GIVEN_BACK.id,
        stores.RoundsWhileOpen,
        stores.kept_while_open,
        allowed=_KEPT,
        tolerated=_NOT_FOLDED,
        needs=frozenset({"delete_thread"}),
    ),
)
_OF_DOOMED = frozenset(
    {stores.delete_thread, stores.delete_for_runs, stores.prune, stores.copy_thread}
)
WHATEVER_THE_DESIGN = frozenset({cost.SPACE_GIVEN_BACK.id})
"""Contracts that also a store of one record for each thread has to keep."""
GROWING = frozenset({stores.put, stores.put_writes})
"""The operations with which stores are grown."""
BY_NAME: Mapping[str, Question] = MappingProxyType({one.name: one for one in QUESTIONS})
STORES: tuple[type[GrowingStore], ...] = tuple(dict.fromkeys(one.grown for one in QUESTIONS))
