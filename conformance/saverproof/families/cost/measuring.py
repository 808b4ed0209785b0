"""Lets stores grow, and counts what the answers to questions cost at each size."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median_low

from saverproof.errors import OpeningError, describe
from saverproof.execution.store import Store
from saverproof.families.cost.asking import COUNTS_NOTHING, AskedSaver
from saverproof.families.cost.effort import FEWEST
from saverproof.families.cost.laws import Law, law_of
from saverproof.families.cost.questions import GROWING, Question
from saverproof.families.cost.stores import GrowingStore
from saverproof.families.cost.witnesses import WITNESSES
from saverproof.families.drivers import declared, with_loaded
from saverproof.items import ItemPlan
from saverproof.targets.event_loop import loop_for
from saverproof.targets.target import Target
from saverproof_faults import WITHOUT_HOOKS
from saverproof_faults.counters import Meter

TIMES = 3
"""So often a question is asked at each size; the middle count is taken. What a store does now and
then for many operations (a checkpoint of its journal, a larger table) is left out by that.
"""


@dataclass(slots=True)
class Measurement:
    """What the answers to one question cost at ``sizes``: for each witness a count for each.

    ``trouble`` says why it was not asked to the end.
    """

    question: Question
    sizes: list[int] = field(default_factory=list)
    counts: dict[str, list[int]] = field(default_factory=dict)
    trouble: str = ""

    @property
    def slows_growing(self) -> bool:
        """Whether it is known to take longer and longer to let the store grow further."""
        if self.trouble or self.question.ask not in GROWING or len(self.sizes) < FEWEST:
            return False
        return any(self.question.is_broken_by(*law) for law in self.laws.items())

    @property
    def laws(self) -> Mapping[str, Law]:
        """The law of each witness that counted anything."""
        return {
            name: law_of(self.sizes, counts, WITNESSES[name].slack)
            for name, counts in self.counts.items()
            if any(counts)
        }


@dataclass(slots=True)
class Bench:
    """The saver of a plan, opened anew for each store that grows.

    ``calls`` and ``seconds`` are what the saver was asked for, and spent on it.
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
        """What was not counted although it should have been, each with the reason."""
        reasons = dict.fromkeys(self._unavailable.values())
        if self._seen["remote"]:
            reasons["what its server does for a call is not counted"] = None
        elif self.target.durable and not self._seen["calls"] and not self._seen["statements"]:
            names = [name for module, name in WITHOUT_HOOKS.items() if module in sys.modules]
            if names:
                reasons[f"nothing counts what {', '.join(names)} does for a call"] = None
        return list(reasons)

    def measure(
        self, store: type[GrowingStore], sizes: Sequence[int], questions: Sequence[Question]
    ) -> list[Measurement]:
        """Let a store grow to each size, and ask each question there.

        Raises:
            OpeningError: the saver could not be opened.
        """
        measurements = [Measurement(question) for question in questions]
        drivers = with_loaded(declared(self.target)[0])
        with (
            Meter(drivers, without=COUNTS_NOTHING) as meter,
            loop_for(self.plan.api) as loop,
            Store(self.target, Path(self.plan.folder), loop, (self.plan.api,)) as opened,
        ):
            self._unavailable |= meter.unavailable
            try:
                self._grow(store, sizes, measurements, meter, AskedSaver(opened.drivers[0]))
            except OpeningError:
                raise
            except Exception as error:  # noqa: BLE001 - a saver may raise anything; it is an answer
                for measurement in measurements:
                    measurement.trouble = measurement.trouble or f"growing, {describe(error)}"
            self.calls += opened.total_calls
            self.seconds += opened.total_seconds
        return measurements

    def _grow(
        self,
        store: type[GrowingStore],
        sizes: Sequence[int],
        measurements: Sequence[Measurement],
        meter: Meter,
        saver: AskedSaver,
    ) -> None:
        grown = store(saver)
        for size in sizes:
            grown.grow(size)
            for measurement in measurements:
                if not measurement.trouble:
                    self._ask(measurement, grown, size, meter)
                self.beat()
            if any(one.slows_growing for one in measurements):
                return

    def _ask(self, measurement: Measurement, grown: GrowingStore, size: int, meter: Meter) -> None:
        question = measurement.question
        counted = []
        try:
            # What is done once, such as compiling a statement, is not what an answer costs.
            answer = question.ask(grown, size)
            for _ in range(TIMES):
                # Something has changed since the last answer, as in a store that is used.
                grown.beside.write()
                with meter.counting() as counting:
                    question.ask(grown, size)
                counted.append(counting.counts)
                self._seen.update(counting.counts, remote=counting.remote)
        except Exception as error:  # noqa: BLE001 - a saver may raise anything; it is an answer
            measurement.trouble = f"{question.words}, {describe(error)}"
            return
        if not question.answers(answer, size):
            measurement.trouble = f"{question.words} does not give what was put"
            return
        measurement.sizes.append(size)
        for witness in counted[0].keys() & question.allowed.keys():
            grain = WITNESSES[witness].grain
            count = median_low(one[witness] for one in counted)
            measurement.counts.setdefault(witness, []).append(count // grain * grain)
