"""The last lines of a script where the last step's own answer is what is wrong."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

from saverproof.judging.facts import Raised
from saverproof.judging.session import Breach
from saverproof.model.records import Address, delta_channels
from saverproof.scripts.listing_checks import check_listing, check_pages
from saverproof.scripts.source import literal
from saverproof.scripts.state_checks import compare, complain, guarded, names, say, unequal
from saverproof.scripts.statements import (
    NoScriptError,
    delta_history,
    put,
    put_writes,
    read,
    remove,
    write,
)
from saverproof.scripts.writer import ScriptWriter
from saverproof.steps import definitions as steps


@singledispatch
def check_answer(step: steps.Step, writer: ScriptWriter, breach: Breach) -> None:
    """Write the last step with a check of what it answers.

    Raises:
        NoScriptError: no check is known for such a fact.
    """
    raise NoScriptError(f"no check of {breach.difference.fact!r} in {type(step).__name__}")


@check_answer.register
def _(step: steps.GetTuple, writer: ScriptWriter, breach: Breach) -> None:
    match breach.difference.fact:
        case "latest":
            _check_latest(writer, breach, [(step.thread, step.namespace or "")], read(step, writer))
        case "form":
            plain = replace(
                step,
                id_form=steps.IdForm.ABSENT,
                namespace=step.namespace or "",
                extras=steps.PLAIN,
            )
            writer.helpers.add("shown")
            writer.say(f"expected = shown({read(plain, writer)})")
            guarded(writer, [f"observed = shown({read(step, writer)})"], "an answer", breach)
            complain(writer, _unequal_answers(breach))
        case "extra" if not isinstance(breach.difference.observed, Raised):
            compare(writer, read(step, writer), "None", "observed is not None")
        case "extra" | "unreadable":
            guarded(writer, [read(step, writer)], "None", breach)
        case "input:config":
            config = writer.config(
                step.thread, step.namespace, step.number, step.id_form, step.extras
            )
            writer.say(f"observed = {config}", writer.ask("get_tuple", "observed"))
            writer.say(f"expected = {config}")
            complain(writer, unequal(breach.difference))
        case fact:
            raise NoScriptError(f"no check of {fact!r} in a read")


def _unequal_answers(breach: Breach) -> str:
    different = unequal(breach.difference)
    return different if isinstance(breach.difference.expected, tuple) else "observed != expected"


def check_latest(writer: ScriptWriter, breach: Breach) -> None:
    """The newest of some namespace, which the difference does not name, is not what is read."""
    wanted = breach.difference.expected
    model = writer.model
    places = [
        (thread, namespace)
        for thread, namespaces in model.threads.items()
        for namespace in namespaces
        if writer.minted(model.latest(thread, namespace)) == wanted
    ]
    if not places:
        raise NoScriptError("no namespace has that latest checkpoint")
    calls = [writer.ask("get_tuple", writer.config(*place)) for place in places]
    _check_latest(writer, breach, places, *calls)


def _check_latest(
    writer: ScriptWriter, breach: Breach, places: list[tuple[str, str]], *calls: str
) -> None:
    if isinstance(breach.difference.observed, Raised):
        guarded(writer, list(calls), "the latest checkpoint", breach)
        return
    latest = [writer.model.latest(*place) for place in places]
    if None in latest:
        raise NoScriptError("the namespace has no latest checkpoint")
    expected = ", ".join(writer.id(number) for number in latest if number is not None)
    if len(calls) == 1:
        writer.say(f"found = {calls[0]}")
        say(writer, 'found and found.checkpoint["id"]', expected)
    else:
        found = f"[{', '.join(calls)}]"
        say(writer, f'[found and found.checkpoint["id"] for found in {found}]', f"[{expected}]")
    complain(writer, "observed != expected")


check_answer.register(check_listing)
check_answer.register(check_pages)


# --- histories and versions --------------------------------------------------------------------


@check_answer.register
def _(step: steps.DeltaHistory, writer: ScriptWriter, breach: Breach) -> None:
    call = delta_history(step, writer)
    if isinstance(breach.difference.observed, Raised):
        guarded(writer, [call], "a history", breach)
        return
    config = writer.config(step.thread, step.namespace, step.number)
    walk = _walk(writer, config, literal(step.channels))
    compare(writer, call, walk, unequal(breach.difference))


@check_answer.register
def _(step: steps.NextVersions, writer: ScriptWriter, breach: Breach) -> None:
    _check_row(writer, breach, step.count, clock_goes_back=step.clock_goes_back)


def _check_row(
    writer: ScriptWriter, breach: Breach, count: int, *, clock_goes_back: bool = False
) -> None:
    """Versions minted in a row do not increase."""
    back = [
        f"    if number == {count // 2}:",
        "        now = time.time",
        "        time.time = lambda: now() - 3600",
    ]
    lines = [
        "versions = [saver.get_next_version(None, None)]",
        f"for {'number' if clock_goes_back else '_'} in range({count - 1}):",
        *(back if clock_goes_back else ()),
        "    versions.append(saver.get_next_version(versions[-1], None))",
        "pairs = pairwise([type(versions[0])(), *versions])",
        "observed = [pair for pair in pairs if not pair[0] < pair[1]]",
        "expected = []",
    ]
    guarded(writer, lines, "versions that increase", breach)
    complain(writer, "observed != expected")


# --- writes ------------------------------------------------------------------------------------


@check_answer.register
def _(step: steps.Put, writer: ScriptWriter, breach: Breach) -> None:
    fact, _, name = breach.difference.fact.partition(":")
    match fact:
        case "returned":
            put(step, writer, answer="answer")
            expected = names(writer, [(step.thread, step.namespace, step.number)])[1:-1]
            compare(writer, "address(answer)", expected)
        case "input":
            _check_input(writer, breach, name, put(step, writer, named=name))
        case "version" if writer.manner.via == "row":
            _check_row(writer, breach, 40)
        case "version":
            _check_version(step, writer)
        case _:
            raise NoScriptError(f"no check of {fact!r} in a put")


def _check_version(step: steps.Put, writer: ScriptWriter) -> None:
    """The put's new version is not above each one that its other channels have."""
    write(step, writer)
    record = writer.model.record((step.thread, step.namespace, step.number))
    changed = {channel for channel, _ in step.changes}
    channels = record.channels if record is not None else {}
    older = [str(channel.version) for name, channel in channels.items() if name not in changed]
    new = next(str(channel.version) for name, channel in channels.items() if name in changed)
    say(writer, new, f"[{', '.join(dict.fromkeys(older))}]")
    alike = "isinstance(older, str) is isinstance(observed, str) and "
    condition = f"{alike if writer.manner.via == 'types' else ''}older < observed"
    complain(writer, f"not all({condition} for older in expected)")


@check_answer.register
def _(step: steps.PutWrites, writer: ScriptWriter, breach: Breach) -> None:
    fact, _, name = breach.difference.fact.partition(":")
    if fact != "input":
        raise NoScriptError(f"no check of {fact!r} in a put_writes")
    _check_input(writer, breach, name, put_writes(step, writer, named=name))


def _check_input(writer: ScriptWriter, breach: Breach, name: str, sources: dict[str, str]) -> None:
    compare(writer, f"given_{name}", sources[name], unequal(breach.difference))


# --- what removes several ------------------------------------------------------------------------


@check_answer.register
def _(step: steps.DeleteForRuns, writer: ScriptWriter, breach: Breach) -> None:
    if breach.difference.fact != "input:run_ids":
        raise NoScriptError(f"no check of {breach.difference.fact!r} in a deletion of runs")
    _check_names(step, writer, breach, literal(step.runs))


def _check_names(
    step: steps.DeleteForRuns | steps.Prune, writer: ScriptWriter, breach: Breach, names: str
) -> None:
    """A removal has changed the list of what it is to remove."""
    writer.say(f"given = {names}")
    remove(step, writer, "given")
    compare(writer, "given", names, unequal(breach.difference))


@check_answer.register
def _(step: steps.Prune, writer: ScriptWriter, breach: Breach) -> None:
    difference = breach.difference
    match difference.fact:
        case "kept":
            kept: list[Address] = difference.observed
            write(step, writer)
            places = ", ".join(writer.at(address) for address in kept)
            found = writer.ask("get_tuple", "at")
            compare(writer, f"[at for at in [{places}] if {found}]", "[]")
        case "input:thread_ids":
            _check_names(step, writer, breach, literal(step.threads))
        case "delta" if difference.address is not None:
            _check_rebuilt(step, writer, difference.address)
        case fact:
            raise NoScriptError(f"no check of {fact!r} in a prune")


def _check_rebuilt(step: steps.Prune, writer: ScriptWriter, address: Address) -> None:
    """What delta channels are rebuilt from, before and after, unless stored whole since."""
    channels = delta_channels(writer.model.history(address[0], address[1]).values())
    writer.say(f"at, channels = {writer.at(address)}, {literal(list(channels))}")
    walk = _walk(writer, "at", "channels")
    writer.say(f"expected = {walk}")
    write(step, writer)
    writer.say(f"observed = {walk}", f"found = {writer.ask('get_tuple', 'at')}")
    writer.say('stored = found.checkpoint["channel_values"] if found else {}')
    complain(writer, "any(observed[c] != expected[c] for c in channels if c not in stored)")


def _walk(writer: ScriptWriter, config: str, channels: str) -> str:
    """The base class's own walk over what the saver's ``get_tuple`` gives."""
    return writer.ask_of(
        "BaseCheckpointSaver",
        "get_delta_channel_history",
        writer.receiver,
        f"config={config}",
        f"channels={channels}",
    )
