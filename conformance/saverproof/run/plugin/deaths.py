"""Makes use of the death of a judge process: finds a short program that ends it, and judges the
rest of the family.

Only programs of functional families can be shortened so, since only their journals have steps.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from saverproof.families.items import Finding, Outcome
from saverproof.process.client import JudgeGone
from saverproof.programs.rewriting.shrinking import shrink
from saverproof.programs.steps.codec import from_json, to_json
from saverproof.programs.steps.definitions import Program

_MOST_DEATHS = 8
"""The most hangs that are waited for to find a shorter program: each takes a third of the
watchdog's time.
"""
_DEATHS_TO_SIMPLIFY = 3
"""How many more hangs are waited for to simplify a program of two steps, which is readable as it
is.
"""
_MOST_TRIED = 60
"""The most programs that are tried to find a shorter one. A program in which the process lives on
takes a tenth of a second.
"""
_NEAREST = 40
"""How many steps before the last one are each tried as the only step before it."""

Steps = list[Any]
"""Steps as JSON, as the journal has them."""
Again = Callable[[Steps, float], tuple[JudgeGone, Steps] | None]
"""A function that runs steps in a process of its own, with so many seconds of patience. It returns
how the process ended and the steps that it took, or None if it lived on.
"""


def read_journal(journal: Path) -> Steps:
    """Return the steps of the program that was run last; none if there is no journal."""
    try:
        lines = journal.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    steps = []
    for line in lines:
        try:
            steps.append(json.loads(line))
        except ValueError:
            # The process died while it wrote this line; the step was not begun.
            break
    return steps


def kind_of_last(steps: Steps) -> str:
    """Return the kind of the step in which the process died; "" if the journal has no steps."""
    return str(steps[-1].get("step", "")) if steps and isinstance(steps[-1], dict) else ""


@dataclass(slots=True)
class _Shortening:
    """The tries to find a shorter program that ends the process in the same way."""

    first: JudgeGone
    kind: str
    again: Again
    patience_s: float
    most_deaths: int = _MOST_DEATHS
    deaths: int = 0
    tried: int = 0

    def attempt(self, candidate: Program) -> Program | None:
        """Return the steps that were taken if the process died in them, else None."""
        if self.deaths >= self.most_deaths or self.tried >= _MOST_TRIED:
            return None
        self.tried += 1
        taken = self.same_end(to_json(candidate), self.patience_s)
        if taken is None:
            return None
        self.deaths += 1
        return from_json(taken)

    def shortest(self, program: Program) -> Program:
        """Return the shortest program in which the process dies, as far as a few deaths can
        show.
        """
        few = self._with_one_before(program)
        if not self.first.hung:
            self.most_deaths = _MOST_TRIED
        elif few is not None:
            self.most_deaths = self.deaths + _DEATHS_TO_SIMPLIFY
        return shrink(few or program, self.attempt)

    def _with_one_before(self, program: Program) -> Program | None:
        """Return the last step of a program, alone or with one earlier step, if the process still
        dies in it; None otherwise.

        A try in which the process lives on takes far less time than another hang, so the shortest
        programs come first.
        """
        *before, last = program
        pairs = ((one, last) for one in reversed(before[-_NEAREST:]))
        return next(filter(None, map(self.attempt, ((last,), *pairs))), None)

    def same_end(self, steps: Steps, patience_s: float) -> Steps | None:
        """Return the steps that were taken if the process ended as it did first, else None."""
        ended = self.again(steps, patience_s)
        if ended is None:
            return None
        gone, taken = ended
        alike = gone.hung == self.first.hung and (gone.hung or gone.reason == self.first.reason)
        return taken if alike and kind_of_last(taken) == self.kind else None


@dataclass(slots=True)
class Shortener:
    """Finds short programs that end the process, once for each saver and kind of step.

    ``watchdog_s`` is the patience in seconds that decides whether a call hangs, ``quick_s`` the
    patience of the tries.
    """

    watchdog_s: float
    quick_s: float
    _known: dict[tuple[str, str], Steps] = field(default_factory=dict)

    def shortened(self, saver: str, gone: JudgeGone, steps: Steps, again: Again) -> Steps:
        """Return the shortest program found that ends the process in the same way."""
        kind = kind_of_last(steps)
        tries = _Shortening(gone, kind, again, self.quick_s)
        known = self._known.get((saver, kind))
        if known is not None:
            # Another family or API of this saver has found a program. A search would find it again.
            return tries.same_end(known, self.quick_s) or steps
        try:
            program = from_json(steps)
        except ValueError:
            return steps
        short = to_json(tries.shortest(program))
        # Under load, a try may have been given up too early.
        if len(short) == len(steps) or tries.same_end(short, self.watchdog_s) is None:
            short = steps
        self._known[saver, kind] = short
        return short


def held_by(rest: Outcome) -> frozenset[str]:
    """Return the contracts that an outcome has judged, and found neither broken nor unclear."""
    unclear = {*rest.unknown, *rest.unexercised, *rest.unsettled}
    return frozenset(name for name, times in rest.checked.items() if times) - unclear


def with_the_rest(
    first: Outcome, rest: Outcome, deaths: Collection[Finding], held: Collection[str]
) -> Outcome:
    """Join the outcomes of two runs of one family.

    The process of the ``first`` run died, as its findings ``deaths`` say. The run ``rest`` took no
    steps of the kind in which it died. For contracts that the first run could not finish, the
    findings of ``rest`` count, and of the contracts that held in ``rest`` only those in ``held``.
    The others stay unknown.
    """
    anew = {one.contract for one in rest.findings}
    # The rest finds again what was found before the death.
    before = [one for one in first.findings if one in deaths or one.contract not in anew]
    known = {*first.checked, *anew, *held, *rest.inapplicable}
    checked = {
        name: first.checked.get(name, 0) + rest.checked.get(name, 0)
        for name in first.checked | rest.checked
    }
    return replace(
        rest,
        checked={name: times for name, times in checked.items() if name in known},
        findings=(*before, *rest.findings),
        unknown={name: why for name, why in first.unknown.items() if name not in known},
        unexercised={},
        hidden_by={name: by for name, by in rest.hidden_by.items() if name in known},
        unsettled=first.unsettled | rest.unsettled,
    )
