"""Programs with other names: of threads, namespaces, checkpoints, tasks, channels and values.

What comes out need not be legal; whoever runs it leaves out the steps that are not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from string import ascii_lowercase
from typing import Any

from saverproof.model.records import SPECIAL_INDEX
from saverproof.steps.definitions import DeleteThread, Program, Step
from saverproof.values import Value

PLAIN_THREAD, PLAIN_NAMESPACE, PLAIN_TASK = "a", "child", 1
_FIRST_SPARE = 50
"""Numbers of plain namespaces that no program uses."""
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
"""Kind of name -> the fields of steps that hold such names, alone or in tuples."""
_TYPES: Mapping[str, type] = {"number": int, "task": int, "value": Value}


def names_of(steps: Iterable[Step], kind: str) -> list[Any]:
    """The names of a kind in the order in which they are met, special channels aside."""
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
    """The same with other names of a kind: old -> new."""
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
    """The threads that a step names; asked of every step that is taken."""
    found = [getattr(step, name, None) for name in ("thread", "source", "target")]
    found += getattr(step, "threads", ())
    return [name for name in found if isinstance(name, str)]


def names(step: Step) -> list[str]:
    """The channels and nodes that a step names, special channels aside."""
    return names_of((step,), "name")


def plain_threads(program: Program) -> Program:
    """The same with threads ``a``, ``b`` and so on."""
    met = enumerate(names_of(program, "thread"))
    return renamed(program, "thread", {name: _letter(number) for number, name in met})


def other_threads_after_deletes(program: Program) -> Program:
    """The same where no thread that was deleted is used again: another takes its place."""
    others: dict[str, str] = {}
    made: list[Step] = []
    for step in program:
        made += renamed((step,), "thread", others)
        if isinstance(step, DeleteThread):
            others[step.thread] = f"other{len(made)}"
    return tuple(made)


def plain_namespaces(program: Program) -> Program:
    """The same with namespaces that nothing is odd about; the root stays the root."""
    met = enumerate(name for name in names_of(program, "namespace") if name)
    return renamed(program, "namespace", {name: _namespace(number) for number, name in met})


def plain_where(program: Program, odd: Callable[[str], bool]) -> Program:
    """The same with plain namespaces for those that are odd; the others stay."""
    met = enumerate(filter(odd, names_of(program, "namespace")), _FIRST_SPARE)
    return renamed(program, "namespace", {name: _namespace(number) for number, name in met})


def root_alone(program: Program) -> Program:
    """The same with everything in the root namespace."""
    return renamed(program, "namespace", dict.fromkeys(names_of(program, "namespace"), ""))


def namespaces_as_threads(program: Program) -> Program:
    """The same without namespaces: what was in one is in the root of a thread of its own."""

    def change(step: Any) -> Step:
        namespace = getattr(step, "namespace", None)
        if not namespace:
            return step  # type: ignore[no-any-return]
        changed: Step = replace(step, namespace="", thread=f"{step.thread}_{namespace}")
        return changed

    return plain_threads(tuple(map(change, program)))


def threads_for_namespaces(program: Program) -> Program:
    """The same where each namespace of a thread but its first is in a thread of its own."""
    first: dict[str, str] = {}

    def change(step: Any) -> Step:
        namespace = getattr(step, "namespace", None)
        if namespace is None or first.setdefault(step.thread, namespace) == namespace:
            return step  # type: ignore[no-any-return]
        changed: Step = replace(step, thread=f"{step.thread}_{namespace}")
        return changed

    return plain_threads(tuple(map(change, program)))


def plain_names(program: Program) -> Program:
    """The same with channels, nodes and task paths that nothing is odd about."""
    met = enumerate(names_of(program, "name"))
    program = renamed(program, "name", {name: _word(number) for number, name in met})
    return _with_plain_paths(program, lambda path: bool(path))


def plain_channels(program: Program) -> Program:
    """The same with plain channels and task paths where they are odd."""
    odd = (name for name in names_of(program, "channel") if not PLAIN_NAME.fullmatch(name))
    words = {name: _word(number) for number, name in enumerate(odd)}
    program = renamed(program, "channel", words)
    return _with_plain_paths(program, lambda path: not PLAIN_PATH.fullmatch(path))


def _with_plain_paths(program: Program, odd: Callable[[str], bool]) -> Program:
    paths = enumerate(sorted(filter(odd, names_of(program, "path"))))
    return renamed(program, "path", {path: f"~p, {number:03d}" for number, path in paths})


def plain_tasks(program: Program) -> Program:
    """The same with tasks numbered from 1; the null task stays the null task."""
    met = enumerate((task for task in names_of(program, "task") if task), PLAIN_TASK)
    return renamed(program, "task", {task: number for number, task in met})


def renumbered(program: Program) -> Program:
    """The same with the checkpoints numbered from 1 without gaps, in the order they had."""
    met = enumerate(sorted(names_of(program, "number")), 1)
    return renamed(program, "number", {old: number for number, old in met})


def plain_values(program: Program) -> Program:
    """The same with the values 1, 2 and so on, which differ where they did."""
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
"""What makes the names of a kind plain, all at once."""


def plainer_one_by_one(program: Program) -> Iterator[Callable[[Program], Program]]:
    """What makes one name plain, for each that is not."""
    for thread in names_of(program, "thread"):
        if thread not in ascii_lowercase:
            yield partial(_with_spare, kind="thread", old=thread, spare=_letter)
    for namespace in filter(None, names_of(program, "namespace")):
        yield partial(renamed, kind="namespace", names={namespace: ""})
        if not is_plain_namespace(namespace):
            yield partial(_with_spare, kind="namespace", old=namespace, spare=_namespace)
    for path in filter(None, names_of(program, "path")):
        # From all of a task's writes at once: a retry keeps its path.
        yield partial(renamed, kind="path", names={path: ""})
    for task in names_of(program, "task"):
        yield partial(_with_spare, kind="task", old=task, spare=_task)
    for channel in names_of(program, "channel"):
        if not PLAIN_NAME.fullmatch(channel):
            yield partial(_with_spare, kind="channel", old=channel, spare=_word)


def _with_spare(program: Program, kind: str, old: Any, spare: Callable[[int], Any]) -> Program:
    """The same with the first plain name that nothing else has.

    Two tasks do not become one: a retry, perhaps under another path, is not simpler.
    """
    met = names_of(program, kind)
    new = next((name for name in map(spare, range(len(met))) if name not in met), old)
    if kind == "task" and 0 < old < new:
        return program
    return renamed(program, kind, {old: new})


def is_plain_namespace(namespace: str) -> bool:
    """Whether nothing is odd about a namespace."""
    return namespace in ("", PLAIN_NAMESPACE) or re.fullmatch(r"n\d+", namespace) is not None


def is_plain(value: Value) -> bool:
    """Whether a value is a small integer."""
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
