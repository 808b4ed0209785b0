"""Rewrites programs with other names: threads, namespaces, checkpoints, tasks, channels, values.

The result may have illegal steps, which are left out when it is run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from string import ascii_lowercase
from typing import Any

from saverproof.programs.model.records import SPECIAL_INDEX
from saverproof.programs.steps.definitions import DeleteThread, Program, Step
from saverproof.programs.values import Value

PLAIN_THREAD, PLAIN_NAMESPACE, PLAIN_TASK = "a", "child", 1
_FIRST_SPARE = 50
"""The first number for new plain namespaces, above those that programs use."""
PLAIN_PATH = re.compile(r"[a-z0-9_~, ]*")
PLAIN_NAME = re.compile(r"[a-z_]+")

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "thread": ("thread", "source", "target", "threads"),
    "namespace": ("namespace",),
    "number": ("number", "parent", "copy_of", "before"),
    "task": ("task",),
    "path": ("path",),
    "channel": ("changes", "writes", "channels"),
    "name": ("node", "changes", "writes", "channels"),
    "value": ("changes", "writes", "legacy_writes"),
}
"""For each kind of name, the fields of steps that hold such names, alone or in tuples."""
_TYPES: Mapping[str, type] = {"number": int, "task": int, "value": Value}


def names_of(steps: Iterable[Step], kind: str) -> list[Any]:
    """Return the names of one kind in the order of their first use, without special channels."""
    wanted = _TYPES.get(kind, str)
    met: dict[Any, None] = {}
    for step in steps:
        for field in _FIELDS[kind]:
            met |= dict.fromkeys(_flat(getattr(step, field, None)))
    return [name for name in met if isinstance(name, wanted) and name not in SPECIAL_INDEX]


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for item in value:
            yield from _flat(item)
    else:
        yield value


def renamed(program: Program, kind: str, names: Mapping[Any, Any]) -> Program:
    """Return the program with names of one kind replaced; ``names`` maps old to new."""
    return tuple(_renamed(step, kind, names) for step in program)


def _renamed(step: Any, kind: str, names: Mapping[Any, Any]) -> Step:
    old = {field: getattr(step, field) for field in _FIELDS[kind] if hasattr(step, field)}
    new = {field: _exchanged(value, names) for field, value in old.items()}
    changed: Step = step if new == old else replace(step, **new)
    return changed


def _exchanged(value: Any, names: Mapping[Any, Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(_exchanged(item, names) for item in value)
    return names.get(value, value)


def threads(step: Step) -> list[str]:
    """Return the threads that a step names. It is called for every step, so it must be quick."""
    found = [getattr(step, name, None) for name in ("thread", "source", "target")]
    found += getattr(step, "threads", ())
    return [name for name in found if isinstance(name, str)]


def names(step: Step) -> list[str]:
    """Return the channels and nodes that a step names, without special channels."""
    return names_of((step,), "name")


def plain_threads(program: Program) -> Program:
    """Return the program with its threads renamed ``a``, ``b`` and so on."""
    met = enumerate(names_of(program, "thread"))
    return renamed(program, "thread", {name: _letter(number) for number, name in met})


def other_threads_after_deletes(program: Program) -> Program:
    """Return the program with a new thread wherever a deleted thread would be used again."""
    others: dict[str, str] = {}
    made: list[Step] = []
    for step in program:
        made += renamed((step,), "thread", others)
        if isinstance(step, DeleteThread):
            others[step.thread] = f"other{len(made)}"
    return tuple(made)


def plain_namespaces(program: Program) -> Program:
    """Return the program with all namespaces plain; the root stays the root."""
    met = enumerate(name for name in names_of(program, "namespace") if name)
    return renamed(program, "namespace", {name: _namespace(number) for number, name in met})


def plain_where(program: Program, odd: Callable[[str], bool]) -> Program:
    """Return the program with plain namespaces in place of those for which ``odd`` is true."""
    met = enumerate(filter(odd, names_of(program, "namespace")), _FIRST_SPARE)
    return renamed(program, "namespace", {name: _namespace(number) for number, name in met})


def root_alone(program: Program) -> Program:
    """Return the program with everything in the root namespace."""
    return renamed(program, "namespace", dict.fromkeys(names_of(program, "namespace"), ""))


def namespaces_as_threads(program: Program) -> Program:
    """Return the program with a thread of its own, in the root, for each other namespace."""

    def change(step: Any) -> Step:
        namespace = getattr(step, "namespace", None)
        if not namespace:
            return step  # type: ignore[no-any-return]
        changed: Step = replace(step, namespace="", thread=f"{step.thread}_{namespace}")
        return changed

    return plain_threads(tuple(map(change, program)))


def threads_for_namespaces(program: Program) -> Program:
    """Return the program with each thread's namespaces moved to threads of their own, except for
    the first namespace of each thread.
    """
    first: dict[str, str] = {}

    def change(step: Any) -> Step:
        namespace = getattr(step, "namespace", None)
        if namespace is None or first.setdefault(step.thread, namespace) == namespace:
            return step  # type: ignore[no-any-return]
        changed: Step = replace(step, thread=f"{step.thread}_{namespace}")
        return changed

    return plain_threads(tuple(map(change, program)))


def plain_names(program: Program) -> Program:
    """Return the program with plain channels, nodes and task paths."""
    met = enumerate(names_of(program, "name"))
    program = renamed(program, "name", {name: _word(number) for number, name in met})
    return _with_plain_paths(program, lambda path: bool(path))


def plain_channels(program: Program) -> Program:
    """Return the program with plain channels and task paths in place of odd ones."""
    odd = (name for name in names_of(program, "channel") if not PLAIN_NAME.fullmatch(name))
    words = {name: _word(number) for number, name in enumerate(odd)}
    program = renamed(program, "channel", words)
    return _with_plain_paths(program, lambda path: not PLAIN_PATH.fullmatch(path))


def _with_plain_paths(program: Program, odd: Callable[[str], bool]) -> Program:
    paths = enumerate(sorted(filter(odd, names_of(program, "path"))))
    return renamed(program, "path", {path: f"~p, {number:03d}" for number, path in paths})


def plain_tasks(program: Program) -> Program:
    """Return the program with tasks numbered from 1; the null task stays."""
    met = enumerate((task for task in names_of(program, "task") if task), PLAIN_TASK)
    return renamed(program, "task", {task: number for number, task in met})


def renumbered(program: Program) -> Program:
    """Return the program with checkpoints numbered from 1 without gaps, in the same order."""
    met = enumerate(sorted(names_of(program, "number")), 1)
    return renamed(program, "number", {old: number for number, old in met})


def plain_values(program: Program) -> Program:
    """Return the program with values 1, 2 and so on; equal values stay equal, others different."""
    met = enumerate(names_of(program, "value"), 1)
    return renamed(program, "value", {value: Value("integer", number) for number, value in met})


PLAINER = (
    renumbered,
    plain_threads,
    root_alone,
    plain_namespaces,
    plain_tasks,
    plain_channels,
    plain_values,
)
"""Rewritings that make all names of one kind plain at once."""


def plainer_one_by_one(program: Program) -> Iterator[Callable[[Program], Program]]:
    """Yield rewritings that each make one name plain."""
    for thread in names_of(program, "thread"):
        if thread not in ascii_lowercase:
            yield partial(_with_spare, kind="thread", old=thread, spare=_letter)
    for namespace in filter(None, names_of(program, "namespace")):
        yield partial(renamed, kind="namespace", names={namespace: ""})
        if not is_plain_namespace(namespace):
            yield partial(_with_spare, kind="namespace", old=namespace, spare=_namespace)
    for path in filter(None, names_of(program, "path")):
        # The path goes from all of a task's writes at once, since a retry keeps its path.
        yield partial(renamed, kind="path", names={path: ""})
    for task in names_of(program, "task"):
        yield partial(_with_spare, kind="task", old=task, spare=_task)
    for channel in names_of(program, "channel"):
        if not PLAIN_NAME.fullmatch(channel):
            yield partial(_with_spare, kind="channel", old=channel, spare=_word)


def _with_spare(program: Program, kind: str, old: Any, spare: Callable[[int], Any]) -> Program:
    """Return the program with one name replaced by the first plain name that nothing uses.

    Tasks are not merged: that would make a retry of two batches, which is not simpler.
    """
    met = names_of(program, kind)
    new = next((name for name in map(spare, range(len(met))) if name not in met), old)
    if kind == "task" and 0 < old < new:
        return program
    return renamed(program, kind, {old: new})


def is_plain_namespace(namespace: str) -> bool:
    """Return whether a namespace is the root or one of the plain names that rewritings make."""
    return namespace in ("", PLAIN_NAMESPACE) or re.fullmatch(r"n\d+", namespace) is not None


def is_plain(value: Value) -> bool:
    """Return whether a value is a small integer."""
    return value.kind == "integer" and isinstance(value.seed, int) and 0 < value.seed < 100


def _letter(number: int) -> str:
    return ascii_lowercase[number] if number < len(ascii_lowercase) else _word(number)


def _word(number: int) -> str:
    letters = len(ascii_lowercase)
    above, last = divmod(number, letters)
    if above < letters:
        return f"c{ascii_lowercase[above]}{ascii_lowercase[last]}"
    return f"{_word(above)}{ascii_lowercase[last]}"


def _task(number: int) -> int:
    return PLAIN_TASK + number


def _namespace(number: int) -> str:
    return f"n{number}" if number else PLAIN_NAMESPACE
