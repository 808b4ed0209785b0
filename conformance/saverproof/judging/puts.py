"""Takes the steps that put checkpoints and pending writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from saverproof.judging import facts
from saverproof.judging.answers import place
from saverproof.judging.attribution.features import evidence
from saverproof.judging.context import Context
from saverproof.judging.facts import Cause, Difference, Raised
from saverproof.judging.looks import OwnAnswer
from saverproof.judging.store_check import check_store, touch
from saverproof.programs.model import records
from saverproof.programs.model.records import SPECIAL_INDEX, Address, PlannedPut, Record, Version
from saverproof.programs.steps.definitions import Put, PutHistory, PutWrites, VersionsBy
from saverproof.programs.steps.expanding import puts_of
from saverproof.programs.steps.identifiers import mint
from saverproof.programs.values import same
from saverproof.savers.execution.calls import PutCall, put_call, put_writes_call
from saverproof.scripts.complaints import address_source, compare, unequal
from saverproof.scripts.statements import put, put_writes, write
from saverproof.scripts.writer import ScriptWriter


def take_put(step: Put, context: Context) -> None:
    """Put a checkpoint, then judge it, or the whole store if judging is thorough."""
    context.last_change = step
    model = context.model
    address = (step.thread, step.namespace, step.number)
    planned = context.attempt(lambda: model.plan_put(step, context.next_version))
    if isinstance(planned, Raised):
        context.facts.differ(facts.VERSION_RAISED, address, "a version", planned)
        return
    thread = context.real(step.thread)
    call = put_call(step, planned, thread)
    answer = context.attempt(lambda: context.driver.put(call))
    if isinstance(answer, Raised):
        cause = Cause.AGAIN if planned.again else None
        context.facts.differ(facts.RAISED, address, "the checkpoint's config", answer, cause=cause)
        settle_refused(context, address)
        return
    mark(context, step, planned)
    if context.watch_inputs:
        _judge_inputs(context, address, call, put_call(step, planned, thread))
    if step.mutate_inputs:
        spoil(call.checkpoint)
        spoil(call.metadata)
    _judge_returned(context, step, answer)
    if context.shallow:
        forget_older(context, step)
    touch(context, address)


def take_put_history(step: PutHistory, context: Context) -> None:
    """Put the checkpoints of a history one after another, then judge the last one.

    The others are judged by listings and at the end of the program. The history ends with the first
    put that the saver refuses.
    """
    context.last_change = step
    thread = context.real(step.thread)
    for one in puts_of(step):
        address = (one.thread, one.namespace, one.number)
        planned = context.attempt(partial(context.model.plan_put, one, context.next_version))
        if isinstance(planned, Raised):
            context.facts.differ(facts.VERSION_RAISED, address, "a version", planned)
            return
        answer = context.attempt(partial(context.driver.put, put_call(one, planned, thread)))
        if isinstance(answer, Raised):
            context.facts.differ(facts.RAISED, address, "the checkpoint's config", answer)
            settle_refused(context, address)
            return
        mark(context, one, planned)
        if context.shallow:
            forget_older(context, one)
    touch(context, address)


def _judge_returned(context: Context, step: Put, answer: Any) -> None:
    expected = (context.real(step.thread), step.namespace, mint(step.number))
    address = (step.thread, step.namespace, step.number)
    context.facts.compare(facts.RETURNED, address, expected, place(answer), look=_RETURNED)


def _show_returned(writer: ScriptWriter, step: Put, difference: Difference) -> None:
    put(step, writer, answer="answer")
    expected = address_source(writer, (step.thread, step.namespace, step.number))
    compare(writer, "address(answer)", expected)


_RETURNED = OwnAnswer(_show_returned)


def settle_refused(context: Context, address: Address) -> None:
    """Stop judging the address of a put that raised, unless something was stored there before."""
    if context.model.record(address) is None:
        context.model.unexpected.add(address)
        context.model.open_writes.add(address)


def forget_older(context: Context, step: Put) -> None:
    """Allow a shallow saver to drop the older checkpoints and the parent, or to keep them."""
    if (record := context.model.record((step.thread, step.namespace, step.number))) is not None:
        record.parent_may_be_gone = True
    for number in [
        n for n in context.model.history(step.thread, step.namespace) if n < step.number
    ]:
        context.model.leave_alone((step.thread, step.namespace, number))


def mark(context: Context, step: Put, planned: PlannedPut) -> Record:
    """Put a checkpoint into the model, and note what its record is evidence for from now on."""
    model = context.model
    address = (step.thread, step.namespace, step.number)
    marks = set(evidence(step, context.features))
    present = model.record(address)
    if present is not None:
        marks.add(records.PUT_AGAIN if planned.again else records.REPLACED)
        if address in model.writes:
            marks.add(records.WRITES_BEFORE_REPUT)
    elif model.gone.get(address) in records.RETURNED:
        marks.add(records.RETURNED[model.gone[address]])
    elif address in model.writes:
        for write in model.writes[address].values():
            write.marks.add(records.EARLY)
    if any(step.number in other for other in model.threads.get(step.thread, {}).values()):
        marks.add(records.SAME_ID)
    if step.parent is not None and not planned.again:
        parent = model.history(step.thread, step.namespace).get(step.parent)
        if parent is not None:
            parent.marks.add(records.HAS_CHILD)
    _judge_versions(context, step, planned)
    record = model.put(step, planned)
    record.marks |= marks
    record.last_marks = marks
    return record


def _judge_versions(context: Context, step: Put, planned: PlannedPut) -> None:
    """Judge that a channel version that the saver made is above all versions that the checkpoint
    had before.
    """
    address = (step.thread, step.namespace, step.number)
    if planned.again or not planned.new_versions or step.versions is not VersionsBy.SAVER:
        return
    new = next(iter(planned.new_versions.values()))
    older: list[Version] = [
        channel.version
        for name, channel in planned.channels.items()
        if name not in planned.new_versions
    ]
    look = _VERSION
    try:
        increases = all(old < new for old in older)  # type: ignore[operator]
    except TypeError:
        increases, look = False, _VERSION_OF_OTHER_TYPE
    context.facts.judge(increases, facts.VERSION, address, f"above {older}", new, look=look)


def _show_version(writer: ScriptWriter, step: Put, condition: str) -> None:
    """Write a check that the put's new version is above those of its other channels."""
    write(step, writer)
    record = writer.model.record((step.thread, step.namespace, step.number))
    changed = {channel for channel, _ in step.changes}
    channels = record.channels if record is not None else {}
    older = [str(channel.version) for name, channel in channels.items() if name not in changed]
    new = next(str(channel.version) for name, channel in channels.items() if name in changed)
    wrong = f"not all({condition} for older in expected)"
    compare(writer, new, f"[{', '.join(dict.fromkeys(older))}]", wrong)


_VERSION = OwnAnswer(lambda writer, step, _: _show_version(writer, step, "older < observed"))
_VERSION_OF_OTHER_TYPE = OwnAnswer(
    lambda writer, step, _: _show_version(
        writer, step, "isinstance(older, str) is isinstance(observed, str) and older < observed"
    )
)


def _judge_inputs(context: Context, address: Address, call: Any, untouched: Any) -> None:
    of_put = ("checkpoint", "metadata", "new_versions", "config")
    for name in of_put if isinstance(call, PutCall) else ("writes", "config"):
        before, after = getattr(untouched, name), getattr(call, name)
        context.facts.judge(
            _unchanged(before, after),
            facts.INPUT,
            address,
            before,
            after,
            detail=name,
            look=_INPUT,
        )


def _show_input(writer: ScriptWriter, step: Put | PutWrites, difference: Difference) -> None:
    """Write a check that a call left its arguments unchanged."""
    name = str(difference.detail)
    if isinstance(step, Put):
        sources = put(step, writer, named=name)
    else:
        sources = put_writes(step, writer, named=name)
    wrong = unequal(difference.expected, difference.observed)
    compare(writer, f"given_{name}", sources[name], wrong)


_INPUT = OwnAnswer(_show_input)


def _unchanged(before: Any, after: Any) -> bool:
    if isinstance(before, tuple) and isinstance(after, tuple):
        return len(before) == len(after) and all(map(_unchanged, before, after))
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(_unchanged, before, after))
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return before.keys() == after.keys() and all(
            _unchanged(before[key], after[key]) for key in before
        )
    return before is after or same(before, after)


def spoil(value: Any) -> None:
    """Change an argument in place after the call, as an application may do with its own objects."""
    if isinstance(value, dict):
        for item in value.values():
            spoil(item)
        value["spoilt"] = "changed after the call"
    elif isinstance(value, list):
        for item in value:
            spoil(item)
        value.append("changed after the call")
    elif isinstance(value, set):
        value.add("changed after the call")


def take_put_writes(step: PutWrites, context: Context) -> None:
    """Write a batch, then judge its checkpoint, or the whole store if judging is thorough."""
    driver = context.driver
    if not driver.takes_paths and step.path:
        step = replace(step, path="")
    context.last_change = step
    address = (step.thread, step.namespace, step.number)
    thread = context.real(step.thread)
    call = put_writes_call(step, thread)
    answer = context.attempt(lambda: driver.put_writes(call))
    if isinstance(answer, Raised):
        context.facts.differ(facts.RAISED, address, "the writes to be stored", answer)
        context.model.open_writes.add(address)
        return
    if context.watch_inputs:
        _judge_inputs(context, address, call, put_writes_call(step, thread))
    if step.mutate_inputs:
        spoil(call.writes)
        for _, value in call.writes[:-1]:
            spoil(value)
    _follow_writes(context, step, address)
    if address not in context.model.unexpected:
        touch(context, address)
    elif context.thorough:
        check_store(context)
    if not step.writes:
        context.facts.agree(facts.EMPTY_BATCH)


def _follow_writes(context: Context, step: PutWrites, address: Address) -> None:
    """Put a batch into the model, and note what each write is evidence for."""
    model = context.model
    earlier = dict(model.writes.get(address, {}))
    model.put_writes(step)
    marks = set(evidence(step, context.features))
    record = model.record(address)
    if record is not None:
        latest = model.latest(step.thread, step.namespace)
        if latest != step.number or model.has_children(address):
            marks.add(records.LATE)
    had_earlier = any(key[0] == step.task and key[1] >= 0 for key in earlier)
    paths = {
        write.path for write in model.writes.get(address, {}).values() if write.task == step.task
    }
    if len(paths) > 1:
        marks.add(records.TWO_PATHS)
    for position, (channel, _) in enumerate(step.writes):
        index = SPECIAL_INDEX.get(channel, position)
        write = model.writes[address][(step.task, index)]
        write.marks |= marks
        if index < 0:
            write.marks.add(records.SPECIAL)
            if (step.task, index) in earlier:
                again = records.SPECIAL_AGAIN_MIXED if write.mixed else records.SPECIAL_AGAIN
                write.marks.add(again)
        elif had_earlier:
            write.marks.add(records.ADDED)
