"""Source text by which a script compares answers with what is expected, and complains."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from saverproof.programs.model.records import Address
from saverproof.programs.values import Value
from saverproof.scripts.script import complaint
from saverproof.scripts.source import quoted
from saverproof.scripts.writer import ScriptWriter

ABSENT = '"absent"'
"""The source that stands for an absent key or channel."""


def complain(writer: ScriptWriter, condition: str) -> None:
    """Write an end with the message if ``condition`` holds.

    The message shows the script's variables ``expected`` and ``observed``.
    """
    writer.say(f"if {condition}:", f"    {complaint('{expected!r}', '{observed!r:.1000}')}")


def compare(
    writer: ScriptWriter, observed: str, expected: str, wrong: str = "observed != expected"
) -> None:
    """Set the variables ``observed`` and ``expected``, and write an end with the message if
    ``wrong``.
    """
    writer.say(f"observed = {observed}", f"expected = {expected}")
    complain(writer, wrong)


def guarded(
    writer: ScriptWriter, lines: Iterable[str], expected: str, error: BaseException | None = None
) -> None:
    """Write statements that must not raise; ``error`` is what they raised in the judged run."""
    ordinary = error is None or isinstance(error, Exception)
    kind = "Exception" if ordinary else "BaseException"
    writer.say("try:", *(f"    {line}" for line in lines))
    message = complaint(in_format(expected), "raised {error!r:.1000}")
    writer.say(f"except {kind} as error:", f"    {message} from error")


def in_format(text: str) -> str:
    """Return a text in the form that it has inside an f-string."""
    return text.replace("{", "{{").replace("}", "}}")


def unequal(expected: Any, observed: Any, *values: Value) -> str:
    """Return the condition that tells two objects apart: ``!=`` if that works, else their reprs.

    ``values`` are made again by the script. ``!=`` works only if each of them equals its copy.
    """
    try:
        told_apart = expected != observed
        told_apart = told_apart and all(value.make() == value.make() for value in values)
    except Exception:  # noqa: BLE001 - what a saver gave may not even compare
        told_apart = False
    return "observed != expected" if told_apart is True else "repr(observed) != repr(expected)"


def address_source(writer: ScriptWriter, address: Address) -> str:
    """Return the source of a checkpoint's address, as the script's helper ``address`` returns
    it.
    """
    writer.helpers.add("address")
    thread, namespace, number = address
    return f"({quoted(thread)}, {quoted(namespace)}, {writer.id(number)})"


def addresses_source(writer: ScriptWriter, addresses: Iterable[Address]) -> str:
    """Return the source of a list of addresses."""
    return f"[{', '.join(address_source(writer, address) for address in addresses)}]"
