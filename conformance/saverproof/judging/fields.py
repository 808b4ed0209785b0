"""The parts of a checkpoint tuple that are compared one by one, each as an object and as source.

A field says what a tuple should have for it, going by a record of the model, and where the tuple
has it. Judging compares the two as objects; a script compares them as expressions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from saverproof.execution.calls import PENDING_SEND, checkpoint_format
from saverproof.judging.answers import field, is_mapping, place
from saverproof.judging.facts import Difference
from saverproof.judging.made_values import made_of
from saverproof.model.metadata import equal
from saverproof.model.records import Channel, Record
from saverproof.scripts import complaints
from saverproof.scripts.source import literal, nested, quoted, versions_source
from saverproof.scripts.statements import NoScriptError
from saverproof.scripts.writer import ScriptWriter
from saverproof.steps.identifiers import mint, timestamp
from saverproof.values import Value, same


class _Absent:
    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()
"""What stands for a key or a channel that is not there."""


@dataclass(slots=True)
class Shown:
    """A tuple that stands for a record of the model; ``thread`` is the real id of its thread."""

    record: Record
    thread: str
    found: Any


class Field(ABC):
    """One part of a tuple; ``detail`` is the channel or the key where there are several."""

    __slots__ = ("detail",)

    def __init__(self, detail: str | None = None) -> None:
        self.detail = detail

    @abstractmethod
    def expected(self, shown: Shown) -> Any:
        """What the tuple should have."""

    @abstractmethod
    def observed(self, shown: Shown) -> Any:
        """What the tuple has."""

    def agrees(self, expected: Any, observed: Any) -> bool:
        """Whether that is as it should be."""
        return same(expected, observed)

    def told(self, value: Any) -> Any:
        """What a report says of what is expected or observed."""
        if self.detail is None:
            return value
        return {} if value is ABSENT else {self.detail: value}

    @abstractmethod
    def expected_source(self, writer: ScriptWriter, record: Record) -> str:
        """What the tuple should have, as an expression."""

    @abstractmethod
    def observed_source(self, writer: ScriptWriter, record: Record) -> str:
        """What the tuple ``found`` has, as an expression."""

    def made(self, record: Record) -> tuple[Value, ...]:
        """The values that a script makes anew for what is expected."""
        del record
        return ()

    def show(self, writer: ScriptWriter, found: str, difference: Difference) -> None:
        """Write a comparison of the field in what the expression ``found`` gives."""
        record = record_of(writer, difference)
        expected = self.expected_source(writer, record)
        observed = self.observed_source(writer, record)
        writer.say(f"found = {found}", f"expected = {expected}", f"observed = {observed}")
        values = self.made(record)
        complaints.complain(
            writer, complaints.unequal(difference.expected, difference.observed, *values)
        )


def record_of(writer: ScriptWriter, difference: Difference) -> Record:
    """The checkpoint that a difference is about, in the script's own model.

    Raises:
        NoScriptError: it is not there.
    """
    record = None if difference.address is None else writer.model.record(difference.address)
    if record is None:
        raise NoScriptError("the script's model does not have the checkpoint")
    return record


# --- the tuple as a whole ----------------------------------------------------------------------


class Presence:
    """Whether there is a tuple at all."""

    __slots__ = ("_expected", "_wrong")

    def __init__(self, expected: str, wrong: str) -> None:
        self._expected = expected
        self._wrong = wrong

    def show(self, writer: ScriptWriter, found: str, difference: Difference) -> None:
        """Write what there should be, and the complaint if there is something else."""
        del difference
        complaints.compare(writer, found, self._expected, self._wrong)


THERE = Presence('"the checkpoint"', "observed is None")
GONE = Presence("None", "observed is not None")
WELL_FORMED = Presence(
    '"a CheckpointTuple"', 'not isinstance(getattr(observed, "checkpoint", None), dict)'
)


class Newest:
    """Which checkpoint a read of a namespace gives that names none."""

    __slots__ = ("_place",)

    def __init__(self, thread: str, namespace: str) -> None:
        self._place = (thread, namespace)

    def show(self, writer: ScriptWriter, found: str, difference: Difference) -> None:
        """Write a comparison of its id with that of the newest."""
        del difference
        newest = writer.model.latest(*self._place)
        if newest is None:
            raise NoScriptError("the script's model has no newest checkpoint")
        writer.say(f"found = {found}")
        observed = 'found and found.checkpoint["id"]'
        complaints.compare(writer, observed, writer.id(newest))


# --- whose it is -------------------------------------------------------------------------------


class OwnAddress(Field):
    """The address that a tuple gives itself."""

    __slots__ = ()

    def expected(self, shown: Shown) -> Any:
        step = shown.record.step
        return shown.thread, step.namespace, mint(step.number)

    def observed(self, shown: Shown) -> Any:
        return place(shown.found.config)

    def agrees(self, expected: Any, observed: Any) -> bool:
        return bool(expected == observed)

    def expected_source(self, writer: ScriptWriter, record: Record) -> str:
        step = record.step
        return complaints.address_source(writer, (step.thread, step.namespace, step.number))

    def observed_source(self, writer: ScriptWriter, record: Record) -> str:
        return "address(found.config)"


class Parent(Field):
    """The address of the parent; None for a root, or where the parent was removed."""

    __slots__ = ()

    def expected(self, shown: Shown) -> Any:
        record, step = shown.record, shown.record.step
        gone = record.parent_may_be_gone and field(shown.found, "parent_config") is None
        if step.parent is None or gone:
            return None
        return shown.thread, step.namespace, mint(step.parent)

    def observed(self, shown: Shown) -> Any:
        config = field(shown.found, "parent_config")
        return config if config is None or shown.record.parent is None else place(config)

    def agrees(self, expected: Any, observed: Any) -> bool:
        return bool(expected == observed)

    def expected_source(self, writer: ScriptWriter, record: Record) -> str:
        step = record.step
        if step.parent is None:
            return "None"
        return complaints.address_source(writer, (step.thread, step.namespace, step.parent))

    def observed_source(self, writer: ScriptWriter, record: Record) -> str:
        config = "found.parent_config"
        return config if record.parent is None else f"address({config})"


OWN_ADDRESS, PARENT = OwnAddress(), Parent()


# --- the checkpoint and its metadata -----------------------------------------------------------


class _Named(Field):
    """One of several parts of a kind."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        # Hot: one is made for each key and channel that is compared.
        self.detail = self.name = name


class CheckpointField(_Named):
    """One of a checkpoint's own fields; where None is expected, it may be left out or empty."""

    __slots__ = ("_expected", "_source")

    def __init__(
        self,
        name: str,
        expected: Callable[[Record], Any],
        source: Callable[[ScriptWriter, Record, Any], str] = lambda _, __, value: literal(value),
    ) -> None:
        super().__init__(name)
        self._expected = expected
        self._source = source

    def expected(self, shown: Shown) -> Any:
        return self._expected(shown.record)

    def observed(self, shown: Shown) -> Any:
        return shown.found.checkpoint.get(self.name, ABSENT)

    def agrees(self, expected: Any, observed: Any) -> bool:
        if expected is None:
            return observed is ABSENT or not observed
        return same(expected, observed)

    def expected_source(self, writer: ScriptWriter, record: Record) -> str:
        return self._source(writer, record, self._expected(record))

    def observed_source(self, writer: ScriptWriter, record: Record) -> str:
        otherwise = " or None" if self._expected(record) is None else ""
        return f"found.checkpoint.get({quoted(self.name)}){otherwise}"


def _format(record: Record) -> int:
    given = record.step.format
    return checkpoint_format() if given is None else given


def _time(record: Record) -> str:
    step = record.step
    return timestamp(step.number if step.clock is None else step.clock)


def _time_source(writer: ScriptWriter, record: Record, value: str) -> str:
    del writer
    step = record.step
    # The script's own helper says which time a checkpoint bears that was given no other.
    return f'checkpoint({step.number}, {{}}, {{}})["ts"]' if step.clock is None else quoted(value)


def _updated(record: Record) -> list[str] | None:
    step = record.step
    if step.fields != "usual":
        return None
    return [] if step.copy_of is not None else sorted(name for name, _ in step.changes)


_FIELDS = (
    CheckpointField("v", _format),
    CheckpointField(
        "id", lambda record: mint(record.step.number), lambda w, record, _: w.id(record.step.number)
    ),
    CheckpointField("ts", _time, _time_source),
    CheckpointField(
        "channel_versions",
        lambda record: {name: channel.version for name, channel in record.channels.items()},
        lambda _, __, versions: versions_source(versions),
    ),
    CheckpointField("versions_seen", lambda record: record.seen, lambda _, __, seen: nested(seen)),
)
_SENDS = CheckpointField(
    "pending_sends",
    lambda _: [PENDING_SEND.make()],
    lambda writer, _, __: f"[{writer.value(PENDING_SEND)}]",
)
_UPDATED = CheckpointField("updated_channels", _updated)
_USUAL, _WITH_SENDS = (*_FIELDS, _UPDATED), (*_FIELDS, _SENDS, _UPDATED)


def checkpoint_fields(record: Record) -> tuple[CheckpointField, ...]:
    """The fields that a checkpoint should have."""
    return _WITH_SENDS if record.step.fields == "pending-sends" else _USUAL


class Metadata(_Named):
    """One key of the metadata."""

    __slots__ = ()

    def expected(self, shown: Shown) -> Any:
        return self._expected(shown.record)

    def _expected(self, record: Record) -> Any:
        given = record.metadata.get(self.name, ABSENT)
        return record.merged.get(self.name, ABSENT) if given is ABSENT else given

    def observed(self, shown: Shown) -> Any:
        return metadata_of(shown.found).get(self.name, ABSENT)

    def agrees(self, expected: Any, observed: Any) -> bool:
        return observed is not ABSENT and equal(expected, observed)

    def expected_source(self, writer: ScriptWriter, record: Record) -> str:
        expected = self._expected(record)
        return complaints.ABSENT if expected is ABSENT else literal(expected)

    def observed_source(self, writer: ScriptWriter, record: Record) -> str:
        return f"found.metadata.get({quoted(self.name)}, {complaints.ABSENT})"


def metadata_of(found: Any) -> Mapping[str, Any]:
    """The metadata of a tuple; nothing if it has none."""
    metadata = field(found, "metadata")
    return metadata if is_mapping(metadata) else {}


class ChannelValue(_Named):
    """The value of one channel."""

    __slots__ = ()

    def expected(self, shown: Shown) -> Any:
        channel = shown.record.channels.get(self.name)
        return ABSENT if channel is None or channel.value is None else made_of(channel.value)

    def observed(self, shown: Shown) -> Any:
        return values_of(shown.found).get(self.name, ABSENT)

    def expected_source(self, writer: ScriptWriter, record: Record) -> str:
        made = self.made(record)
        return writer.value(made[0]) if made else complaints.ABSENT

    def observed_source(self, writer: ScriptWriter, record: Record) -> str:
        channel = record.channels.get(self.name)
        otherwise = "expected" if channel is not None and channel.optional else complaints.ABSENT
        return f'found.checkpoint["channel_values"].get({quoted(self.name)}, {otherwise})'

    def made(self, record: Record) -> tuple[Value, ...]:
        channel = record.channels.get(self.name)
        return () if channel is None or channel.value is None else (channel.value,)


def values_of(found: Any) -> Mapping[str, Any]:
    """The channel values of a tuple; nothing if it has none."""
    values = found.checkpoint.get("channel_values")
    return values if is_mapping(values) else {}


def value_agrees(channel: Channel, name: str, values: Mapping[str, Any]) -> bool:
    """Whether a channel is among some values as it may be."""
    if name not in values:
        return channel.value is None or channel.optional
    if channel.value is None:
        return False
    return same(made_of(channel.value), values[name])
