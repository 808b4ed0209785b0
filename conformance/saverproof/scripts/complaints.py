"""How a script compares what a saver answered with what it should, and complains."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from saverproof.model.records import Address
from saverproof.scripts.script import complaint
from saverproof.scripts.source import quoted
from saverproof.scripts.writer import ScriptWriter
from saverproof.values import Value

ABSENT = '"absent"'
"""What stands for a key or a channel that is not there."""


def complain(writer: ScriptWriter, condition: str) -> None:
    """End with the message if the condition holds; ``expected`` and ``observed`` are variables."""
    writer.say(f"if {condition}:", f"    {complaint('{expected!r}', '{observed!r:.1000}')}")


def compare(
    writer: ScriptWriter, observed: str, expected: str, wrong: str = "observed != expected"
) -> None:
    """Set ``observed`` and ``expected``, and end with the message if ``wrong`` holds."""
    writer.say(f"observed = {observed}", f"expected = {expected}")
    complain(writer, wrong)


def guarded(
    writer: ScriptWriter, lines: Iterable[str], expected: str, error: BaseException | None = None
) -> None:
    """Write statements that must not raise; ``error`` is what was seen instead."""
    ordinary = error is None or isinstance(error, Exception)
    kind = "Exception" if ordinary else "BaseException"
    writer.say("try:", *(f"    {line}" for line in lines))
    message = complaint(in_format(expected), "raised {error!r:.1000}")
    writer.say(f"except {kind} as error:", f"    {message} from error")


def in_format(text: str) -> str:
    """A text as it stands in an f-string."""
    return text.replace("{", "{{").replace("}", "}}")


def unequal(expected: Any, observed: Any, *values: Value) -> str:
    """The condition that tells two objects apart: ``!=`` if that can, else their reprs.

    ``values`` are what the script makes anew, which has to equal itself for ``!=`` to tell.
    """
    try:
        told_apart = expected != observed
        told_apart = told_apart and all(value.make() == value.make() for value in values)
    except Exception:  # noqa: BLE001 - what a saver gave may not even compare
        told_apart = False
    return "observed != expected" if told_apart is True else "repr(observed) != repr(expected)"


def address_source(writer: ScriptWriter, address: Address) -> str:
    """A checkpoint's address as the script's helper ``address`` gives it."""
    writer.helpers.add("address")
    thread, namespace, number = address
    return f"({quoted(thread)}, {quoted(namespace)}, {writer.id(number)})"


def addresses_source(writer: ScriptWriter, addresses: Iterable[Address]) -> str:
    """A list of addresses."""
    return f"[{', '.join(address_source(writer, address) for address in addresses)}]"
