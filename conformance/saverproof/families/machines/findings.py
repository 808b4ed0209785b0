"""Puts a violation into words, data and a script."""

from __future__ import annotations

from collections.abc import Iterable

from saverproof.contracts.registry import contract
from saverproof.families.items import Finding
from saverproof.families.machines.explaining.violations import Violation
from saverproof.judging.wording import fact_in_words, shown
from saverproof.mistakes import Mistake
from saverproof.programs.steps.codec import to_json
from saverproof.programs.steps.describing import describe
from saverproof.savers.targets.target import Target
from saverproof.scripts import reproducer
from saverproof.scripts.own_source import NO_SOURCES, OwnSources

WIDTH = 1_200
"""Characters of an expected or observed value that a finding shows."""


def finding(
    target: Target,
    api: str,
    violation: Violation,
    own: OwnSources = NO_SOURCES,
    alike: Iterable[Mistake] = (),
) -> Finding:
    """Return a violation in words, as data and with a script.

    ``own`` are the author's rules and invariants, ``alike`` the mistakes of other contracts each of
    which shows the same.
    """
    difference = violation.breach.difference
    where = "" if difference.address is None else f" ({_place(difference.address)})"
    summary = fact_in_words(difference) + where
    if not violation.shortened:
        summary += " (shortening the program was ended early)"
    expected, observed = shown(difference, WIDTH)
    name, program = violation.contract, violation.program
    # An author's own contract is in no table.
    implied = () if name in own.statements else contract(name).implies
    mistake = violation.mistake
    return Finding(
        contract=name,
        api=api,
        phase="functional",
        summary=summary,
        expected=expected,
        observed=observed,
        steps=tuple(describe(step) for step in program),
        program=to_json(program),
        reproducer=reproducer(target, program, violation.breach, api, name=name, own=own),
        needs=tuple(each.words for each in violation.needs),
        goes_without=tuple(sorted({each.contract for each in violation.needs} - {"", name})),
        also_shows=tuple(sorted(violation.also)),
        may_break=tuple(sorted(implied)),
        mistake="" if mistake is None else mistake.note,
        mistake_of="" if mistake is None else mistake.breaks,
        mistakes_alike=notes(alike),
    )


def notes(mistakes: Iterable[Mistake]) -> tuple[str, ...]:
    """Return the notes of some mistakes, each once."""
    return tuple(dict.fromkeys(each.note for each in mistakes))


def _place(address: tuple[str, str, int]) -> str:
    thread, namespace, number = address
    inside = f", namespace {namespace!r}" if namespace else ""
    return f"checkpoint {number} of thread {thread!r}{inside}"
