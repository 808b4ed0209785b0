"""Savers that misbehave in any way are reported; nothing of what they do escapes into the kit.

By day each operation does some of it, in turns; by night each does all.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, plan_of
from tests.conformance.selftest_support import EVERY_FAMILY, hunt
from tests.nights import by_turns

from saverproof import Target, Workspace
from saverproof.contracts.registry import contracts
from saverproof.mistakes.reference.saver import ReferenceSaver


class UnspeakableError(Exception):
    """Cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


class Stranger(BaseException):
    """Derived from no Exception."""


class Shapeless:
    """Raises whatever is asked of it."""

    def __getattribute__(self, name: str) -> Any:
        raise ValueError(f"no {name} here")


class Surrogate(str):
    """Text that no encoding takes."""


def raising(error: type[BaseException], *arguments: Any) -> Callable[..., Any]:
    """What raises."""

    def answer(*_: Any, **__: Any) -> Any:
        raise error(*arguments)

    return answer


def giving(value: Any) -> Callable[..., Any]:
    """What gives always the same."""
    return lambda *_, **__: value


def endless(*_: Any, **__: Any) -> Iterator[None]:
    """A listing without an end."""
    return itertools.repeat(None)


ODD: dict[str, Callable[..., Any]] = {
    "raises-system-exit": raising(SystemExit, 3),
    "raises-generator-exit": raising(GeneratorExit),
    "raises-stop-iteration": raising(StopIteration),
    "raises-stop-async-iteration": raising(StopAsyncIteration),
    "raises-recursion-error": raising(RecursionError),
    "raises-memory-error": raising(MemoryError),
    "raises-no-exception-class": raising(Stranger),
    "raises-what-cannot-be-shown": raising(UnspeakableError),
    "raises-lone-surrogates": raising(ValueError, "\ud800 \x1b[31m"),
    "gives-nothing": giving(None),
    "gives-a-number": giving(42),
    "gives-the-class": giving(ReferenceSaver),
    "gives-an-empty-dict": giving({}),
    "gives-nested-nonsense": giving({"configurable": [{"checkpoint_id": 7}]}),
    "gives-something-shapeless": giving(Shapeless()),
    "gives-text-of-no-encoding": giving(Surrogate("\ud800")),
    "gives-numbers-for-ever": endless,
}
OPERATIONS = ("put", "get_tuple", "list")
SAME_AS_OTHERS = {
    "raises-generator-exit",
    "raises-stop-iteration",
    "raises-recursion-error",
    "raises-lone-surrogates",
    "gives-a-number",
    "gives-an-empty-dict",
}
"""What is treated as others of ``ODD`` are, by the same lines: it has its night."""
ANSWERS = [
    (operation, odd)
    for number, odd in enumerate(ODD)
    for turn, operation in enumerate(OPERATIONS)
    if EVERY_FAMILY or (odd not in SAME_AS_OTHERS and (number + turn) % len(OPERATIONS) == 0)
]
"""What an operation does. By day each is done by one of them, in turn: all are caught at the same
place.
"""
FAMILY_OF = {
    "put": "identity",
    "put_writes": "pending-writes",
    "get_tuple": "identity",
    "list": "ordering",
    "delete_thread": "deletion",
    "get_next_version": "channels",
}


def misbehaving(operation: str, odd: Callable[..., Any]) -> Target:
    """A saver that is right but for one operation, which misbehaves from its fourth call on."""

    @contextmanager
    def open_(workspace: Workspace) -> Iterator[ReferenceSaver]:
        saver = ReferenceSaver.at(workspace.path)
        saver.setup()
        right, calls = getattr(saver, operation), itertools.count(1)

        def sometimes(*arguments: Any, **named: Any) -> Any:
            return (odd if next(calls) > 3 else right)(*arguments, **named)

        setattr(saver, operation, sometimes)
        try:
            yield saver
        finally:
            saver.close()

    return Target(name="odd", open=open_)


@pytest.mark.parametrize(("operation", "odd"), ANSWERS)
def test_whatever_a_saver_answers_is_reported(operation: str, odd: str, tmp_path: Path) -> None:
    check_report(operation, odd, tmp_path)


@pytest.mark.parametrize(
    ("operation", "odd"),
    by_turns(
        ["put_writes", "delete_thread", "get_next_version"],
        ["raises-what-cannot-be-shown", "raises-system-exit"],
    ),
)
def test_whatever_is_raised_is_reported(operation: str, odd: str, tmp_path: Path) -> None:
    check_report(operation, odd, tmp_path)


def check_report(operation: str, odd: str, folder: Path) -> None:
    """A short search finds something, and what it says can be printed and stored."""
    target = misbehaving(operation, ODD[odd])
    facts = facts_from(EVERY_OPERATION)
    plan = plan_of(target, FAMILY_OF[operation], "sync", folder, facts=facts)
    # What follows from the first finding is shown by the same words: that is for the night.
    wanted = () if EVERY_FAMILY else (each.id for each in contracts(plan.family))
    findings = hunt(plan, target, *wanted, steps=80).findings
    assert findings
    for finding in findings:
        assert finding.summary.isprintable()
        (finding.observed + finding.expected + finding.reproducer).encode("utf-8")
