"""The traits of a program: all that it may need to show a difference."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, replace
from functools import partial
from string import ascii_lowercase
from typing import Any

from saverproof.contracts.tables import upsert
from saverproof.judging.attribution.features import FEATURES
from saverproof.programs.model.records import SPECIAL_INDEX
from saverproof.programs.rewriting import renaming, rewriting_batches, rewritten
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteThread,
    ListTuples,
    Program,
    Put,
    PutHistory,
    PutWrites,
    Step,
)
from saverproof.programs.steps.expanding import puts_of
from saverproof.programs.trait import Rewriting, Trait
from saverproof.programs.values import Value

_LETTERS: Mapping[str, str] = {
    "upper case": r"[A-Z]",
    "letters beyond ASCII": r"[^\x00-\x7f]",
    "blanks": r"\s",
    "wildcards of SQL": r"[%_]",
    "wildcards of patterns": r"[*?\[\]{}]",
    "parts of paths": r"[./\\]",
    "quotes": r"['\"]",
    "NUL": r"\x00",
    "separators": r"[:|,\x1f-]",
    "digits": r"\d",
}
"""Kinds of characters that make a thread id hostile, as regular expressions."""
_FIELDS_ASIDE = frozenset({"thread", "namespace", "metadata", "filter", "changes", "parent"})
"""The fields of steps that are not reset: other traits cover them, or a step makes no sense without
them.
"""


def traits(program: Program) -> list[Trait]:
    """Return the traits that can be taken out of a program, the most special first."""
    found = dict.fromkeys(
        each
        for kind in (_letters, _values, _filters, _metadata, _features, _fields, _orders, _steps)
        for each in kind(program)
    )
    return [each for each in found if each.without(program) != program]


def _named(name: str, without: Rewriting) -> Trait:
    """Return a trait that no contract is about."""
    return Trait("", without, name)


def _letters(program: Program) -> Iterator[Trait]:
    for label, letters in _LETTERS.items():
        if any(re.search(letters, name) for name in renaming.names_of(program, "thread")):
            yield _named(f"thread ids with {label}", partial(_without_letters, letters=letters))


def _without_letters(program: Program, letters: str) -> Program:
    names = renaming.names_of(program, "thread")
    odd = [name for name in names if re.search(letters, name)]
    free = [letter for letter in ascii_lowercase if letter not in {*names, "a"}]
    return renaming.renamed(program, "thread", dict(zip(odd, free, strict=False)))


def _values(program: Program) -> Iterator[Trait]:
    for kind in {value.kind: None for value in renaming.names_of(program, "value")}:
        if kind not in ("integer", "text"):
            yield _named(f"values of kind {kind}", partial(_without_values, kind=kind))


def _without_values(program: Program, kind: str) -> Program:
    odd = [value for value in renaming.names_of(program, "value") if value.kind == kind]
    return renaming.renamed(program, "value", {v: Value("text", f"not {v.seed}") for v in odd})


def _filters(program: Program) -> Iterator[Trait]:
    asked = [step.filter for step in program if isinstance(step, ListTuples) and step.filter]
    for item in (item for filter_ in asked for item in filter_.items()):
        key, value = item
        sort = type(value).__name__
        yield _named(f"a filter by a {sort}", partial(_without_filters, of=type(value)))
        yield _named(f"a filter by {key!r}", partial(_without_filters, key=key))


def _without_filters(program: Program, key: str | None = None, of: type = object) -> Program:
    def change(step: Step) -> Step:
        if not isinstance(step, ListTuples) or not step.filter:
            return step
        kept = {
            k: v for k, v in step.filter.items() if key not in (None, k) or not isinstance(v, of)
        }
        return replace(step, filter=kept or None)

    return tuple(map(change, program))


def _metadata(program: Program) -> Iterator[Trait]:
    for key in {key: None for step in program for key in _keys_of(step)}:
        yield _named(f"metadata {key!r}", partial(_without_metadata, key=key))


def _keys_of(step: Step) -> Iterable[str]:
    """Return the keys of the metadata that a step puts, and of what its config adds to it."""
    if isinstance(step, PutHistory):
        return [key for put in puts_of(step) for key in put.metadata or {}]
    if not isinstance(step, Put):
        return ()
    extras = step.extras
    return {**(step.metadata or {}), **(extras.configurable or {}), **(extras.metadata or {})}


def _without_metadata(program: Program, key: str) -> Program:
    def change(step: Step) -> Iterable[Step]:
        if key not in _keys_of(step):
            yield step
        elif isinstance(step, PutHistory):
            # Only single puts can be without a key.
            for put in puts_of(step):
                yield from change(put)
        elif isinstance(step, Put):
            extras = replace(
                step.extras,
                configurable=_without_key(step.extras.configurable, key),
                metadata=_without_key(step.extras.metadata, key),
            )
            yield replace(step, metadata=_without_key(step.metadata, key), extras=extras)

    return tuple(each for step in program for each in change(step))


def _without_key(entries: Mapping[str, Any] | None, key: str) -> dict[str, Any] | None:
    return None if entries is None else {k: v for k, v in entries.items() if k != key}


def _features(program: Program) -> Iterator[Trait]:
    yield from (feature for feature in FEATURES if any(map(feature.touches, program)))
    yield Trait(
        upsert.REGULAR_WRITE_FIRST_WINS.id,
        rewriting_batches.written_once,
        "a task that writes again",
    )


def _fields(program: Program) -> Iterator[Trait]:
    for step in program:
        for each in fields(step):  # type: ignore[arg-type]
            value = getattr(step, each.name)
            if each.name in _FIELDS_ASIDE or each.default is MISSING:
                continue
            if value in (each.default, None):
                continue
            kind = type(step)
            if each.name == "limit":
                word = "limit 0" if value == 0 else "a limit above 0"
                yield _named(word, partial(_without_limit, zero=value == 0))
            elif each.name not in ("number", "task"):
                plain = partial(_with_default, kind=kind, name=each.name, value=each.default)
                yield _named(f"{each.name} of {kind.__name__}", plain)


def _without_limit(program: Program, zero: bool) -> Program:
    return tuple(
        replace(s, limit=None)
        if isinstance(s, ListTuples) and s.limit is not None and (s.limit == 0) is zero
        else s
        for s in program
    )


def _with_default(program: Program, kind: Any, name: str, value: Any) -> Program:
    return tuple(replace(s, **{name: value}) if isinstance(s, kind) else s for s in program)


def _orders(program: Program) -> Iterator[Trait]:
    yield _named("deletions of threads that hold nothing", _without_deleting_nothing)
    yield _named("puts out of the order of their ids", rewriting_batches.all_on_time)
    yield _named("an id that is put again", rewritten.put_once)
    yield _named("namespaces", renaming.root_alone)
    yield _named("special writes", _without_special)
    yield _named("batches of more than ten writes", partial(_with_writes, most=10))
    yield _named("batches of more than one write", partial(_with_writes, most=1))


def _without_deleting_nothing(program: Program) -> Program:
    kept: list[Step] = []
    holding: set[str] = set()
    for step in program:
        if isinstance(step, DeleteThread):
            if step.thread not in holding:
                continue
            holding.discard(step.thread)
        elif isinstance(step, Put | PutWrites | CopyThread):
            holding.update(renaming.threads(step))
        kept.append(step)
    return tuple(kept)


def _without_special(program: Program) -> Program:
    return tuple(
        replace(s, writes=tuple(w for w in s.writes if w[0] not in SPECIAL_INDEX))
        if isinstance(s, PutWrites)
        else s
        for s in program
    )


def _with_writes(program: Program, most: int) -> Program:
    return tuple(
        replace(s, writes=s.writes[:most]) if isinstance(s, PutWrites) else s for s in program
    )


def _steps(program: Program) -> Iterator[Trait]:
    for kind in dict.fromkeys(map(type, program)):
        if kind is not Put:
            name = f"steps of kind {kind.__name__}"
            yield Trait("", rewritten.without(kind), name, whole_step=True)
