"""Takes the step that reads one checkpoint.

A wrong answer is followed by plainer forms of the same read. If one of them is answered otherwise,
the form makes the difference: an id of None, a missing namespace, the loop's own config entries.
"""

from __future__ import annotations

from typing import Any

from saverproof.judging import facts
from saverproof.judging.answers import field
from saverproof.judging.attribution.features import evidence
from saverproof.judging.context import Context
from saverproof.judging.facts import Cause, Difference, FactLog, Raised
from saverproof.judging.looks import Asked, OwnAnswer
from saverproof.judging.puts import spoil
from saverproof.judging.second_looks import plainer_reads
from saverproof.judging.store_check import judge_latest, judge_read, read_back
from saverproof.programs.steps.definitions import GetTuple
from saverproof.programs.values import same
from saverproof.savers.execution.calls import get_config
from saverproof.scripts.complaints import complain, guarded, unequal
from saverproof.scripts.statements import read
from saverproof.scripts.writer import ScriptWriter


def take_get_tuple(step: GetTuple, context: Context) -> None:
    """Read a checkpoint. If the answer depends on the form of the read, note only that."""
    log, observed = _ask(context, step)
    if log.differences and (cause := _cause(context, step)):
        expected = "the answer to the same question in its plain form"
        first = log.differences[0].observed
        form = context.facts.differ(facts.FORM, None, expected, first, cause=cause, look=_FORM)
        form.explains += log.differences
        return
    context.facts.merge(log)
    if not log.differences:
        for circumstance in evidence(step, context.features):
            context.facts.agree(circumstance)
        if step.namespace is None:
            context.facts.agree(facts.ROOT_BY_DEFAULT)
    if step.mutate_result and observed is not None and not isinstance(observed, Raised):
        _spoil_result(observed)
        _reread(context, step)


def _ask(context: Context, step: GetTuple) -> tuple[FactLog, Any]:
    log = FactLog(Asked(step))
    config = get_config(step, context.real(step.thread))
    observed = context.attempt(lambda: context.reader.get_tuple(config))
    if context.watch_inputs:
        fresh = get_config(step, context.real(step.thread))
        log.compare(facts.INPUT, None, fresh, config, detail="config", look=_INPUT)
    namespace = step.namespace or ""
    if step.number is not None:
        address = (step.thread, namespace, step.number)
        if address not in context.model.unexpected:
            judge_read(context, log, address, observed)
    else:
        judge_latest(context, log, step.thread, namespace, observed)
    return log, observed


def _cause(context: Context, step: GetTuple) -> Cause | None:
    for cause, plain in plainer_reads(step):
        if not alike(Asked(plain).ask(context), Asked(step).ask(context)):
            return cause
    return None


def _show_form(writer: ScriptWriter, step: GetTuple, difference: Difference) -> None:
    """Write the read in its plainest form and as it is, with a comparison of both."""
    writer.helpers.add("shown")
    plain = GetTuple(step.thread, step.namespace or "", step.number)
    writer.say(f"expected = shown({read(plain, writer)})")
    guarded(writer, [f"observed = shown({read(step, writer)})"], "an answer")
    complain(writer, "observed != expected")


def _show_input(writer: ScriptWriter, step: GetTuple, difference: Difference) -> None:
    """Write a check that the read left its config unchanged."""
    config = writer.config(step.thread, step.namespace, step.number, step.id_form, step.extras)
    writer.say(f"observed = {config}", writer.ask("get_tuple", "observed"), f"expected = {config}")
    complain(writer, unequal(difference.expected, difference.observed))


_FORM, _INPUT = OwnAnswer(_show_form), OwnAnswer(_show_input)


def alike(left: Any, right: Any) -> bool:
    """Return whether two answers to a read agree in everything but their configs."""
    if isinstance(left, Raised) or isinstance(right, Raised):
        return isinstance(left, Raised) and isinstance(right, Raised)
    if left is None or right is None:
        return left is right
    fields = ("checkpoint", "metadata", "pending_writes")
    return all(same(field(left, name), field(right, name)) for name in fields)


def _spoil_result(observed: Any) -> None:
    for name in ("checkpoint", "metadata"):
        found = field(observed, name)
        if isinstance(found, dict):
            spoil(found)
    for write in field(observed, "pending_writes") or ():
        spoil(write[2])
    for name in ("config", "parent_config"):
        found = field(observed, name)
        if isinstance(found, dict):
            found.clear()


def _reread(context: Context, step: GetTuple) -> None:
    number = step.number
    if number is None:
        number = context.model.latest(step.thread, step.namespace or "")
    if number is None:
        return
    known = len(context.facts.differences)
    read_back(context, (step.thread, step.namespace or "", number))
    for difference in context.facts.differences[known:]:
        difference.cause = Cause.CHANGED_ANSWER
    if len(context.facts.differences) == known:
        context.facts.agree(facts.SNAPSHOT)
