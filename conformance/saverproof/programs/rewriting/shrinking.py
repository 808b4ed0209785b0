"""Shortens programs: first to fewer steps, then to simpler steps with plainer names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from saverproof.programs.rewriting.renaming import PLAINER, plainer_one_by_one
from saverproof.programs.rewriting.simplifying import simpler
from saverproof.programs.rewriting.spans import with_simpler_items, without_spans
from saverproof.programs.steps.definitions import Program, PutHistory, Step

Attempt = Callable[[Program], Program | None]
"""A function that runs a candidate. It returns the legal steps if they show the flaw, else None."""


MOST_STEPS = 6_000
"""The most steps of all candidates together that are tried for one program."""


def shrink(program: Program, attempt: Attempt, most_steps: int = MOST_STEPS) -> Program:
    """Return a program that still shows the flaw, with nothing left to leave out or simplify.

    If candidates with ``most_steps`` steps in all were tried before that, return the shortest so
    far.
    """
    shrinking = _Shrinking(attempt, most_steps, program)
    try:
        return _as_short_as_can_be(program, shrinking.tried)
    except _SpentError:
        return shrinking.shortest


def _as_short_as_can_be(program: Program, attempt: Attempt) -> Program:
    program = _to_the_last_place(program, attempt)
    program = without_spans(program, attempt)
    before: Program = ()
    while program != before:
        before = program
        program = _with_plain_names(program, attempt)
        program = with_simpler_items(program, attempt, simpler)
        program = without_spans(program, attempt, 1)
    return program


class _SpentError(Exception):
    """No steps are left to try candidates with, so no more candidates are made."""


@dataclass(slots=True)
class _Shrinking:
    """The attempts at one program, until ``steps_left`` is used up."""

    attempt: Attempt
    steps_left: int
    shortest: Program
    """What is left of the last candidate that showed the flaw; at first, the program itself."""
    _in_vain: set[str] = field(default_factory=set)
    """Candidates that did not show the flaw, and are not tried again."""

    def tried(self, candidate: Program) -> Program | None:
        """Return the part of a candidate that shows the flaw; None if it does not show the flaw.

        Raises:
            _SpentError: no steps are left.
        """
        if self.steps_left <= 0:
            raise _SpentError
        said = repr(candidate)
        if not candidate or said in self._in_vain:
            return None
        self.steps_left -= sum(map(_effort, candidate)) + 1
        kept = self.attempt(candidate)
        if kept is None:
            self._in_vain.add(said)
        else:
            self.shortest = kept
        return kept


def _to_the_last_place(program: Program, attempt: Attempt) -> Program:
    """Return only the steps in the last step's namespace, or thread, if these show the flaw."""
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
    """Return the program with every name and value plain where the flaw still shows."""
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
    """Return the cost of trying a step, counted in steps."""
    return 1 + step.count // 3 if isinstance(step, PutHistory) else 1


def _thread_of(step: Step) -> Any:
    return getattr(step, "thread", None)


def _namespace_of(step: Step) -> Any:
    return _thread_of(step), getattr(step, "namespace", None)
