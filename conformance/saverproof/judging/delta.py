"""Takes the steps on delta channels: compares a saver's history of them with a walk over
``get_tuple``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from saverproof.judging import facts
from saverproof.judging.answers import field
from saverproof.judging.context import Context
from saverproof.judging.facts import Difference, Raised
from saverproof.judging.looks import ById, OwnAnswer
from saverproof.judging.made_values import made_of
from saverproof.judging.pending_writes import as_shown
from saverproof.judging.store_check import read_back
from saverproof.programs.model.records import Address
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import DeltaHistory
from saverproof.programs.values import same
from saverproof.savers.execution.calls import address_config, read_config
from saverproof.scripts.complaints import compare, unequal
from saverproof.scripts.source import literal
from saverproof.scripts.statements import delta_history
from saverproof.scripts.writer import ScriptWriter


@dataclass(frozen=True, slots=True, repr=False)
class ChannelHistory:
    """The writes of a channel's ancestors, oldest first, and the stored value that they follow.

    ``seed`` is that value as a one-element tuple, or empty if there is none. ``unclear`` is True if
    the checkpoint is not there, or cannot be read, or the walk met a stored None, which a saver may
    or may not take for a value. ``raised`` is what reading an ancestor raised: nothing can be
    rebuilt then.
    """

    writes: tuple[Any, ...]
    seed: tuple[Any, ...]
    unclear: bool = False
    raised: Raised | None = None

    @property
    def is_known(self) -> bool:
        """True if it tells what the channel is rebuilt from."""
        return not self.unclear and self.raised is None

    def __repr__(self) -> str:
        """Return it as reports have it."""
        if not self.is_known:
            return "unclear" if self.raised is None else repr(self.raised)
        follow = f"the value {self.seed[0]!r}" if self.seed else "no stored value"
        return f"writes {list(self.writes)}, after {follow}"


UNCLEAR = ChannelHistory((), (), unclear=True)


def walk(context: Context, config: dict[str, Any], channel: str) -> ChannelHistory:
    """Follow the parents of a checkpoint to the nearest one that stores the channel's value."""
    writes: list[Any] = []
    target = context.attempt(lambda: context.reader.get_tuple(config))
    if isinstance(target, Raised):
        return UNCLEAR
    cursor = field(target, "parent_config")
    for _ in range(10_000):
        if cursor is None:
            break
        found = context.attempt(partial(context.reader.get_tuple, cursor))
        if isinstance(found, Raised):
            return ChannelHistory((), (), raised=found)
        if found is None:
            break
        pending = field(found, "pending_writes") or []
        writes += [tuple(write) for write in reversed(pending) if write[1] == channel]
        values = found.checkpoint.get("channel_values") or {}
        if channel in values:
            if values[channel] is None:
                return UNCLEAR
            return ChannelHistory(tuple(reversed(writes)), (values[channel],))
        cursor = field(found, "parent_config")
    return ChannelHistory(tuple(reversed(writes)), ())


def rebuilt(context: Context, address: Address, channel: str) -> ChannelHistory:
    """Return what a delta channel is rebuilt from: its stored value, or its ancestors' writes."""
    config = read_config(address, context.real(address[0]))
    target = ById(address).ask(context)
    if target is None:
        # That the checkpoint is missing is reported elsewhere.
        return UNCLEAR
    checkpoint = field(target, "checkpoint")
    values = checkpoint.get("channel_values") if isinstance(checkpoint, Mapping) else None
    if values and channel in values:
        return ChannelHistory((), (values[channel],), unclear=values[channel] is None)
    return walk(context, config, channel)


def same_rebuilt(before: ChannelHistory, after: ChannelHistory) -> bool:
    """Return whether a delta channel is rebuilt as before, or has its value stored now."""
    stored_now = bool(after.seed) and not after.writes and before.writes
    return bool(stored_now) or _equal(before, after)


def _equal(left: ChannelHistory, right: ChannelHistory) -> bool:
    return same(left.seed, right.seed) and same(left.writes, right.writes)


def take_delta_history(step: DeltaHistory, context: Context) -> None:
    """Compare the saver's history of delta channels with a walk over its reads."""
    config = address_config(context.real(step.thread), step.namespace, step.number)
    answer = context.attempt(lambda: context.reader.delta_history(config, step.channels))
    if isinstance(answer, Raised) and context.is_for_the_unreadable(
        facts.HISTORY_RAISED, "a history", answer
    ):
        return
    if isinstance(answer, Raised) or not isinstance(answer, Mapping):
        context.facts.differ(facts.HISTORY_RAISED, None, "a history", answer)
        return
    asked = sorted(set(step.channels))
    context.facts.compare(facts.CHANNELS, None, asked, sorted(answer), look=_HISTORY)
    for channel in step.channels:
        expected = walk(context, config, channel)
        if not expected.is_known or channel not in answer:
            continue
        entry = answer[channel]
        seed = (entry["seed"],) if "seed" in entry else ()
        shown = ChannelHistory(tuple(tuple(write) for write in entry.get("writes", ())), seed)
        _judge_history(context, step, channel, expected, shown)


def _judge_history(
    context: Context,
    step: DeltaHistory,
    channel: str,
    expected: ChannelHistory,
    shown: ChannelHistory,
) -> None:
    """Compare a history with the walk over the saver's reads, unless these are wrong."""
    stored = _stored(context.model, step, channel)
    as_stored = stored.is_known and _equal(stored, shown)
    alike = _equal(expected, shown)
    if alike and stored.is_known and not as_stored:
        # Made of wrong reads, both may be alike whatever the saver does.
        context.note_blind(facts.HISTORY)
        return
    if not alike and as_stored and _misread(context, step):
        return
    context.facts.judge(alike, facts.HISTORY, None, expected, shown, look=_HISTORY)


def _misread(context: Context, step: DeltaHistory) -> bool:
    """Read all checkpoints of the place whose history was asked for. Return whether a read is
    wrong.

    A walk over wrong reads proves nothing against a right history: then only the reads are
    reported.
    """
    noted = context.facts.differences, context.facts.masked
    known = sum(map(len, noted))
    for number in [*context.model.history(step.thread, step.namespace)]:
        read_back(context, (step.thread, step.namespace, number))
    return sum(map(len, noted)) > known


def _stored(model: Model, step: DeltaHistory, channel: str) -> ChannelHistory:
    """Return the history of a channel in the model."""
    place = (step.thread, step.namespace)
    number = model.latest(*place) if step.number is None else step.number
    return _stored_below(model, (*place, number or 0), channel)


def is_rebuilt_as_stored(
    model: Model, address: Address, channel: str, shown: ChannelHistory
) -> bool:
    """Return whether a delta channel is rebuilt from what a right saver would show, as far as that
    is known.
    """
    record = model.record(address)
    own = None if record is None else record.channels.get(channel)
    if own is not None and own.value is not None:
        return True
    stored = _stored_below(model, address, channel)
    return not stored.is_known or _equal(stored, shown)


def _stored_below(model: Model, address: Address, channel: str) -> ChannelHistory:
    """Return what the ancestors of a checkpoint have of a channel in the model."""
    place = address[:2]
    records, writes = model.history(*place), list[Any]()
    record = records.get(address[2])
    while record is not None and record.parent in records:
        if record.parent_may_be_gone or (*place, record.parent) in model.open_writes:
            return UNCLEAR
        pending = model.pending((*place, record.parent))
        writes += [as_shown(write) for write in reversed(pending) if write.channel == channel]
        record = records[record.parent]
        stored = record.channels.get(channel)
        if stored is not None and stored.value is not None:
            if stored.optional or stored.value.is_none:
                return UNCLEAR
            return ChannelHistory(tuple(reversed(writes)), (made_of(stored.value),))
    return ChannelHistory(tuple(reversed(writes)), ())


def _show_history(writer: ScriptWriter, step: DeltaHistory, difference: Difference) -> None:
    """Write a comparison of the saver's history with a walk over its reads."""
    config = writer.config(step.thread, step.namespace, step.number)
    walked = walk_source(writer, config, literal(step.channels))
    wrong = unequal(difference.expected, difference.observed)
    compare(writer, delta_history(step, writer), walked, wrong)


_HISTORY = OwnAnswer(_show_history)


def walk_source(writer: ScriptWriter, config: str, channels: str) -> str:
    """Return an expression that runs the base class's walk over the saver's ``get_tuple``."""
    return writer.ask_of(
        "BaseCheckpointSaver",
        "get_delta_channel_history",
        writer.receiver,
        f"config={config}",
        f"channels={channels}",
    )
