"""Has a saver repeat its work, and counts what is held."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from saverproof.contracts.tables.resources import FLAT, UNKNOWN_THREADS
from saverproof.errors import OpeningError, describe
from saverproof.families.asked_saver import AskedSaver
from saverproof.families.drivers import declared, with_loaded
from saverproof.families.items import ItemPlan
from saverproof.families.laws import GrowthOrder, Law, law_of
from saverproof.families.lean_executor import lean_executor
from saverproof.families.resources.failing_calls import FailingSaver, answering_within
from saverproof.families.resources.holdings import KINDS, HeldContents, Holder
from saverproof.families.resources.origins import openings
from saverproof.families.resources.work import Failing, UnknownThreads, Work
from saverproof.process.scratch import temporary_files_in
from saverproof.savers.execution.store import Store
from saverproof.savers.targets.event_loop import Loop, loop_for
from saverproof.savers.targets.overriding import target_overrides
from saverproof.savers.targets.target import Target
from saverproof_faults import Injector

FEWEST = 3
"""The fewest looks from which a law can be told."""
MORE = 4
"""To tell a leak from a cache that is not full yet, a kind of work is repeated this many times as
often.
"""
CACHED = frozenset({"objects", "memory"})
"""The kinds that a cache holds."""
DOUBLINGS = 4
"""To tell a leak of these from a cache of some thousand entries, which is right, work is done twice
as often up to so many times: 10,240 times in all where 160 are usual.
"""
_DOUBLED_WITHIN_S = 10.0
"""How many seconds a doubling may take; where it would take more, what was seen decides."""
_FILLED = 0.5
"""A cache that has been filled meanwhile grows by less than this share of what it grew before."""
THREADS_END_WITHIN_S = 12.0
"""How many seconds threads that have nothing to do may stay. Runtimes of engines, such as tokio's,
keep an idle thread for ten.
"""
_LOOK_S = 0.05
_ANSWERS_S = 6.0
"""How many seconds one repetition may take whose calls fail in the database: SQLite has given up
waiting for a lock by then. Pools may wait longer, and none of them has to.
"""


def contract_of(work: type[Work]) -> str:
    """Return the contract that a kind of work is done for."""
    return UNKNOWN_THREADS.id if work is UnknownThreads else FLAT.id


@dataclass(slots=True)
class ResourceMeasurement:
    """The counts of each kind after so many ``times``.

    If something leaks, ``contents`` are what was held before and after ``MORE`` times as many
    repetitions, and ``origins`` says where files were opened. ``error`` is what the work raised
    after it was ``done`` so often. ``done_elsewhere`` is True if another saver on the same store
    did the work then. ``threads_stay`` is True once threads were waited for, and none of them
    ended. ``unstruck`` is True if nothing could be failed. ``bounded`` are the kinds that were seen
    to stop growing in the end.
    """

    work: type[Work]
    times: list[int] = field(default_factory=list)
    counts: dict[str, list[int]] = field(default_factory=dict)
    contents: list[HeldContents] = field(default_factory=list)
    origins: dict[str, str] = field(default_factory=dict)
    error: str = ""
    done: int = 0
    done_elsewhere: bool = False
    threads_stay: bool = False
    unstruck: bool = False
    bounded: frozenset[str] = frozenset()

    @property
    def trouble(self) -> str:
        """Why the work was not done to the end, or ""."""
        return f"{self.work.__doc__}, repeated: {self.error}" if self.error else ""

    @property
    def laws(self) -> Mapping[str, Law]:
        """The law by which each kind of resource grows; none after too few looks."""
        if len(self.times) < FEWEST:
            return {}
        return {
            kind: law_of(self.times, counts, KINDS[kind].slack, relative=0.0)
            for kind, counts in self.counts.items()
        }

    @property
    def leaks(self) -> dict[str, Law]:
        """The kinds of which more and more is held."""
        return {
            kind: law
            for kind, law in self.laws.items()
            if kind not in self.bounded
            and law.order.exceeds(GrowthOrder.LOGARITHMIC)
            and law.per_item >= KINDS[kind].least
        }

    @property
    def filled(self) -> frozenset[str]:
        """The kinds of which much less was added in the end than before."""
        return frozenset(
            kind for kind, counts in self.counts.items() if _is_filled(self.times, counts)
        )

    def look(self, holder: Holder, times: int) -> None:
        """Record how much is held after so many repetitions."""
        holder.rest()
        for kind, count in holder.counts().items():
            self.counts.setdefault(kind, []).append(count)
        self.times.append(times)

    def look_closely(self, holder: Holder) -> None:
        """Record what is held, with its origin."""
        holder.rest()
        self.contents.append(holder.contents())


@dataclass(slots=True)
class ResourceBench:
    """Measures the saver of a plan, which is opened again for each kind of work.

    ``calls`` and ``seconds`` are the calls of the saver, and the time spent in them.
    """

    plan: ItemPlan
    target: Target
    beat: Callable[[], None] = lambda: None
    calls: int = 0
    seconds: float = 0.0
    _leaking: set[str] = field(default_factory=set)
    """The contracts that a leak breaks which is no cache."""

    def overrides(self, method: str) -> bool:
        """Return whether the saver has a method of its own in place of the base class's.

        Raises:
            OpeningError: the saver could not be opened.
        """
        with loop_for(self.plan.api) as loop:
            return target_overrides(self.target, Path(self.plan.folder), loop, method)

    def measure(self, kind: type[Work], times: Sequence[int]) -> ResourceMeasurement:
        """Repeat a kind of work, and count what is held after each of these times.

        Raises:
            OpeningError: the saver could not be opened.
        """
        measurement = ResourceMeasurement(kind)
        temporary = Path(self.plan.folder) / "temporary"
        with (
            temporary_files_in(temporary),
            _injecting(self.target, kind) as injector,
            loop_for(self.plan.api) as loop,
            lean_executor(loop, self.plan.api),
            Store(self.target, Path(self.plan.folder), loop, (self.plan.api,)) as store,
            _following_memory(),
        ):
            holder = Holder(store, temporary)
            try:
                saver = _asked(store, injector)
                work = kind(saver)
                for many in times:
                    self._do(work, many, measurement, holder)
                    if isinstance(saver, FailingSaver) and not saver.struck:
                        measurement.unstruck = True
                        break
                if measurement.leaks:
                    self._do_more(work, measurement, holder)
                if measurement.leaks:
                    self._fill_caches(work, measurement, holder)
            except OpeningError:
                raise
            except Exception as error:  # noqa: BLE001 - a saver may raise anything; it is an answer
                measurement.error = describe(error)
                measurement.done_elsewhere = self._is_done_by_another(measurement, loop, injector)
            self.calls += store.total_calls
            self.seconds += store.total_seconds
        return measurement

    def _do(self, work: Work, many: int, measurement: ResourceMeasurement, holder: Holder) -> None:
        """Repeat the work up to so many times in all, and count what is held then."""
        for number in range(measurement.times[-1] if measurement.times else 0, many):
            with answering_within(_ANSWERS_S) if isinstance(work, Failing) else nullcontext():
                work.once(number)
            measurement.done = max(measurement.done, number + 1)
            self.beat()
        if "threads" in measurement.leaks and not measurement.threads_stay:
            self._await_threads(measurement, holder)
        measurement.look(holder, many)

    def _is_done_by_another(
        self, measurement: ResourceMeasurement, loop: Loop, injector: Injector | None
    ) -> bool:
        """Return whether another saver, opened on the store now, does the work that raised."""
        with (
            suppress(Exception),
            Store(self.target, Path(self.plan.folder), loop, (self.plan.api,)) as store,
        ):
            measurement.work(_asked(store, injector)).once(measurement.done)
            return True
        return False

    def _do_more(self, work: Work, measurement: ResourceMeasurement, holder: Holder) -> None:
        """Repeat the work much more often, since a pool or a cache may be about to be full. An
        error in these repetitions is ignored.
        """
        # Later counts leave out what this look itself holds.
        holder.count_without(lambda: measurement.look_closely(holder))
        with suppress(Exception):
            self._do(work, MORE * measurement.times[-1], measurement, holder)
        measurement.look_closely(holder)
        if "descriptors" in measurement.leaks:
            with suppress(Exception), openings() as measurement.origins:
                work.once(measurement.times[-1])

    def _fill_caches(self, work: Work, measurement: ResourceMeasurement, holder: Holder) -> None:
        """Go on until a cache is full, if nothing stays but what a cache may hold. Once something
        of a contract stays that is none, what else stays of it is not looked into so long.
        """
        if not measurement.leaks.keys() <= CACHED or contract_of(measurement.work) in self._leaking:
            return
        longer = ResourceMeasurement(
            measurement.work,
            times=[*measurement.times],
            counts={kind: [*counts] for kind, counts in measurement.counts.items()},
        )
        with suppress(Exception):
            for _ in range(DOUBLINGS):
                started = time.monotonic()
                self._do(work, 2 * longer.times[-1], longer, holder)
                measurement.bounded |= longer.filled & CACHED
                if not measurement.leaks:
                    return
                if 2 * (time.monotonic() - started) > _DOUBLED_WITHIN_S:
                    break
        self._leaking.add(contract_of(measurement.work))

    def _await_threads(self, measurement: ResourceMeasurement, holder: Holder) -> None:
        """Wait until there are as few threads as at first, or for as long as idle ones may stay."""
        few, many = measurement.counts["threads"][0], holder.threads()
        until = time.monotonic() + THREADS_END_WITHIN_S
        while holder.threads() > few and time.monotonic() < until:
            self.beat()
            time.sleep(_LOOK_S)
        measurement.threads_stay = holder.threads() >= many


def _is_filled(times: Sequence[int], counts: Sequence[int]) -> bool:
    """Return whether much less was added between the last two looks than between those before."""
    (first, second, third), (few, more, most) = times[-3:], counts[-3:]
    return (most - more) / (third - second) < _FILLED * (more - few) / (second - first)


def _asked(store: Store, injector: Injector | None) -> AskedSaver:
    return AskedSaver(store) if injector is None else FailingSaver(store, injector)


@contextmanager
def _injecting(target: Target, work: type[Work]) -> Iterator[Injector | None]:
    """Yield what makes the calls of a kind of work fail, if they are to fail."""
    if not issubclass(work, Failing):
        yield None
        return
    drivers, _ = declared(target)
    with Injector(with_loaded(drivers)) as injector:
        yield injector


@contextmanager
def _following_memory() -> Iterator[None]:
    """Trace allocations in the block, and leave all existing objects out of the counts: going
    through them would take most of the time.
    """
    # Judge processes, and tests, have frozen what they imported: that stays so for the next work.
    frozen_before = gc.get_freeze_count() > 0
    gc.collect()
    gc.freeze()
    tracing = tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()
    try:
        yield
    finally:
        if not tracing:
            tracemalloc.stop()
        if not frozen_before:
            gc.unfreeze()
