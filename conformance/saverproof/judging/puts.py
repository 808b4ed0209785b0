"""Takes put and put_writes steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from saverproof.execution.calls import PutCall, put_call, put_writes_call
from saverproof.judging.blame import RETURNED_AFTER
from saverproof.judging.features import evidence
from saverproof.judging.session import Raised, Session, perform
from saverproof.judging.store_check import leave_alone, read_back, survey, touch
from saverproof.judging.tuples import part
from saverproof.model.records import SPECIAL_INDEX, Address, PlannedPut, Record, Version
from saverproof.steps.definitions import Put, PutWrites
from saverproof.steps.identifiers import mint
from saverproof.values import same

RETURNS = "identity/put-returns-address"
UNTOUCHED = "identity/inputs-untouched"


@perform.register
def _(step: Put, session: Session) -> None:
    session.last_change = step
    model = session.model
    address = (step.thread, step.namespace, step.number)
    planned = session.attempt(lambda: model.plan_put(step, session.next_version))
    if isinstance(planned, Raised):
        session.sheet.differ("channels/versions-increase", "raised", address, "a version", planned)
        return
    thread = session.real(step.thread)
    call = put_call(step, planned, thread)
    answer = session.attempt(lambda: session.driver.put(call))
    if isinstance(answer, Raised):
        contract = _contract_of_refusal(session, address, planned)
        session.sheet.differ(contract, "raised", address, "the checkpoint's config", answer)
        _settle_refused(session, address)
        return
    _mark(session, step, planned)
    if session.watch_inputs:
        _judge_inputs(session, address, call, put_call(step, planned, thread))
    if step.mutate_inputs:
        spoil(call.checkpoint)
        spoil(call.metadata)
    _judge_returned(session, step, answer)
    if session.shallow:
        _forget_older(session, step)
    touch(session, address)


def _judge_returned(session: Session, step: Put, answer: Any) -> None:
    shown = (
        part(answer, "thread_id"),
        part(answer, "checkpoint_ns") or "",
        part(answer, "checkpoint_id"),
    )
    expected = (session.real(step.thread), step.namespace, mint(step.number))
    address = (step.thread, step.namespace, step.number)
    session.sheet.compare(RETURNS, "returned", address, expected, shown, settled=True)


def _contract_of_refusal(session: Session, address: Address, planned: PlannedPut) -> str:
    if session.model.record(address) is None:
        return RETURNS
    return "upsert/put-is-idempotent" if planned.again else "upsert/put-replaces"


def _settle_refused(session: Session, address: Address) -> None:
    """A put that raised stored nothing; if the store says otherwise, go on with that."""
    if session.model.record(address) is None:
        session.model.ghosts.add(address)
        session.model.doubted_writes.add(address)


def _forget_older(session: Session, step: Put) -> None:
    """A shallow saver may drop what came before, and keep it as well."""
    for number in [
        n for n in session.model.history(step.thread, step.namespace) if n < step.number
    ]:
        leave_alone(session.model, (step.thread, step.namespace, number))


def _mark(session: Session, step: Put, planned: PlannedPut) -> Record:
    """Put into the model, and note what the record is evidence for from now on."""
    model = session.model
    address = (step.thread, step.namespace, step.number)
    marks = set(evidence(step, session.features))
    present = model.record(address)
    if present is not None:
        marks.add("upsert/put-is-idempotent" if planned.again else "upsert/put-replaces")
        if address in model.writes:
            marks.add("upsert/reput-keeps-writes")
    elif model.gone.get(address) in RETURNED_AFTER:
        marks.add(RETURNED_AFTER[model.gone[address]])
    elif address in model.writes:
        for write in model.writes[address].values():
            write.marks.add("pending-writes/early-writes-kept")
    if step.parent is not None and not planned.again:
        parent = model.history(step.thread, step.namespace).get(step.parent)
        if parent is not None:
            parent.marks.add("channels/history-immutable")
    _judge_versions(session, address, planned)
    record = model.put(step, planned)
    record.marks |= marks
    record.last_marks = marks
    return record


def _judge_versions(session: Session, address: Address, planned: PlannedPut) -> None:
    """A new version is greater than every version that the checkpoint had before."""
    contract = "channels/versions-increase"
    if planned.again or not planned.new_versions:
        return
    new = next(iter(planned.new_versions.values()))
    older: list[Version] = [
        channel.version
        for name, channel in planned.channels.items()
        if name not in planned.new_versions
    ]
    try:
        increases = all(old < new for old in older)  # type: ignore[operator]
    except TypeError:
        increases = False
    if increases:
        session.sheet.agree(contract)
    else:
        session.sheet.differ(contract, "version", address, f"above {older}", new, settled=True)


def _judge_inputs(session: Session, address: Address, call: Any, untouched: Any) -> None:
    pairs: tuple[tuple[str, Any, Any], ...]
    if isinstance(call, PutCall):
        pairs = (
            ("checkpoint", untouched.checkpoint, call.checkpoint),
            ("metadata", untouched.metadata, call.metadata),
            ("new_versions", untouched.new_versions, call.new_versions),
            ("config", untouched.config, call.config),
        )
    else:
        pairs = (
            ("writes", untouched.writes, call.writes),
            ("config", untouched.config, call.config),
        )
    for name, before, after in pairs:
        if _unchanged(before, after):
            session.sheet.agree(UNTOUCHED)
        else:
            session.sheet.differ(UNTOUCHED, f"input:{name}", address, before, after, settled=True)


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
    """Change a caller's own object in place, as an application may after the call."""
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


@perform.register
def _(step: PutWrites, session: Session) -> None:
    if not session.takes_paths and step.path:
        step = replace(step, path="")
    session.last_change = step
    address = (step.thread, step.namespace, step.number)
    thread = session.real(step.thread)
    call = put_writes_call(step, thread)
    answer = session.attempt(lambda: session.driver.put_writes(call))
    if isinstance(answer, Raised):
        contract = _contract_of_refused_batch(session, step, address)
        session.sheet.differ(contract, "raised", address, "the writes to be stored", answer)
        session.model.doubted_writes.add(address)
        return
    if session.watch_inputs:
        _judge_inputs(session, address, call, put_writes_call(step, thread))
    if step.mutate_inputs:
        spoil(call.writes)
        for _, value in call.writes[:-1]:
            spoil(value)
    _follow_writes(session, step, address)
    if session.thorough:
        survey(session)
    elif address not in session.model.ghosts:
        read_back(session, address)
    if not step.writes:
        session.sheet.agree("pending-writes/empty-batch")


def _contract_of_refused_batch(session: Session, step: PutWrites, address: Address) -> str:
    stored = session.model.writes.get(address, {})
    retried = {
        channel
        for position, (channel, _) in enumerate(step.writes)
        if (step.task, SPECIAL_INDEX.get(channel, position)) in stored
    }
    if not retried:
        return "pending-writes/complete"
    if not retried <= SPECIAL_INDEX.keys():
        return "upsert/regular-write-first-wins"
    mixed = any(channel not in SPECIAL_INDEX for channel, _ in step.writes)
    return f"upsert/special-write-last-wins{'-mixed' if mixed else ''}"


def _follow_writes(session: Session, step: PutWrites, address: Address) -> None:
    """Put the batch into the model, and note what each write is evidence for."""
    model = session.model
    earlier = dict(model.writes.get(address, {}))
    model.put_writes(step)
    marks = set(evidence(step, session.features))
    record = model.record(address)
    if record is not None:
        latest = model.latest(step.thread, step.namespace)
        if latest != step.number or model.has_children(address):
            marks.add("pending-writes/late-writes")
    had_earlier = any(key[0] == step.task and key[1] >= 0 for key in earlier)
    paths = {
        write.path for write in model.writes.get(address, {}).values() if write.task == step.task
    }
    if len(paths) > 1:
        marks.add("pending-writes/one-task-two-paths")
    for position, (channel, _) in enumerate(step.writes):
        index = SPECIAL_INDEX.get(channel, position)
        write = model.writes[address][(step.task, index)]
        write.marks |= marks
        if index < 0:
            write.marks.add("pending-writes/special-index")
            if (step.task, index) in earlier:
                mixed = "-mixed" if write.mixed else ""
                write.marks.add(f"upsert/special-write-last-wins{mixed}")
        elif had_earlier:
            write.marks.add("upsert/regular-write-first-wins")
