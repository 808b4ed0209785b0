"""Lets stores grow, and counts what the answers to questions cost at each size."""

from __future__ import annotations

import itertools
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median_low
from typing import Any

from saverproof.errors import OpeningError, describe
from saverproof.families.asked_saver import COUNTS_NOTHING, AskedSaver
from saverproof.families.chain import Chain
from saverproof.families.cost.effort import FEWEST, FOLDED_BY
from saverproof.families.cost.kept_bytes import KeptMemory, KeptOutside, NotCounted, memory_of
from saverproof.families.cost.questions import GROWING, Question
from saverproof.families.cost.server_work import NotTold, WorkForAnswers, work_for_answers
from saverproof.families.cost.stores import Chat, GrowingStore, doom
from saverproof.families.cost.witnesses import KEPT, WITNESSES
from saverproof.families.drivers import declared, with_loaded
from saverproof.families.items import ItemPlan
from saverproof.families.laws import Law, law_of
from saverproof.families.lean_executor import lean_executor
from saverproof.savers.execution.store import Store
from saverproof.savers.targets.event_loop import loop_for
from saverproof.savers.targets.target import Target
from saverproof_faults import WITHOUT_HOOKS
from saverproof_faults.counters import Counted, Meter

TIMES = 3
"""How often a question is asked at each size; the middle count is taken. So work that a store does
once for many operations (a checkpoint of its journal, a larger table) is left out.
"""
TIMES_REMOVING = 2
"""How often a question that removes its thread is asked; the smaller count is taken, for the same
reason. More threads that are made for it would take too long.
"""


@dataclass(slots=True)
class CostMeasurement:
    """The costs of one question's answers at ``sizes``: for each witness one count at each size.

    ``extents`` are the sizes for the law, if they are only known once the store is there.
    ``trouble`` says why the question was not asked at all sizes, ``missing`` why nothing was
    counted. ``unsteady`` are the witnesses whose counts differed between equal answers at one size,
    as where other threads work beside them. ``varied`` says so if that decided.
    """

    question: Question
    sizes: list[int] = field(default_factory=list)
    extents: list[int] = field(default_factory=list)
    counts: dict[str, list[int]] = field(default_factory=dict)
    trouble: str = ""
    missing: str = ""
    unsteady: set[str] = field(default_factory=set)
    varied: str = ""

    @property
    def slows_growing(self) -> bool:
        """True if a put or put_writes is known to take longer as the store grows, so that growing
        it further would take too long.
        """
        if self.trouble or self.question.ask not in GROWING or len(self.sizes) < FEWEST:
            return False
        return any(self.question.is_broken_by(*law) for law in self.laws.items())

    @property
    def may_be_folded(self) -> bool:
        """True if the files of the open store grow, perhaps only until its engine folds a log."""
        if self.trouble or not self.question.is_of_open_files or len(self.sizes) < FEWEST:
            return False
        return any(self.question.is_broken_by(*law) for law in self.laws.items())

    @property
    def laws(self) -> Mapping[str, Law]:
        """The law of each witness that counted anything, at all sizes."""
        return {
            name: law_of(self.extents, counts, WITNESSES[name].slack)
            for name, counts in self.counts.items()
            if any(counts) and len(counts) == len(self.sizes)
        }


@dataclass(slots=True)
class CostBench:
    """Measures the saver of a plan, which is opened again for each store that grows.

    ``calls`` and ``seconds`` are the calls of the saver, and the time spent in them.
    """

    plan: ItemPlan
    target: Target
    beat: Callable[[], None] = lambda: None
    calls: int = 0
    seconds: float = 0.0
    _unavailable: dict[str, str] = field(default_factory=dict)
    _seen: Counter[str] = field(default_factory=Counter)

    @property
    def missing(self) -> list[str]:
        """The quantities that could not be counted although they should have been, each with the
        reason.
        """
        reasons = dict.fromkeys(self._unavailable.values())
        if self._seen["unseen"]:
            reasons["what passes over connections that are opened for one call is not counted"] = (
                None
            )
        if self._seen["remote"] and "unindexed" not in self._seen.keys() | self._unavailable.keys():
            reasons["what its server does for a call is not counted"] = None
        if self.target.durable and not self._seen["calls"] and not self._seen["statements"]:
            names = [name for module, name in WITHOUT_HOOKS.items() if module in sys.modules]
            if names:
                reasons[f"nothing counts what {', '.join(names)} does for a call"] = None
        return list(reasons)

    def measure(
        self, store: type[GrowingStore], sizes: Sequence[int], questions: Sequence[Question]
    ) -> list[CostMeasurement]:
        """Let a store grow to each size, and ask each question there.

        Raises:
            OpeningError: the saver could not be opened.
        """
        measurements = [CostMeasurement(question) for question in questions]
        meter = Meter(with_loaded(declared(self.target)[0]), without=COUNTS_NOTHING)
        with (
            _the_same_each_time(),
            memory_of(self.target, questions) as in_memory,
            _ready(meter, questions),
            loop_for(self.plan.api) as loop,
            lean_executor(loop, self.plan.api),
            Store(self.target, Path(self.plan.folder), loop, (self.plan.api,)) as opened,
            ExitStack() as stack,
        ):
            self._unavailable |= meter.unavailable
            kept = KeptMemory() if in_memory else KeptOutside(opened)
            server = self._server_of(opened, stack)
            asking = CostAsking(self, meter, kept, server)
            try:
                asking.grow(store(VersionsAlike(opened)), sizes, measurements)
            except OpeningError:
                raise
            except Exception as error:  # noqa: BLE001 - a saver may raise anything; it is an answer
                for measurement in measurements:
                    measurement.trouble = measurement.trouble or f"growing, {describe(error)}"
            self.calls += opened.total_calls
            self.seconds += opened.total_seconds
        return measurements

    def _server_of(self, store: Store, stack: ExitStack) -> WorkForAnswers | None:
        """Return what asks the server of a store about its work; None if the server does not
        tell.
        """
        try:
            return stack.enter_context(work_for_answers(store))
        except NotTold as reason:
            self.cannot_tell(reason)
            return None

    def saw(self, counted: Counted) -> None:
        """Record which counts an answer gave, and whether the saver reached a server without a
        connection that the kit sees.
        """
        unseen = counted.remote and not counted.connections
        self._seen.update(counted.counts, remote=counted.remote, unseen=unseen)

    def saw_in_server(self, counts: Mapping[str, int]) -> None:
        """Record what the saver's server did."""
        self._seen.update(counts)

    def cannot_tell(self, reason: NotTold) -> None:
        """Record that a server does not tell what it does."""
        self._unavailable["unindexed"] = str(reason)


class VersionsAlike(AskedSaver):
    """A saver whose versions all have the same length.

    Savers often append `random.random` to a version, whose text has 16 to 20 digits. Without this,
    the counts of equal calls would differ by that length, and so might their median.
    """

    def get_next_version(self, current: Any, channel: Any) -> Any:
        drawn, random.random = random.random, _drawn_each_time
        try:
            return super().get_next_version(current, channel)
        finally:
            random.random = drawn


def _drawn_each_time() -> float:
    """Return a number of the usual length. The versions differ nevertheless, because savers count
    up.
    """
    return 0.8444218515250481


def _ready(meter: Meter, questions: Sequence[Question]) -> AbstractContextManager[object]:
    """Have the meter follow the saver, unless nothing is asked: it makes each call of a saver that
    works in threads take three times as long.
    """
    if all(question.counts_what_is_kept for question in questions):
        return nullcontext()
    return meter


@contextmanager
def _the_same_each_time() -> Iterator[None]:
    """Make each run alike: ids have the same places in an index, and random numbers are the
    same.
    """
    Chain.numbers = itertools.count(1)
    before = random.getstate()
    random.seed(0)
    try:
        yield
    finally:
        random.setstate(before)


@dataclass(frozen=True, slots=True)
class CostAsking:
    """Asks a store that grows."""

    bench: CostBench
    meter: Meter
    kept: KeptMemory | KeptOutside
    server: WorkForAnswers | None = None

    def grow(
        self, store: GrowingStore, sizes: Sequence[int], measurements: Sequence[CostMeasurement]
    ) -> None:
        """Let the store grow to each size, and ask the questions there."""
        for size in sizes:
            self._ask_all(measurements, store, size)
            if any(one.slows_growing for one in measurements):
                return
        if sizes[-1] < FOLDED_BY and any(one.may_be_folded for one in measurements):
            self._ask_all(measurements, store, FOLDED_BY)

    def _ask_all(
        self, measurements: Sequence[CostMeasurement], store: GrowingStore, size: int
    ) -> None:
        store.grow(size)
        for measurement in measurements:
            if not measurement.trouble and not measurement.missing:
                self._ask(measurement, store, size)
            self.bench.beat()

    def _ask(self, measurement: CostMeasurement, store: GrowingStore, size: int) -> None:
        question = measurement.question
        try:
            if question.is_of_open_files and isinstance(self.kept, KeptOutside):
                costs: Mapping[str, int] = {KEPT: self.kept.in_files()}
            elif question.counts_what_is_kept:
                costs = {KEPT: self.kept.now()}
            else:
                costs = self._costs(measurement, store, size)
        except NotCounted as missing:
            measurement.missing = str(missing)
            return
        except OpeningError:
            raise
        except Exception as error:  # noqa: BLE001 - a saver may raise anything; it is an answer
            measurement.trouble = f"{question.words}, {describe(error)}"
            return
        if not costs:
            measurement.trouble = f"{question.words} does not give what was put"
            return
        measurement.sizes.append(size)
        measurement.extents.append(store.asked.new if isinstance(store, Chat) else size)
        for name, witness in WITNESSES.items():
            if name in costs and name in question.allowed:
                count = costs[name] // witness.grain * witness.grain
                measurement.counts.setdefault(name, []).append(count)

    def _costs(
        self, measurement: CostMeasurement, store: GrowingStore, size: int
    ) -> Mapping[str, int]:
        """Return the cost of an answer, in this process and in the server; nothing if it is no
        right answer.
        """
        question = measurement.question
        counted = self._counted(question, store, size)
        if not counted:
            return {}
        told = [name for name in counted[0] if all(name in one for one in counted)]
        costs = {name: median_low(one[name] for one in counted) for name in told}
        for name in WITNESSES.keys() & costs:
            each = [one[name] for one in counted]
            if max(each) - min(each) > WITNESSES[name].slack:
                measurement.unsteady.add(name)
        return {**costs, **self._costs_in_server(question, store, size)}

    def _costs_in_server(
        self, question: Question, store: GrowingStore, size: int
    ) -> Mapping[str, int]:
        if self.server is None:
            return {}
        try:
            counts = self.server.counted(question, store, size)
        except NotTold as reason:
            self.bench.cannot_tell(reason)
            return {}
        self.bench.saw_in_server(counts)
        return counts

    def _counted(
        self, question: Question, store: GrowingStore, size: int
    ) -> list[Mapping[str, int]]:
        """Return the costs of several answers, one by one; nothing if they are no right answers."""
        counted = []
        # What is done once, such as compiling a statement, is not what an answer costs. Threads
        # that are made to be removed are as much alike as can be.
        for turn in range(1 + (TIMES_REMOVING if question.removes else TIMES)):
            if question.removes:
                doom(store)
            if not turn:
                if not question.answers(question.ask(store, size), size):
                    return []
                continue
            # Something has changed since the last answer, as in a store that is used.
            store.beside.write()
            with self.meter.counting() as counting:
                question.ask(store, size)
            self.bench.saw(counting)
            counted.append(counting.counts)
        return counted
