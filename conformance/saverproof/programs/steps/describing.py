"""Describes each step in one line, with the names of a saver's methods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import singledispatch
from typing import Any

from saverproof.programs.steps import definitions as steps
from saverproof.programs.steps.expanding import MARK
from saverproof.programs.values import Value, show, show_in_order

_WIDTH = 60
"""Characters of a name or value in a step's line."""
_MOST_WRITES = 40
"""The most writes of a batch that are listed; of a longer batch, only the number is given."""


def describe(step: steps.Step) -> str:
    """Return a step as one printable line, such as ``put('a', '', checkpoint 3, parent 2,
    count=1)``.
    """
    line = words(step)
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)


def call(operation: str, *parts: str) -> str:
    """Return a call with its arguments; empty ones are left out."""
    return f"{operation}({', '.join(part for part in parts if part)})"


def text(value: str | None) -> str:
    """Return a name in quotes, in short printable ASCII that is different for every name."""
    if value is None:
        return "None"
    return show(value, _WIDTH).encode("ascii", "backslashreplace").decode()


def _name(value: str) -> str:
    return value if value.isascii() and value.isidentifier() else text(value)


def _value(value: Value) -> str:
    source = value.source()
    return source if len(source) <= _WIDTH and source.isprintable() else show(source, _WIDTH)


def checkpoint(number: int | None, otherwise: str = "") -> str:
    """Return the words for a checkpoint's number, or ``otherwise`` if there is none."""
    return otherwise if number is None else f"checkpoint {number}"


def _json(label: str, value: Mapping[str, Any] | None) -> str:
    return f"{label}={show_in_order(dict(value), 120)}" if value else ""


def _id_form(form: steps.IdForm) -> str:
    return {steps.IdForm.NONE: "checkpoint id None", steps.IdForm.EMPTY: "checkpoint id ''"}.get(
        form, ""
    )


def _extras(extras: steps.Extras) -> Iterator[str]:
    if extras == steps.PLAIN:
        return
    if extras.loop:
        yield "config as the loop sends it"
    yield _json("config adds", extras.configurable)
    yield _json("config metadata", extras.metadata)


@singledispatch
def words(step: steps.Step) -> str:
    """Return a step in words, which may contain unprintable characters."""
    match step:
        case steps.Put():
            return _put(step)
        case steps.PutHistory():
            return _put_history(step)
        case steps.PutWrites():
            return _put_writes(step)
        case steps.GetTuple():
            return _get_tuple(step)
        case steps.ListTuples():
            return _list_tuples(step)
        case steps.WalkPages():
            where = f"{text(step.thread)}, {text(step.namespace)}"
            return f"list({where}, limit={step.size}), page by page"
        case steps.DeleteThread():
            return call("delete_thread", text(step.thread))
        case steps.DeleteForRuns():
            return f"delete_for_runs([{', '.join(map(text, step.runs))}])"
        case steps.CopyThread():
            return call("copy_thread", text(step.source), text(step.target))
        case steps.Prune():
            threads = ", ".join(map(text, step.threads))
            strategy = [f"strategy={text(step.strategy)}"] if step.strategy else []
            return call("prune", f"[{threads}]", *strategy)
        case steps.DeltaHistory():
            return _delta_history(step)
        case steps.NextVersions():
            back = ", the clock set back halfway" if step.clock_goes_back else ""
            return f"get_next_version(…), {step.count} times in a row{back}"
        case steps.Reopen():
            return "close the saver and open it again"
        case steps.SetUp():
            return "call setup() again"
        case steps.OwnStep():
            return _own_step(step)
    raise NotImplementedError(f"no words for a {type(step).__name__} step")


def _put(step: steps.Put) -> str:
    kept = [f"{_name(name)}={_value(value)}" for name, value in step.changes if value is not None]
    dropped = [_name(name) for name, value in step.changes if value is None]
    return call(
        "put",
        text(step.thread),
        text(step.namespace),
        checkpoint(step.number),
        "" if step.parent is None else f"parent {step.parent}",
        "" if step.copy_of is None else f"a copy of checkpoint {step.copy_of}",
        *kept,
        f"dropped: {', '.join(dropped)}" if dropped else "",
        _json("metadata", step.metadata),
        "" if step.node == "agent" else f"node {text(step.node)}",
        "" if step.format is None else f"v={step.format}",
        "" if step.fields == "usual" else f"fields: {step.fields}",
        "" if step.legacy_writes is None else f"metadata writes: {_value(step.legacy_writes)}",
        _id_form(step.id_form),
        "unchanged values left out" if step.omit_unchanged else "",
        "" if step.clock is None else f"the time of checkpoint {step.clock}",
        "" if step.versions is steps.VersionsBy.SAVER else "versions by the Agent Server",
        *_extras(step.extras),
    ) + (", then change what was given" if step.mutate_inputs else "")


def _put_history(step: steps.PutHistory) -> str:
    last = step.number + step.count - 1
    times = {
        steps.Times.EQUAL: "all with the same time",
        steps.Times.FALLING: "with times that go back",
    }
    return call(
        "put",
        text(step.thread),
        text(step.namespace),
        f"checkpoints {step.number} to {last}, each the child of the one before",
        "" if step.parent is None else f"parent {step.parent}",
        f"every {step.marked}th with metadata {show(MARK, 40)}" if step.marked else "",
        times.get(step.times, ""),
    )


def _put_writes(step: steps.PutWrites) -> str:
    writes = ", ".join(
        f"({text(name)}, {_value(value)})" for name, value in step.writes[:_MOST_WRITES]
    )
    if len(step.writes) > _MOST_WRITES:
        writes += f", … {len(step.writes)} writes in all"
    return call(
        "put_writes",
        text(step.thread),
        text(step.namespace) if step.give_namespace else "no namespace",
        checkpoint(step.number),
        f"task {step.task}",
        f"[{writes}]",
        f"path {text(step.path)}" if step.path else "",
        *_extras(step.extras),
    ) + (", then change what was given" if step.mutate_inputs else "")


def _get_tuple(step: steps.GetTuple) -> str:
    return call(
        "get_tuple",
        text(step.thread),
        "no namespace" if step.namespace is None else text(step.namespace),
        checkpoint(step.number, "" if step.id_form is not steps.IdForm.ABSENT else "the latest"),
        _id_form(step.id_form),
        *_extras(step.extras),
    ) + (", then change what was returned" if step.mutate_result else "")


def _list_tuples(step: steps.ListTuples) -> str:
    if step.thread is None:
        where = ["None"]
    else:
        where = [text(step.thread), "" if step.namespace is None else text(step.namespace)]
    return call(
        "list",
        *where,
        checkpoint(step.number),
        _id_form(step.id_form),
        _json("filter", step.filter),
        "" if step.before is None else f"before=checkpoint {step.before}",
        "" if step.limit is None else f"limit={step.limit}",
        *_extras(step.extras),
    )


def _delta_history(step: steps.DeltaHistory) -> str:
    return call(
        "get_delta_channel_history",
        text(step.thread),
        text(step.namespace),
        checkpoint(step.number, "the latest"),
        f"channels=[{', '.join(map(text, step.channels))}]",
    )


def _own_step(step: steps.OwnStep) -> str:
    return call(
        step.rule,
        "" if step.thread is None else text(step.thread),
        "" if step.namespace is None else text(step.namespace),
        checkpoint(step.number),
        "" if step.task is None else f"task {step.task}",
        *(
            f"{name}={show_in_order(value, _WIDTH)}"
            for name, value in (step.arguments or {}).items()
        ),
    )
