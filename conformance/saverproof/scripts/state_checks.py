"""The last lines of a script: look at the one fact that was found wrong, and complain of it.

By which read a script looks is its manner's ``via``: ``step`` (the last step is itself the read),
``id``, ``latest`` (no id given), ``list`` (of the thread) or ``all`` (a listing of everything).
"""

from __future__ import annotations

from saverproof.execution.calls import checkpoint_format
from saverproof.judging.facts import Difference, Raised
from saverproof.judging.session import Breach
from saverproof.model.records import Address, PendingWrite, Record
from saverproof.scripts.script import complaint
from saverproof.scripts.source import literal, quoted
from saverproof.scripts.statements import NoScriptError, read
from saverproof.scripts.versions_source import nested, versions_source
from saverproof.scripts.writer import ScriptWriter
from saverproof.steps.definitions import GetTuple, ListTuples, Put
from saverproof.steps.identifiers import timestamp
from saverproof.values import Value

ABSENT = '"absent"'


def complain(writer: ScriptWriter, condition: str) -> None:
    """End with the message if the condition holds; ``expected`` and ``observed`` are variables."""
    writer.say(f"if {condition}:", f"    {complaint('{expected!r}', '{observed!r:.1000}')}")


def guarded(writer: ScriptWriter, lines: list[str], expected: str, breach: Breach) -> None:
    """Statements of which none may raise."""
    observed = breach.difference.observed
    ordinary = not isinstance(observed, Raised) or isinstance(observed.error, Exception)
    kind = "Exception" if ordinary else "BaseException"
    writer.say("try:", *(f"    {line}" for line in lines))
    message = complaint(expected.replace("{", "{{").replace("}", "}}"), "raised {error!r:.1000}")
    writer.say(f"except {kind} as error:", f"    {message} from error")


def unequal(difference: Difference, *values: Value) -> str:
    """How to tell what was observed from what is expected: by ``!=`` if that can, else by repr."""
    try:
        told_apart = difference.expected != difference.observed
        told_apart = told_apart and all(value.make() == value.make() for value in values)
    except Exception:  # noqa: BLE001 - what a saver gave may not even compare
        told_apart = False
    return "observed != expected" if told_apart is True else "repr(observed) != repr(expected)"


# --- where the tuple comes from ----------------------------------------------------------------


def found_by(writer: ScriptWriter, breach: Breach, address: Address) -> str:
    """The checkpoint as the manner's read gives it, as an expression."""
    step = breach.step
    match writer.manner.via:
        case "step" if isinstance(step, GetTuple):
            return read(step, writer)
        case "step" if isinstance(step, ListTuples):
            return _in_listing(writer, breach, writer.list_arguments(step), address)
        case "id":
            return writer.ask("get_tuple", writer.at(address))
        case "latest":
            return writer.ask("get_tuple", writer.config(address[0], address[1]))
        case "list":
            return _in_listing(writer, breach, [writer.config(address[0])], address)
        case "all":
            return _in_listing(writer, breach, ["None"], address)
        case via:
            raise NoScriptError(f"the last step is no read to look {via} by")


def _in_listing(
    writer: ScriptWriter, breach: Breach, arguments: list[str], address: Address
) -> str:
    """The item of a listing: by the address it gives itself, or by its id if that is wrong."""
    writer.say(f"listed = {writer.listing(*arguments)}")
    is_it = f"address(item.config) == {names(writer, [address])[1:-1]}"
    if breach.difference.fact == "address":
        is_it = f'item.checkpoint["id"] == {writer.id(address[2])}'
    return f"next((item for item in listed if {is_it}), None)"


def names(writer: ScriptWriter, addresses: list[Address]) -> str:
    """A list of addresses as the script's helper ``address`` gives them."""
    writer.helpers.add("address")
    named = [f"({quoted(t)}, {quoted(ns)}, {writer.id(number)})" for t, ns, number in addresses]
    return f"[{', '.join(named)}]"


# --- facts of one checkpoint -------------------------------------------------------------------


def check_presence(writer: ScriptWriter, breach: Breach, address: Address) -> None:
    """A checkpoint that should be there is not, or the other way round."""
    writer.say(f"observed = {found_by(writer, breach, address)}")
    if breach.difference.fact == "missing":
        writer.say('expected = "the checkpoint"')
        complain(writer, "observed is None")
    else:
        writer.say("expected = None")
        complain(writer, "observed is not None")


def check_readable(writer: ScriptWriter, breach: Breach, address: Address) -> None:
    """Reading a checkpoint raises."""
    known = len(writer.blocks[-1])
    read_it = found_by(writer, breach, address)
    lines = writer.blocks[-1][known:]
    del writer.blocks[-1][known:]
    expected = breach.difference.expected
    guarded(writer, [*lines, read_it], "an answer" if expected is None else str(expected), breach)


def check_fact(writer: ScriptWriter, breach: Breach, address: Address) -> None:
    """One fact of a checkpoint that is there."""
    record = writer.model.record(address)
    if record is None:
        raise NoScriptError("the model lost the checkpoint")
    fact, _, detail = breach.difference.fact.partition(":")
    found = found_by(writer, breach, address)
    writer.say(f"found = {found}")
    match fact:
        case "malformed":
            writer.say("expected, observed = 'a CheckpointTuple', found")
            complain(writer, 'not isinstance(getattr(found, "checkpoint", None), dict)')
        case "address":
            compare(writer, "address(found.config)", names(writer, [address])[1:-1])
        case "parent":
            _check_parent(writer, record, address)
        case "metadata":
            there = record.merged | record.metadata
            compare(
                writer,
                f"found.metadata.get({quoted(detail)}, {ABSENT})",
                literal(there[detail]) if detail in there else ABSENT,
                unequal(breach.difference),
            )
        case "stale":
            compare(writer, f"found.metadata.get({quoted(detail)}, {ABSENT})", ABSENT)
        case "value":
            _check_value(writer, breach, record, detail)
        case "write":
            _check_writes(writer, breach, address, detail)
        case _:
            _check_field(writer, breach, record)


def say(writer: ScriptWriter, observed: str, expected: str) -> None:
    """Set what the script compares."""
    writer.say(f"observed = {observed}", f"expected = {expected}")


def compare(
    writer: ScriptWriter, observed: str, expected: str, wrong: str = "observed != expected"
) -> None:
    """Set what the script compares, and end with the message if ``wrong`` holds."""
    say(writer, observed, expected)
    complain(writer, wrong)


def _check_parent(writer: ScriptWriter, record: Record, address: Address) -> None:
    if record.parent is None:
        say(writer, "found.parent_config", "None")
    else:
        parent = (address[0], address[1], record.parent)
        say(writer, "address(found.parent_config)", names(writer, [parent])[1:-1])
    complain(writer, "observed != expected")


def _check_value(writer: ScriptWriter, breach: Breach, record: Record, name: str) -> None:
    channel = record.channels.get(name)
    value = None if channel is None else channel.value
    expected = ABSENT if value is None else writer.value(value)
    optional = channel is not None and channel.optional
    otherwise = "expected" if optional else ABSENT
    writer.say(
        f"expected = {expected}",
        f'observed = found.checkpoint["channel_values"].get({quoted(name)}, {otherwise})',
    )
    complain(writer, unequal(breach.difference, *([] if value is None else [value])))


def _check_field(writer: ScriptWriter, breach: Breach, record: Record) -> None:
    name = breach.difference.fact
    step = record.step
    versions = {channel: held.version for channel, held in record.channels.items()}
    expected = {
        "v": str(checkpoint_format() if step.format is None else step.format),
        "id": writer.id(step.number),
        "ts": _time(step),
        "channel_versions": versions_source(versions),
        "versions_seen": nested(record.seen),
        "updated_channels": "None",
    }
    if name not in expected:
        raise NoScriptError(f"nothing is known of the fact {name!r}")
    if name == "updated_channels" and step.fields == "usual":
        changed = [] if step.copy_of is not None else sorted(name for name, _ in step.changes)
        expected[name] = literal(changed)
    otherwise = " or None" if expected[name] == "None" else ""
    compare(
        writer,
        f"found.checkpoint.get({quoted(name)}){otherwise}",
        expected[name],
        unequal(breach.difference),
    )


def _time(step: Put) -> str:
    if step.clock is not None:
        return quoted(timestamp(step.clock))
    return f'checkpoint({step.number}, {{}}, {{}})["ts"]'


# --- pending writes ----------------------------------------------------------------------------


def _check_writes(writer: ScriptWriter, breach: Breach, address: Address, kind: str) -> None:
    pending = writer.model.pending(address)
    values = [write.value for write in pending]
    shown = "tuple(write) for write in found.pending_writes or ()"
    exceptions = any(value.group == "exception" for value in values)
    if exceptions:
        shown = (
            "(task, name, repr(value) if isinstance(value, Exception) else value)"
            " for task, name, value in found.pending_writes or ()"
        )
    writer.say(f"observed = [{shown}]")
    wrong = breach.difference.write
    written = next((w for w in pending if wrong is not None and _same_place(w, wrong)), None)
    if kind in ("missing", "value") and written is not None and not _has_twin(written, pending):
        writer.say(f"expected = {writer.write(written)}")
        complain(writer, _not_among(breach, written.value))
        return
    writer.say(f"expected = [{', '.join(map(writer.write, pending))}]")
    if kind == "order":
        complain(writer, unequal(breach.difference, *values))
    else:
        complain(writer, "sorted(observed, key=repr) != sorted(expected, key=repr)")


def _same_place(write: PendingWrite, other: PendingWrite) -> bool:
    return (write.task, write.index) == (other.task, other.index)


def _has_twin(write: PendingWrite, pending: list[PendingWrite]) -> bool:
    """Whether another write shows the same, so that looking for it would find the other."""
    shown = (write.task, write.channel, write.value)
    return sum((w.task, w.channel, w.value) == shown for w in pending) > 1


def _not_among(breach: Breach, value: Value) -> str:
    """How to see that a write is not among those shown; by repr if ``in`` would not tell."""
    if unequal(breach.difference, value) == "observed != expected":
        return "expected not in observed"
    return "repr(expected) not in map(repr, observed)"
