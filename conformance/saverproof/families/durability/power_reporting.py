"""Puts what power cuts left into words, data and a script."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from saverproof.families.durability.judging import KillOutcome
from saverproof.families.durability.power import KEEPS, POWER, WRONG, Flaw, Power
from saverproof.families.durability.power_scripts import power_reproducer
from saverproof.families.items import Finding
from saverproof.programs.steps.codec import to_json
from saverproof.programs.steps.describing import describe

WIDTH = 1_200
EXPECTED = {
    POWER: "the store opens, and holds the operations up to some point, each whole",
    KEEPS: "every operation that had returned is there",
}
_MOST_NAMED = 4
"""Missing syncs that are named; a saver that syncs nothing lacks many."""
_WORDS = {
    KillOutcome.UNOPENED: "cannot be used",
    KillOutcome.TORN: "holds a part of an operation",
    KillOutcome.GAP: "holds a later operation without an earlier one",
}


def power_section(power: Power) -> dict[str, Any]:
    """The section "power" of a report."""
    data: dict[str, Any] = {
        "images": power.images,
        "lost_acknowledged_max": max(power.by_lost, default=0),
        "corrupt": power.counts[KillOutcome.UNOPENED],
        "torn": power.counts[KillOutcome.TORN],
        "reordered": power.counts[KillOutcome.GAP],
        "by_lost": {str(lost): count for lost, count in sorted(power.by_lost.items())},
    }
    if power.images:
        data["setting"] = "; ".join(power.settings)
    if power.opening:
        data["opening"] = power.opening
    notes = [*power.notes, *([f"not exercised: {power.unseen}"] if power.unseen else [])]
    if notes:
        data["notes"] = notes
    return data


def power_findings(power: Power, wanted: Collection[str]) -> Iterator[Finding]:
    """What is wrong, a finding for each broken contract that is ``wanted``."""
    for contract, flaw in sorted(power.flaws.items()):
        if contract in wanted:
            yield _finding(power, contract, flaw)


def _finding(power: Power, contract: str, flaw: Flaw) -> Finding:
    program, done = power.workload.program, len(flaw.image.acknowledged)
    steps = [f"{describe(step)}  -> returned" for step in program[:done]]
    cut = "power cut" if flaw.image.started else "power cut while the store is first opened"
    return Finding(
        contract=contract,
        api=power.bench.plan.api,
        phase="power",
        summary=_summary(power, contract, flaw),
        expected=EXPECTED[contract],
        observed=_observed(power, flaw)[:WIDTH],
        steps=(*steps, f"{cut}: of the unsynced writes, {flaw.image.kind.value} survive"),
        program={
            "program": to_json(program),
            "power": {"position": flaw.image.position, "kind": flaw.image.kind.value},
        },
        reproducer=power_reproducer(
            power.bench.target,
            power.bench.plan.api,
            contract,
            power.recorder,
            deadly=power.deadly,
        ),
    )


def _summary(power: Power, contract: str, flaw: Flaw) -> str:
    setting = "; ".join(power.settings)
    if contract == KEEPS:
        bad, lost = sum(count for lost, count in power.by_lost.items() if lost), len(flaw.lost)
        gone = "1 acknowledged operation is" if lost == 1 else f"{lost} acknowledged operations are"
        return f"after a power cut {gone} gone ({bad} of {power.images} disk images; {setting})"
    bad = sum(power.counts[outcome] for outcome in WRONG)
    return (
        f"after a power cut the store {_WORDS[flaw.outcome]} "
        f"({bad} of {power.images} disk images; {setting})"
    )


def _observed(power: Power, flaw: Flaw) -> str:
    """What is wrong, and the syncs that would have helped: of what is gone, else all missing."""
    at = flaw.lost[:1] or tuple(power.missing)
    missing = [str(sync) for number in at for sync in power.missing.get(number, ())]
    named = list(dict.fromkeys(missing))
    if len(named) > _MOST_NAMED:
        named[_MOST_NAMED:] = [f"{len(named) - _MOST_NAMED} syncs more"]
    if flaw.lost and named:
        first = describe(power.workload.program[flaw.lost[0]])
        return f"{flaw.observed}; when {first} had returned, there was {', '.join(named)}"
    return "; ".join([flaw.observed, *named])
