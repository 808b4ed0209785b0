"""Steps as one line each, for people, in the words of a saver's own methods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from saverproof.steps import definitions as steps
from saverproof.steps.expanding import MARK
from saverproof.values import Value, show

_WIDTH = 60
_MOST_WRITES = 40
"""What is told of a batch; what is longer is told by its length."""


def describe(step: steps.Step) -> str:
    """A step as one printable line, such as ``put('a', '', checkpoint 3, parent 2, count=1)``."""
    line = _line(step)
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)


def _call(operation: str, *parts: str) -> str:
    return f"{operation}({', '.join(part for part in parts if part)})"


def _text(value: str | None) -> str:
    """A name in quotes, short, printable, unlike any other name (ASCII)."""
    if value is None:
        return "None"
    return show(value, _WIDTH).encode("ascii", "backslashreplace").decode()


def _name(value: str) -> str:
    return value if value.isascii() and value.isidentifier() else _text(value)


def _value(value: Value) -> str:
    source = value.source()
    return source if len(source) <= _WIDTH and source.isprintable() else show(source, _WIDTH)


def _number(number: int | None, otherwise: str = "") -> str:
    return otherwise if number is None else f"checkpoint {number}"


def _json(label: str, value: Mapping[str, Any] | None) -> str:
    return f"{label}={show(dict(value), 120)}" if value else ""


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


def _line(step: steps.Step) -> str:
    line = _of_operation(step) or _of_what_else(step)
    if line is None:
        raise NotImplementedError(f"no words for a {type(step).__name__} step")
    return line


def _of_operation(step: steps.Step) -> str | None:
    """The words for a call of one of a saver's methods."""
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
            where = f"{_text(step.thread)}, {_text(step.namespace)}"
            return f"list({where}, limit={step.size}), page by page"
        case steps.DeleteThread():
            return _call("delete_thread", _text(step.thread))
        case steps.DeleteForRuns():
            return f"delete_for_runs([{', '.join(map(_text, step.runs))}])"
        case steps.CopyThread():
            return _call("copy_thread", _text(step.source), _text(step.target))
        case steps.Prune():
            threads = ", ".join(map(_text, step.threads))
            strategy = [f"strategy={_text(step.strategy)}"] if step.strategy else []
            return _call("prune", f"[{threads}]", *strategy)
        case steps.DeltaHistory():
            return _delta_history(step)
        case steps.NextVersions():
            back = ", the clock set back halfway" if step.clock_goes_back else ""
            return f"get_next_version(…), {step.count} times in a row{back}"
        case steps.RefuseValue():
            return _refuse_value(step)
        case steps.OwnStep():
            return _own_step(step)
    return None


def _of_what_else(step: steps.Step) -> str | None:
    """The words for what is done to a saver or its store besides, or in an unusual place."""
    match step:
        case steps.Reopen():
            return "close the saver and open it again"
        case steps.SetUp():
            return "call setup() again"
        case steps.CloseAgain():
            return "close the saver twice and open it again"
        case steps.AbandonList():
            return f"list({_text(step.thread)}), left after its first item"
        case steps.Clone():
            return "go on with a shallow copy that has another serializer"
        case steps.DropClone():
            return "drop the shallow copy and go on with the saver"
        case steps.Elsewhere():
            return f"in a second workspace: put({_text(step.thread)}, '', {_number(step.number)})"
        case steps.CheckFiles():
            return f"look at the files of the workspace: {step.look_for}"
        case steps.CallOnLoop():
            call = _call(step.operation, _text(step.thread), _number(step.number))
            return f"{call} on the thread of a running event loop"
        case steps.Bulk():
            where = f"thread {_text(step.thread)}, from {_number(step.number)} on"
            return f"{step.count} {step.kind} in {where}"
        case steps.FirstOperation():
            set_up = "set up" if step.set_up else "not set up"
            return f"{step.operation}(…) as the first call on a new store, {set_up}"
    return None


def _put(step: steps.Put) -> str:
    kept = [f"{_name(name)}={_value(value)}" for name, value in step.changes if value is not None]
    dropped = [_name(name) for name, value in step.changes if value is None]
    return _call(
        "put",
        _text(step.thread),
        _text(step.namespace),
        _number(step.number),
        "" if step.parent is None else f"parent {step.parent}",
        "" if step.copy_of is None else f"a copy of checkpoint {step.copy_of}",
        *kept,
        f"dropped: {', '.join(dropped)}" if dropped else "",
        _json("metadata", step.metadata),
        "" if step.node == "agent" else f"node {_text(step.node)}",
        "" if step.format is None else f"v={step.format}",
        "" if step.fields == "usual" else f"fields: {step.fields}",
        "" if step.legacy_writes is None else f"metadata writes: {_value(step.legacy_writes)}",
        _id_form(step.id_form),
        "unchanged values left out" if step.omit_unchanged else "",
        "" if step.clock is None else f"the time of checkpoint {step.clock}",
        *_extras(step.extras),
    ) + (", then change what was given" if step.mutate_inputs else "")


def _put_history(step: steps.PutHistory) -> str:
    last = step.number + step.count - 1
    times = {
        steps.Times.EQUAL: "all with the same time",
        steps.Times.FALLING: "with times that go back",
    }
    return _call(
        "put",
        _text(step.thread),
        _text(step.namespace),
        f"checkpoints {step.number} to {last}, each the child of the one before",
        "" if step.parent is None else f"parent {step.parent}",
        f"every {step.marked}th with metadata {show(MARK, 40)}" if step.marked else "",
        times.get(step.times, ""),
    )


def _put_writes(step: steps.PutWrites) -> str:
    writes = ", ".join(
        f"({_text(name)}, {_value(value)})" for name, value in step.writes[:_MOST_WRITES]
    )
    if len(step.writes) > _MOST_WRITES:
        writes += f", … {len(step.writes)} writes in all"
    return _call(
        "put_writes",
        _text(step.thread),
        _text(step.namespace) if step.give_namespace else "no namespace",
        _number(step.number),
        f"task {step.task}",
        f"[{writes}]",
        f"path {_text(step.path)}" if step.path else "",
        *_extras(step.extras),
    ) + (", then change what was given" if step.mutate_inputs else "")


def _get_tuple(step: steps.GetTuple) -> str:
    return _call(
        "get_tuple",
        _text(step.thread),
        "no namespace" if step.namespace is None else _text(step.namespace),
        _number(step.number, "" if step.id_form is not steps.IdForm.ABSENT else "the latest"),
        _id_form(step.id_form),
        *_extras(step.extras),
    ) + (", then change what was returned" if step.mutate_result else "")


def _list_tuples(step: steps.ListTuples) -> str:
    if step.thread is None:
        where = ["None"]
    else:
        where = [_text(step.thread), "" if step.namespace is None else _text(step.namespace)]
    return _call(
        "list",
        *where,
        _number(step.number),
        _id_form(step.id_form),
        _json("filter", step.filter),
        "" if step.before is None else f"before=checkpoint {step.before}",
        "" if step.limit is None else f"limit={step.limit}",
        *_extras(step.extras),
    )


def _delta_history(step: steps.DeltaHistory) -> str:
    return _call(
        "get_delta_channel_history",
        _text(step.thread),
        _text(step.namespace),
        _number(step.number, "the latest"),
        f"channels=[{', '.join(map(_text, step.channels))}]",
    )


def _refuse_value(step: steps.RefuseValue) -> str:
    where = f"{_text(step.thread)}, {_text(step.namespace)}, {_number(step.number)}"
    if step.operation == "put":
        parent = "" if step.parent is None else f", parent {step.parent}"
        return f"put({where}{parent}) with a value that cannot be serialized"
    return f"put_writes({where}), write {step.position % 5} cannot be serialized"


def _own_step(step: steps.OwnStep) -> str:
    return _call(
        step.rule,
        "" if step.thread is None else _text(step.thread),
        "" if step.namespace is None else _text(step.namespace),
        _number(step.number),
        "" if step.task is None else f"task {step.task}",
        *(f"{name}={show(value, _WIDTH)}" for name, value in (step.arguments or {}).items()),
    )
