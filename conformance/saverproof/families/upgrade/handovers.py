"""Says which handover from one release to another judges which contract, and plays it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType

from saverproof.contracts.tables import upgrade
from saverproof.families.upgrade.programs import takes_turns
from saverproof.families.upgrade.release_process import ReleaseGone, ReleaseRaised
from saverproof.families.upgrade.trials import (
    GONE_ON,
    NOTHING,
    READ_BY_NEW,
    ROLLED_BACK,
    SIDE_BY_SIDE,
    Alone,
    Handover,
    Odd,
    ReleaseBench,
    Which,
    is_refusal,
)
from saverproof.programs.rewriting.shrinking import shrink
from saverproof.programs.steps.definitions import Program

HANDOVERS: Mapping[str, Handover] = MappingProxyType(
    {
        upgrade.READS_OLD_DATA.id: READ_BY_NEW,
        upgrade.WRITES_ON_OLD_DATA.id: GONE_ON,
        upgrade.ROLLBACK.id: ROLLED_BACK,
        upgrade.OLD_WORKERS_GO_ON.id: SIDE_BY_SIDE,
    }
)
_MOST_STEPS = 400
"""The most programs that are tried to shorten one: each takes three stores and two processes."""
_OPENING = "opening the store"


@dataclass(frozen=True, slots=True)
class ComparedFacts:
    """The facts compared in a handover: how many there were, and the odd ones.

    ``of_langgraph`` more facts are odd with the plain saver as well, and count for nothing.
    """

    facts: int
    odd: tuple[Odd, ...]
    of_langgraph: int = 0


def compared(bench: ReleaseBench, handover: Handover, alone: Alone) -> ComparedFacts:
    """Play a handover. Compare what is shown with what each release shows of its own stores."""
    if handover is not READ_BY_NEW:
        alone = alone.only(takes_turns)
    try:
        seen = bench.shown(handover, alone.programs)
    except ReleaseRaised as refusal:
        return not_opened(alone, refusal, handover.readers[0])
    found = [
        odd
        for reader, shown in zip(handover.readers, seen, strict=True)
        for odd in alone.odd(reader, shown)
    ]
    others = _of_langgraph(bench, handover, found)
    facts = sum(len(one) for shown in seen for one in shown)
    facts -= sum(odd.observed != NOTHING for odd in others)
    return ComparedFacts(facts, tuple(odd for odd in found if odd not in others), len(others))


def compared_beside(
    bench: ReleaseBench, handover: Handover, alone: Alone, others: Sequence[Handover]
) -> ComparedFacts:
    """Do the same, but leave out the facts of which one of the other handovers shows the same, and
    programs of which a step is refused there.
    """
    seen = compared(bench, handover, alone)
    if not seen.odd:
        return seen
    beside = [odd for other in others for odd in compared(bench, other, alone).odd]
    known = {_key(odd) for odd in beside}
    refused = {repr(odd.program) for odd in beside if is_refusal(odd.fact)}
    news = tuple(
        odd for odd in seen.odd if _key(odd) not in known and repr(odd.program) not in refused
    )
    return replace(seen, facts=seen.facts - len(seen.odd) + len(news), odd=news)


def _key(odd: Odd) -> tuple[str, str, str]:
    """Return what is the same for a fact that two handovers show alike."""
    # A store that cannot be opened shows that with any program.
    program = "" if odd.fact == _OPENING else repr(odd.program)
    return program, odd.fact, odd.observed


def other_kinds(shown: Odd, found: Sequence[Odd]) -> list[Odd]:
    """Return the first fact of each further kind: values, metadata, parents, order and so on."""
    first: dict[str, Odd] = {}
    for odd in (shown, *found):
        first.setdefault(_kind_of(odd.fact), odd)
    return [*first.values()][1:]


def _kind_of(fact: str) -> str:
    """Return what a fact is about, without names, ids and numbers."""
    about = fact.rpartition(" (")[0] or fact
    return re.sub(r"'[^']*'|\S*\d\S*", "", about.rpartition(": ")[2]).strip()


def _of_langgraph(bench: ReleaseBench, handover: Handover, found: Sequence[Odd]) -> list[Odd]:
    """Return those odd facts that are odd with the plain saver, too."""
    if bench.plain is None or not found:
        return []
    programs = {repr(odd.program): odd.program for odd in found}
    alone = Alone.of(bench.plain, [*programs.values()])
    seen = {(repr(odd.program), odd.fact) for odd in compared(bench.plain, handover, alone).odd}
    return [odd for odd in found if (repr(odd.program), odd.fact) in seen]


def not_opened(alone: Alone, refusal: ReleaseRaised, reader: Which) -> ComparedFacts:
    """Return the one odd fact of a store that a release cannot open."""
    program: Program = tuple(step for program in alone.programs[:1] for step in program)
    return ComparedFacts(0, (Odd(program, _OPENING, ("an open store",), str(refusal), reader),))


def shortened(
    bench: ReleaseBench, handover: Handover, found: Sequence[Odd], others: Sequence[Handover] = ()
) -> Odd:
    """Return the first odd fact, with the shortest program found that shows one, and that the other
    handovers do not show.

    The fact stays a finding even if a release ends, or cannot open a store, while a shorter program
    is tried.
    """
    shortest = found[0]

    def attempt(candidate: Program) -> Program | None:
        nonlocal shortest
        odd = compared_beside(bench, handover, Alone.of(bench, [candidate]), others).odd
        if not odd:
            return None
        shortest = odd[0]
        return candidate

    with suppress(ReleaseGone, ReleaseRaised):
        shrink(found[0].program, attempt, _MOST_STEPS)
    return shortest
