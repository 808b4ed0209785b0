"""Write each step as statements of a script, and follow it in the model."""

from __future__ import annotations

from functools import singledispatch

from saverproof.programs.model.records import PlannedPut
from saverproof.programs.steps import definitions as steps
from saverproof.programs.values import Value
from saverproof.scripts.histories import write_history
from saverproof.scripts.source import literal, quoted, versions_source
from saverproof.scripts.writer import ScriptWriter

_WIDEST = {"sync": 75, "async": 68, "crossed": 68}
"""Most characters of a put's arguments on the line of the call, which is indented by two levels."""


class NoScriptError(Exception):
    """No script can show what was found."""


def write_steps(writer: ScriptWriter, program: steps.Program) -> None:
    """Write the steps of a program, with reads of everything after each if the writer asks for
    them.
    """
    for step in program:
        write(step, writer)
        if writer.reads_between:
            look_around(writer)


def lines_of(step: steps.Step, writer: ScriptWriter) -> list[str]:
    """Return the lines of one step, without adding them to the writer's."""
    known = writer.position
    write(step, writer)
    return writer.take_back(known)


def other_thread(writer: ScriptWriter) -> list[str]:
    """Return the lines that put a checkpoint to a thread which no program uses."""
    return lines_of(steps.Put("other", "", 99, changes=(("count", Value("integer", 1)),)), writer)


BESIDE = "looks"
"""The namespace to which a script writes in the threads of a program."""


def beside(thread: str, writer: ScriptWriter) -> list[str]:
    """Return the lines that put a checkpoint to a thread, in a namespace which no program uses."""
    put = steps.Put(thread, BESIDE, 99, changes=(("count", Value("integer", 1)),))
    return lines_of(put, writer)


def look_around(writer: ScriptWriter) -> None:
    """Write reads of every checkpoint and of the latest in each place, as the kit makes after a
    step.
    """
    addresses = [*writer.model.addresses()]
    for address in addresses:
        writer.say(writer.ask("get_tuple", writer.at(address)))
    for thread, namespace in dict.fromkeys(address[:2] for address in addresses):
        writer.say(writer.ask("get_tuple", writer.config(thread, namespace)))


@singledispatch
def write(step: steps.Step, writer: ScriptWriter) -> None:
    """Write one step.

    Raises:
        NoScriptError: there are no statements for such a step.
    """
    match step:
        case steps.Put():
            put(step, writer)
        case steps.PutHistory():
            write_history(step, writer)
        case steps.PutWrites():
            put_writes(step, writer)
        case steps.GetTuple():
            _write_read(step, writer)
        case steps.ListTuples():
            writer.say(writer.listing(*writer.list_arguments(step)))
        case steps.WalkPages():
            writer.say(
                writer.listing(writer.config(step.thread, step.namespace), f"limit={step.size}")
            )
        case steps.DeleteThread():
            writer.say(writer.change("delete_thread", quoted(step.thread)))
            writer.model.delete_thread(step.thread)
        case steps.DeleteForRuns() | steps.Prune():
            remove(step, writer)
        case steps.CopyThread():
            writer.say(writer.change("copy_thread", quoted(step.source), quoted(step.target)))
            writer.model.copy_thread(step.source, step.target)
        case steps.DeltaHistory():
            writer.say(delta_history(step, writer))
        case steps.NextVersions():
            pass  # asking for versions changes nothing
        case steps.OwnStep():
            _write_own(step, writer)
        case steps.Reopen():
            writer.reopen()
        case steps.SetUp():
            if writer.methods.setup:
                writer.say(writer.methods.setup)
        case _:
            raise NoScriptError(f"no statements for a {type(step).__name__} step")


def remove(step: steps.DeleteForRuns | steps.Prune, writer: ScriptWriter, names: str = "") -> None:
    """Write the removal of several runs or threads; ``names`` may be a variable for them."""
    if isinstance(step, steps.DeleteForRuns):
        writer.say(writer.change("delete_for_runs", names or literal(step.runs)))
        writer.model.delete_for_runs(step.runs)
    else:
        strategy = [f"strategy={quoted(step.strategy)}"] if step.strategy else []
        writer.say(writer.change("prune", names or literal(step.threads), *strategy))
        writer.pruned(step)


def _write_read(step: steps.GetTuple, writer: ScriptWriter) -> None:
    call = read(step, writer)
    if not step.mutate_result:
        writer.say(call)
        return
    writer.helpers.add("spoil")
    writer.say(f"found = {call}")
    writer.say("spoil(found.checkpoint)", "spoil(found.metadata)")
    if writer.model.writes:
        writer.say("for write in found.pending_writes or ():", "    spoil(write[2])")
    writer.say("found.config.clear()", "(found.parent_config or {}).clear()")


def _write_own(step: steps.OwnStep, writer: ScriptWriter) -> None:
    places = {"thread": step.thread, "task": step.task}
    if step.number is not None:
        # A script has no model that would say which checkpoint a number means.
        raise NoScriptError("a rule that is given a checkpoint")
    given = {name: value for name, value in places.items() if value is not None}
    writer.say(writer.call_own(step.contract, given | dict(step.arguments or {})))


def put(
    step: steps.Put, writer: ScriptWriter, *, named: str = "", answer: str = ""
) -> dict[str, str]:
    """Write a put, and return the source of its arguments.

    The argument ``named`` becomes a variable, as do those that the step changes afterwards.
    ``answer`` is a variable for what the saver returns.
    """
    planned = writer.plan(step)
    sources = put_arguments(step, planned, writer)
    if named == "new_versions":
        sources[named] = f"dict({sources[named]})"
    changed = {"checkpoint", "metadata"} if step.mutate_inputs else set()
    fewer = step.fields == "fewer"
    named_too = {named, *changed, *(["checkpoint"] if fewer else [])}
    given = _named(writer, sources, named_too)
    if "checkpoint" not in named_too and sum(map(len, given.values())) > _WIDEST[writer.calls.api]:
        writer.say(f"checkpoint_{step.number} = {given['checkpoint']}")
        given["checkpoint"] = f"checkpoint_{step.number}"
    if fewer:
        writer.say('del given_checkpoint["updated_channels"]')
    call = writer.change("put", *given.values())
    writer.say(f"{answer} = {call}" if answer else call)
    writer.model.put(step, planned)
    if step.mutate_inputs:
        writer.helpers.add("spoil")
        writer.say(
            "spoil(given_checkpoint)",
            "spoil(given_metadata)",
        )
    return sources


def put_arguments(step: steps.Put, planned: PlannedPut, writer: ScriptWriter) -> dict[str, str]:
    """Return the source of each argument of a put."""
    return {
        "config": writer.config(
            step.thread, step.namespace, step.parent, step.id_form, step.extras
        ),
        "checkpoint": writer.checkpoint(step, planned),
        "metadata": writer.metadata(step),
        "new_versions": versions_source(planned.new_versions),
    }


def _named(writer: ScriptWriter, sources: dict[str, str], named: set[str]) -> dict[str, str]:
    """Return the arguments. Those in ``named`` are first assigned to variables ``given_NAME``."""
    writer.say(*(f"given_{name} = {sources[name]}" for name in sources if name in named))
    return {name: f"given_{name}" if name in named else sources[name] for name in sources}


def put_writes(step: steps.PutWrites, writer: ScriptWriter, *, named: str = "") -> dict[str, str]:
    """Write a put_writes, and return the source of its arguments (see :func:`put`)."""
    sources = put_writes_arguments(step, writer)
    given = _named(writer, sources, {named, *(["writes"] if step.mutate_inputs else [])})
    other = [writer.task(step.task)]
    if step.path and writer.next_api in writer.methods.with_paths:
        other.append(f"task_path={quoted(step.path)}")
    writer.say(writer.change("put_writes", *given.values(), *other))
    writer.model.put_writes(step)
    if step.mutate_inputs:
        writer.helpers.add("spoil")
        writer.say("given_writes.append(None)")
        writer.say("for write in given_writes[:-1]:", "    spoil(write[1])")
    return sources


def put_writes_arguments(step: steps.PutWrites, writer: ScriptWriter) -> dict[str, str]:
    """Return the source of the first two arguments of a put_writes."""
    namespace = step.namespace if step.give_namespace else None
    batch = [f"({quoted(name)}, {writer.value(value)})" for name, value in step.writes]
    return {
        "config": writer.config(step.thread, namespace, step.number, extras=step.extras),
        "writes": f"[{', '.join(batch)}]",
    }


def read(step: steps.GetTuple, writer: ScriptWriter) -> str:
    """Return the read as an expression."""
    config = writer.config(step.thread, step.namespace, step.number, step.id_form, step.extras)
    return writer.ask("get_tuple", config)


def delta_history(step: steps.DeltaHistory, writer: ScriptWriter) -> str:
    """Return the question for a delta history as an expression."""
    config = writer.config(step.thread, step.namespace, step.number)
    channels = literal(step.channels)
    return writer.ask("get_delta_channel_history", f"config={config}", f"channels={channels}")
