"""The last lines of a script where what a listing gives is wrong."""

from __future__ import annotations

from dataclasses import replace

from saverproof.judging.session import Breach
from saverproof.scripts.state_checks import compare, complain, guarded, names, say, unequal
from saverproof.scripts.statements import NoScriptError
from saverproof.scripts.writer import ScriptWriter
from saverproof.steps import definitions as steps


def check_listing(step: steps.ListTuples, writer: ScriptWriter, breach: Breach) -> None:
    """Write a listing with a check of what it gives.

    Raises:
        NoScriptError: no check is known for such a fact.
    """
    unlimited = writer.list_arguments(replace(step, limit=None))
    expected = writer.model.listing(step)
    fact, address = breach.difference.fact, breach.difference.address
    match fact:
        case "raised":
            guarded(writer, [writer.listing(*writer.list_arguments(step))], "a listing", breach)
        case "selection":
            listed = f"sorted({_addresses(writer, unlimited)})"
            if writer.by_id:
                numbers = sorted(number for *_, number in expected)
                say(writer, listed, f"[{', '.join(map(writer.id, numbers))}]")
            else:
                say(writer, listed, names(writer, sorted(expected)))
            complain(writer, "observed != expected")
        case "order" if address is not None:
            place = f"{writer.place(address)}"
            writer.say(f"listed = {_addresses(writer, unlimited)}")
            writer.say(f"observed = [at[2] for at in listed if at[:2] == {place}]")
            writer.say("expected = sorted(observed, reverse=True)")
            complain(writer, "observed != expected")
        case "order":
            ids = writer.listing(*unlimited, item='found.checkpoint["id"]')
            writer.say(f"observed = {ids}")
            writer.say("expected = sorted(observed, reverse=True)")
            complain(writer, "observed != expected")
        case "limit":
            writer.say(f"everything = {_addresses(writer, unlimited)}")
            observed = _addresses(writer, writer.list_arguments(step))
            if len({at[:2] for at in expected}) <= 1:
                say(writer, observed, f"everything[:{step.limit}]")
            else:
                say(writer, f"len({observed})", f"min({step.limit}, len(everything))")
            complain(writer, "observed != expected")
        case "input:config" | "input:filter" | "input:before":
            _check_listing_input(step, writer, breach, fact.partition(":")[2])
        case _:
            raise NoScriptError(f"no check of {fact!r} in a listing")


def _check_listing_input(
    step: steps.ListTuples, writer: ScriptWriter, breach: Breach, name: str
) -> None:
    """A listing has changed one of its arguments."""
    given, start = f"given_{name}", "" if name == "config" else f"{name}="
    arguments = writer.list_arguments(step)
    at = next(n for n, one in enumerate(arguments) if one.startswith(start))
    source = arguments[at].removeprefix(start)
    arguments[at] = f"{start}{given}"
    writer.say(f"{given} = {source}", writer.listing(*arguments))
    compare(writer, given, source, unequal(breach.difference))


def _addresses(writer: ScriptWriter, arguments: list[str]) -> str:
    if writer.by_id:
        return writer.listing(*arguments, item='found.checkpoint["id"]')
    writer.helpers.add("address")
    return writer.listing(*arguments, item="address(found.config)")


def check_pages(step: steps.WalkPages, writer: ScriptWriter, breach: Breach) -> None:
    """Write a walk over the pages of a history with a check that they make up the whole."""
    history = sorted(writer.model.history(step.thread, step.namespace), reverse=True)
    listing = writer.listing(
        writer.config(step.thread, step.namespace), "before=before", f"limit={step.size}"
    )
    writer.say(
        "observed, before = [], None",
        f"for _ in range({len(history) + 2}):",
        f"    page = {listing}",
        '    observed += [item.checkpoint["id"] for item in page]',
        "    before = config(checkpoint_id=observed[-1]) if page else before",
        f"expected = [{', '.join(map(writer.id, history))}]",
    )
    complain(writer, "sorted(observed, reverse=True) != expected")
