"""Runs the steps of a program on a saver and in the model, and judges each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from saverproof.judging import attribution, facts
from saverproof.judging.attribution.odd_names import hostile_names
from saverproof.judging.author_steps import look_at_invariants, own_objection
from saverproof.judging.context import Context
from saverproof.judging.facts import Difference, Raised
from saverproof.judging.handlers import take
from saverproof.judging.looks import ITSELF
from saverproof.judging.parity import compare_apis
from saverproof.judging.scenes.unread import LeaveUnread
from saverproof.judging.store_check import check_store, may_have_lost, read_back
from saverproof.programs.axes.axis import Touched
from saverproof.programs.axes.table import READER
from saverproof.programs.axes.touching import touched_by
from saverproof.programs.legality import objection
from saverproof.programs.model.records import Address
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    GetTuple,
    ListTuples,
    Program,
    Prune,
    Put,
    PutHistory,
    PutWrites,
    Reopen,
    Step,
    WalkPages,
)
from saverproof.programs.steps.expanding import puts_of
from saverproof.programs.values import same
from saverproof.savers.execution.store import Store
from saverproof.scripts.statements import write_steps
from saverproof.scripts.writer import ScriptWriter


@dataclass(frozen=True, slots=True)
class Breach:
    """A difference, the contract it is blamed on, and the step that showed it.

    ``position`` is the number of steps taken by then. ``diverged`` is True if the saver had lost or
    invented checkpoints before the step: the difference may follow from that.
    """

    contract: str
    difference: Difference
    position: int
    step: Step
    diverged: bool = False

    @property
    def hangs(self) -> bool:
        """True if a call never returned."""
        return self.difference.kind.name == facts.HANG

    def show(self, writer: ScriptWriter, program: Program) -> None:
        """Write the program, and the complaint about what its last step shows.

        Raises:
            NoScriptError: this cannot be shown by a script.
        """
        *before, last = program
        write_steps(writer, tuple(before))
        (self.difference.look or ITSELF).show(writer, last, self.difference)


class Session(Context):
    """One run of one program, step by step.

    ``on_step`` is called before each step, with the step and the number of steps taken before it.
    Without ``touching`` it is not recorded which points of the axes the steps touched. Steps of the
    kinds that are ``avoided`` are not taken.
    """

    def __init__(
        self,
        store: Store,
        *,
        on_step: Callable[[Step, int], None] | None = None,
        touching: bool = True,
        avoided: Collection[str] = (),
        **how: Any,
    ) -> None:
        super().__init__(store, **how)
        self.on_step = on_step
        self.touching = touching
        self.avoided = avoided
        self.breaches: list[Breach] = []
        self.masked: list[Breach] = []
        """Differences where something was known to be wrong already. They do not count as
        breaches.
        """
        self.refused: set[str] = set()
        """Hostile threads and namespaces that the saver refused. Steps on them are not taken."""
        self.touched: Counter[Touched] = Counter()
        """How often the steps touched each point of the axes."""
        self._first_breaches: dict[Hashable, tuple[int, str]] = {}
        """The first breach of each fact: its position among the breaches, and its contract."""
        self._opened_anew = False
        self._doubted: frozenset[str] = frozenset()
        """The facts that were known to be wrong of the checkpoint that this step puts again."""

    @property
    def checked(self) -> Counter[str]:
        """The number of times that each contract was judged and held. Breaches are counted where
        they are found.
        """
        return attribution.counted(self.facts.judged)

    def take(self, step: Step) -> list[Breach]:
        """Take a step if it is legal now; return the breaches that it showed."""
        if objection(step, self.model) is not None or self._too_old(step):
            return []
        if type(step).__name__ in self.avoided or own_objection(step, self) is not None:
            return []
        if self.refused.intersection(hostile_names(step)) or self._over_all_threads(step):
            return []
        if self.on_step is not None:
            self.on_step(step, len(self.taken))
        seen_late = self._look_before(step)
        known, diverged = self._known, self.model.diverged
        new_to_it = self._unknown_hostile(step)
        self._doubted = self._doubts_of(step)
        if self.touching:
            self._touch(step)
        self.reads = not (self.taken and isinstance(self.taken[-1], LeaveUnread))
        self.taken.append(step)
        take(step, self)
        self.reads = True
        look_at_invariants(self)
        if new_to_it and self._was_refused(step, known[0]):
            self.refused |= new_to_it
            del self.facts.differences[known[0] :], self.facts.masked[known[1] :]
            self.facts.agree(facts.HOSTILE_REFUSED)
        return [*seen_late, *self._attributed(step, known, diverged=diverged)]

    def _look_before(self, step: Step) -> list[Breach]:
        """Read what a step may remove or copy, if it was not read lately; return the breaches.

        Which checkpoints go with a run follows from the run ids that the saver shows. Where not all
        is read after each step, something may be missing before it is copied.
        """
        known, diverged = self._known, self.model.diverged
        if isinstance(step, DeleteForRuns):
            for address in [*self.model.addresses()]:
                record = self.model.record(address)
                if record is not None and not record.looked_at:
                    read_back(self, address)
        elif isinstance(step, CopyThread | Prune) and may_have_lost(self):
            check_store(self)
        return self._attributed(self.last_change or step, known, diverged=diverged)

    def _over_all_threads(self, step: Step) -> bool:
        """Return whether a step lists all threads of a store that others use as well."""
        return self.store.ids is not None and isinstance(step, ListTuples) and step.thread is None

    def _touch(self, step: Step) -> None:
        """Count the points of the axes that a step is about to touch."""
        self.touched.update(touched_by(step, self.model))
        if isinstance(step, GetTuple | ListTuples | WalkPages):
            crossed = len(self.store.drivers) > 1
            same = "the saver opened again" if self._opened_anew else "the same saver"
            self.touched[READER.at("the other API" if crossed else same)] += 1
        elif isinstance(step, Reopen):
            self._opened_anew = True
        else:
            self._opened_anew = False

    def _unknown_hostile(self, step: Step) -> set[str]:
        """Return the hostile names of a step under which the saver has stored nothing yet."""
        hostile = hostile_names(step)
        if not hostile:
            return hostile
        addresses = (*self.model.addresses(), *self.model.writes)
        return hostile.difference(*(address[:2] for address in addresses))

    def _doubts_of(self, step: Step) -> frozenset[str]:
        """Return the facts that are known to be wrong of the checkpoint that a step puts."""
        if not isinstance(step, Put):
            return frozenset()
        record = self.model.record((step.thread, step.namespace, step.number))
        return frozenset(record.doubts if record is not None else ())

    def _was_refused(self, step: Step, known: int) -> bool:
        """Return whether the saver only refused a hostile id, which it may do.

        What was stored under the id must be shown: an exception is no refusal then.
        """
        fresh = self.facts.differences[known:]
        said_no = bool(fresh) and all(isinstance(d.observed, Raised) for d in fresh)
        return said_no and bool(self._unknown_hostile(step))

    def _too_old(self, step: Step) -> bool:
        """Return whether a put is older than the newest checkpoint of a saver that keeps only the
        newest.
        """
        if not self.shallow or not isinstance(step, Put):
            return False
        latest = self.model.latest(step.thread, step.namespace)
        return latest is not None and step.number < latest

    def finish(self) -> list[Breach]:
        """Compare the whole store with the model at the end of a program; return the breaches."""
        known, diverged = self._known, self.model.diverged
        if self.taken:
            check_store(self)
            if len(self.store.drivers) > 1:
                compare_apis(self)
        return self._attributed(self.last_change or Step(), known, diverged=diverged)

    @property
    def _known(self) -> tuple[int, int]:
        """The numbers of differences and of masked differences noted so far."""
        return len(self.facts.differences), len(self.facts.masked)

    def _attributed(self, step: Step, known: tuple[int, int], *, diverged: bool) -> list[Breach]:
        def breach(contract: str, difference: Difference) -> Breach:
            return Breach(contract, difference, len(self.taken), step, diverged)

        first = len(self.breaches)
        for difference in self.facts.differences[known[0] :]:
            contract = (
                self._blamed_as_copied(difference)
                or self._blamed_as_before(difference, step, first)
                or self._blamed(difference, step)
            )
            for key in _facts_of(difference, _SCOPES):
                self._first_breaches.setdefault(key, (len(self.breaches), contract))
            self.breaches.append(breach(contract, difference))
        masked = self.facts.masked[known[1] :]
        self.masked += [breach(self._blamed_where_masked(d, step), d) for d in masked]
        return self.breaches[first:]

    def _blamed(self, difference: Difference, step: Step) -> str:
        return attribution.attribute(difference, _acting(step, difference), self.model)

    def _blamed_as_copied(self, difference: Difference) -> str | None:
        """Return the contract of a breach that showed the same difference in the thread that this
        one was copied from, or None.
        """
        _, *sources = self._sources(difference)
        for key in (key for each in sources for key in _facts_of(each, (_CHECKPOINT,))):
            if key not in self._first_breaches:
                continue
            position, contract = self._first_breaches[key]
            shown = self.breaches[position].difference
            if shown.kind == difference.kind and same(shown.observed, difference.observed):
                return contract
        return None

    def _blamed_as_before(self, difference: Difference, step: Step, known: int) -> str | None:
        """Return the contract of an earlier breach if the difference may be older than the step.

        One of the ``known`` breaches showed the same fact of this checkpoint, which was put again
        since, or of another checkpoint of the namespace, while this one had not been read.
        """
        if difference.write is not None or difference.address is None:
            return None
        scopes: tuple[int, ...] = ()
        if not (isinstance(step, Put | PutHistory) and _wrote(step, difference.address)):
            scopes = (_NAMESPACE,) if difference.first_look else ()
        elif difference.fact in self._doubted:
            # The copy has got the difference from its source.
            scopes = (_CHECKPOINT, _STORE)
        for key in _facts_of(difference, scopes):
            position, contract = self._first_breaches.get(key, (known, ""))
            if position < known:
                return contract
        return None

    def _blamed_where_masked(self, difference: Difference, step: Step) -> str:
        """Return the contract for a masked difference, which was there before this step.

        It is the contract of the breach that showed the difference first, or showed it in the
        thread that this one was copied from. Else the difference is attributed to the step that
        wrote the checkpoint.
        """
        # Values are shared by the checkpoints that carry them on, other facts are not.
        kept = (_CHECKPOINT, _NAMESPACE) if difference.kind in facts.OF_VALUES else (_CHECKPOINT,)
        alike = [key for each in self._sources(difference) for key in _facts_of(each, kept)]
        # If the source of a copy is gone, only the whole store tells where this was seen first.
        for keys in (alike, _facts_of(difference, (_STORE,))):
            seen = [self._first_breaches[key] for key in keys if key in self._first_breaches]
            if seen:
                return min(seen)[1]
        wrote = (s for s in reversed(self.taken) if _wrote(s, difference.address))
        return self._blamed(difference, next(wrote, step))

    def _sources(self, difference: Difference) -> Iterator[Difference]:
        """Yield a difference, and then the same difference in each thread that this thread was
        copied from.
        """
        yield difference
        write, address = difference.write, difference.address
        if write is not None:
            while (write := write.copy_of) is not None:
                yield replace(difference, write=write)
            return
        seen = set[Address]()
        while address is not None and address not in seen:
            seen.add(address)
            record = self.model.record(address)
            thread = None if record is None else record.copy_of
            address = None if thread is None else (thread, *address[1:])
            if address is not None:
                yield replace(difference, address=address)


_CHECKPOINT, _NAMESPACE, _STORE = _SCOPES = (3, 2, 0)
"""How many parts of an address count when facts are compared: all of them, those of its namespace,
or none.
"""


def _facts_of(difference: Difference, scopes: Iterable[int]) -> list[Hashable]:
    """Return a key for each scope, of the write or fact that a difference is about; empty if
    there is none.
    """
    if difference.write is not None:
        return [id(difference.write)]
    if difference.address is None:
        return []
    return [(difference.fact, difference.address[:scope]) for scope in scopes]


def _wrote(step: Step, address: Address | None) -> bool:
    if isinstance(step, PutHistory):
        return any(_wrote(put, address) for put in puts_of(step))
    if not isinstance(step, Put | PutWrites):
        return False
    return (step.thread, step.namespace, step.number) == address


def _acting(step: Step, difference: Difference) -> Step:
    """Return the step that a difference is attributed to: for a history, the put of its
    checkpoint.
    """
    if not isinstance(step, PutHistory):
        return step
    puts = list(puts_of(step))
    number = difference.address[2] if difference.address is not None else None
    return next((put for put in puts if put.number == number), puts[-1])
