"""Fields: the parts of a checkpoint tuple, compared one by one, as objects and in scripts.

A field knows what a tuple should have according to a record of the model, and where the tuple has
it. Judging compares the two as objects, a script as expressions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from saverproof.judging.answers import field, is_mapping, place
from saverproof.judging.facts import Difference
from saverproof.judging.made_values import made_of
from saverproof.programs.model.metadata import equal
from saverproof.programs.model.records import Channel, Record
from saverproof.programs.steps.identifiers import mint, timestamp
from saverproof.programs.values import Value, same
from saverproof.savers.execution.calls import PENDING_SEND, checkpoint_format
from saverproof.scripts import complaints
from saverproof.scripts.source import literal, nested, quoted, versions_source
from saverproof.scripts.statements import NoScriptError
from saverproof.scripts.writer import ScriptWriter


class _Absent:
    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()
"""The stand-in for a key or channel that a tuple lacks."""


@dataclass(slots=True)
class Shown:
    """A tuple found, and the model's record that it stands for. ``thread`` is its real thread
    id.
    """

    record: Record
    thread: str
    found: Any


class Field(ABC):
    """One part of a tuple. ``detail`` is the channel or key, if there are several such parts."""

    __slots__ = ("detail",)

    def __init__(self, detail: str | None = None) -> None:
        self.detail = detail

    @abstractmethod
    def expected(self, shown: Shown) -> Any:
        """Return what the tuple should have for this field."""

    @abstractmethod
    def observed(self, shown: Shown) -> Any:
        """Return what the tuple has for this field."""

    def agrees(self, expected: Any, observed: Any) -> bool:
        """Return whether the observed content is right."""
        return same(expected, observed)

    def holds(self, shown: Shown) -> bool:
        """Return whether the tuple has for this field what it should have."""
        return self.agrees(self.expected(shown), self.observed(shown))

    def told(self, value: Any) -> Any:
        """Return an expected or observed content as a report shows it."""
        if self.detail is None:
            return value
        return {} if value is ABSENT else {self.detail: value}

    @abstractmethod
    def expected_source(self, writer: ScriptWriter, record: Record) -> str:
        """Return an expression for what the tuple should have."""

    @abstractmethod
    def observed_source(self, writer: ScriptWriter, record: Record) -> str:
        """Return an expression for what the tuple ``found`` has."""

    def made(self, record: Record) -> tuple[Value, ...]:
        """Return the values that a script has to make for the expected content."""
        del record
        return ()

    def show(self, writer: ScriptWriter, found: str, difference: Difference) -> None:
        """Write a comparison of this field in the tuple that the expression ``found`` gives."""
        record = record_of(writer, difference)
        expected = self.expected_source(writer, record)
        observed = self.observed_source(writer, record)
        writer.say(f"found = {found}", f"expected = {expected}", f"observed = {observed}")
        values = self.made(record)
        complaints.complain(
            writer, complaints.unequal(difference.expected, difference.observed, *values)
        )


def record_of(writer: ScriptWriter, difference: Difference) -> Record:
    """Return the record, in the script's own model, of the checkpoint that differs.

    Raises:
        NoScriptError: the script's model has no such record.
    """
    record = None if difference.address is None else writer.model.record(difference.address)
    if record is None:
        raise NoScriptError("the script's model does not have the checkpoint")
    return record


# --- the tuple as a whole ----------------------------------------------------------------------


class Presence:
    """The presence of a tuple: there, or None."""

    __slots__ = ("_expected", "_wrong")

    def __init__(self, expected: str, wrong: str) -> None:
        self._expected = expected
        self._wrong = wrong

    def show(self, writer: ScriptWriter, found: str, difference: Difference) -> None:
        """Write a check of whether there is a tuple."""
        del difference
        complaints.compare(writer, found, self._expected, self._wrong)


THERE = Presence('"the checkpoint"', "observed is None")
GONE = Presence("None", "observed is not None")
WELL_FORMED = Presence(
    '"a CheckpointTuple"', 'not isinstance(getattr(observed, "checkpoint", None), dict)'
)


class Newest:
    """The checkpoint that a read of a namespace gives if it names no id."""

    __slots__ = ("_place",)

    def __init__(self, thread: str, namespace: str) -> None:
        self._place = (thread, namespace)

    def show(self, writer: ScriptWriter, found: str, difference: Difference) -> None:
        """Write a comparison of the id that is shown with the newest one."""
        del difference
        newest = writer.model.latest(*self._place)
        if newest is None:
            raise NoScriptError("the script's model has no newest checkpoint")
        writer.say(f"found = {found}")
        observed = 'found and found.checkpoint["id"]'
        complaints.compare(writer, observed, writer.id(newest))


class OfId:
    """The checkpoint that a read by this id gives, where it may give another one."""

    __slots__ = ("_number",)

    def __init__(self, number: int) -> None:
        self._number = number

    def show(self, writer: ScriptWriter, found: str, difference: Difference) -> None:
        """Write a comparison of the id that is shown with the one that was asked for."""
        del difference
        writer.say(f"found = {found}")
        complaints.compare(writer, 'found and found.checkpoint["id"]', writer.id(self._number))


# --- whose it is -------------------------------------------------------------------------------


class OwnAddress(Field):
    """The address in a tuple's own config."""

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
    """The address of the parent; None for a root, or if the parent was removed."""

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
    """A field of which a tuple has several, told apart by name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        # Kept cheap: one is made for each key and channel that is compared.
        self.detail = self.name = name


class CheckpointField(_Named):
    """One of a checkpoint's own fields. Where None is expected, it may also be missing or empty."""

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

    def holds(self, shown: Shown) -> bool:
        # Asked of six fields of each tuple: one call instead of three.
        expected = self._expected(shown.record)
        observed = shown.found.checkpoint.get(self.name, ABSENT)
        return self.agrees(expected, observed) if expected is None else same(expected, observed)

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
    # The script's own helper has the time of a checkpoint that was given no other.
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
    """Return the fields that a checkpoint should have."""
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
    """Return the metadata of a tuple; an empty mapping if it has none."""
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
    """Return the channel values of a tuple; an empty mapping if it has none."""
    values = found.checkpoint.get("channel_values")
    return values if is_mapping(values) else {}


def value_agrees(channel: Channel, name: str, values: Mapping[str, Any]) -> bool:
    """Return whether these channel values show the channel as they should, or as they may."""
    if name not in values:
        return channel.value is None or channel.optional
    if channel.value is None:
        return False
    return same(made_of(channel.value), values[name])
