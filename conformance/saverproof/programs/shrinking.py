"""Shortens programs: fewer steps first, then simpler ones with plainer names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from saverproof.programs.renaming import PLAINER, plainer_one_by_one
from saverproof.programs.simplifying import simpler
from saverproof.programs.spans import with_simpler_items, without_spans
from saverproof.steps.definitions import Program, PutHistory, Step

Attempt = Callable[[Program], Program | None]
"""Runs a candidate: the steps of it that were legal, if it still shows the flaw, or None."""


MOST_STEPS = 6_000
"""Steps of the candidates that are tried, together."""


def shrink(program: Program, attempt: Attempt, most_steps: int = MOST_STEPS) -> Program:
    """A program that still shows the flaw and from which nothing can be left out, nor simplified.

    Candidates of ``most_steps`` steps together are tried; then the shortest so far is given.
    """
    shrinking = _Shrinking(attempt, most_steps)
    program = _to_the_last_place(program, shrinking.tried)
    program = without_spans(program, shrinking.tried)
    before: Program = ()
    while program != before:
        before = program
        program = _with_plain_names(program, shrinking.tried)
        program = with_simpler_items(program, shrinking.tried, simpler)
        program = without_spans(program, shrinking.tried, 1)
    return program


@dataclass(slots=True)
class _Shrinking:
    """The attempts at one program, until the steps that may be tried run out."""

    attempt: Attempt
    steps_left: int
    _in_vain: set[str] = field(default_factory=set)
    """What did not show the flaw, and is not tried again."""

    def tried(self, candidate: Program) -> Program | None:
        """What is left of a candidate if it still shows the flaw."""
        said = repr(candidate)
        if self.steps_left <= 0 or not candidate or said in self._in_vain:
            return None
        self.steps_left -= sum(map(_effort, candidate)) + 1
        kept = self.attempt(candidate)
        if kept is None:
            self._in_vain.add(said)
        return kept


def _to_the_last_place(program: Program, attempt: Attempt) -> Program:
    """Only the steps in the namespace or the thread of the last one, if they do."""
    if len(program) <= 2:
        return program
    for key in (_namespace_of, _thread_of):
        last = key(program[-1])
        candidate = tuple(step for step in program if key(step) == last)
        kept = attempt(candidate) if len(candidate) < len(program) else None
        if kept is not None:
            return kept
    return program


def _with_plain_names(program: Program, attempt: Attempt) -> Program:
    """Plain numbers, threads, namespaces, tasks, channels and values, where the flaw stays."""
    for rewritten in PLAINER:
        candidate = rewritten(program)
        kept = attempt(candidate) if candidate != program else None
        program = program if kept is None else kept
    for one_plainer in plainer_one_by_one(program):
        candidate = one_plainer(program)
        kept = attempt(candidate) if candidate != program else None
        program = program if kept is None else kept
    return program


def _effort(step: Step) -> int:
    """What it takes to try a step, in steps."""
    return 1 + step.count // 3 if isinstance(step, PutHistory) else 1


def _thread_of(step: Step) -> Any:
    return getattr(step, "thread", None)


def _namespace_of(step: Step) -> Any:
    return _thread_of(step), getattr(step, "namespace", None)
