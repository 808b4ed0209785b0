"""Takes the steps of an author's rules, and checks the author's invariants."""

from __future__ import annotations

from typing import Any

from saverproof.judging import facts
from saverproof.judging.context import Context
from saverproof.judging.facts import Difference, Raised
from saverproof.judging.looks import OwnAnswer
from saverproof.judging.store_check import check_store
from saverproof.programs.steps.definitions import OwnStep, Step
from saverproof.scripts.complaints import guarded
from saverproof.scripts.statements import lines_of
from saverproof.scripts.writer import ScriptWriter


def own_objection(step: Any, context: Context) -> str | None:
    """Return why a step of an author's rule may not be taken now; None if it may, or is another
    step.
    """
    if not isinstance(step, OwnStep):
        return None
    return "there is no such rule" if context.own is None else context.own.objection(step)


def take_own(step: OwnStep, context: Context) -> None:
    """Carry out a step of an author's rule, then compare the whole store with the model."""
    own = context.own
    assert own is not None, "a step that nothing can take is not legal"
    context.last_change = step
    answer = context.attempt(lambda: own.perform(step))
    if isinstance(answer, Raised):
        _note(context, step.contract, answer)
        return
    check_store(context)


def look_at_invariants(context: Context) -> None:
    """Check each of the author's invariants."""
    if context.own is None:
        return
    for contract, look in context.own.invariants_of_author():
        answer = context.attempt(look)
        if isinstance(answer, Raised):
            _note(context, contract, answer)


def _note(context: Context, contract: str, answer: Raised) -> None:
    context.facts.differ(facts.OWN, None, "no exception", answer, detail=contract, look=_OWN)


def _show_own(writer: ScriptWriter, step: Step, difference: Difference) -> None:
    """Write a call of the rule or invariant, which raises, into a script."""
    contract, observed = str(difference.detail), difference.observed
    lines = lines_of(step, writer)
    if not (isinstance(step, OwnStep) and step.contract == contract):
        writer.say(*lines)
        lines = [writer.call_own(contract, {})]
    guarded(writer, lines, "no exception", getattr(observed, "error", None))


_OWN = OwnAnswer(_show_own)
