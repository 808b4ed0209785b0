"""Puts what power cuts left into words, data and scripts."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from saverproof.families.durability.kills.judging import KillOutcome
from saverproof.families.durability.power.power_cuts import Power
from saverproof.families.durability.power.power_disks import (
    KEEPS,
    POWER,
    WRONG,
    Disks,
    FailedSync,
    WrongImage,
)
from saverproof.families.durability.power.power_scripts import failing_reproducer, power_reproducer
from saverproof.families.items import Finding
from saverproof.programs.steps.codec import to_json
from saverproof.programs.steps.describing import describe

WIDTH = 1_200
EXPECTED = {
    POWER: "the store opens, and holds the operations up to some point, each whole",
    KEEPS: "every operation that had returned is there",
}
_MOST_NAMED = 4
"""How many missing syncs are named; a saver that syncs nothing lacks many."""
_WORDS = {
    KillOutcome.UNOPENED: "cannot be used",
    KillOutcome.TORN: "holds a part of an operation",
    KillOutcome.GAP: "holds a later operation without an earlier one",
}


def power_section(power: Power) -> dict[str, Any]:
    """Return the section "power" of a report."""
    disks = power.disks
    data = _figures(disks)
    if disks.images:
        data["setting"] = "; ".join(power.settings)
    if disks.opening:
        data["opening"] = disks.opening
    if power.places:
        data["failed_syncs"] = _figures(power.failing) | {
            "places": power.places,
            "failed": power.failed,
        }
    notes = [*power.notes, *([f"not exercised: {power.unseen}"] if power.unseen else [])]
    if notes:
        data["notes"] = notes
    return data


def _figures(disks: Disks) -> dict[str, Any]:
    return {
        "images": disks.images,
        "lost_acknowledged_max": max(disks.by_lost, default=0),
        "corrupt": disks.counts[KillOutcome.UNOPENED],
        "torn": disks.counts[KillOutcome.TORN],
        "reordered": disks.counts[KillOutcome.GAP],
        "by_lost": {str(lost): count for lost, count in sorted(disks.by_lost.items())},
    }


def power_findings(power: Power, wanted: Collection[str]) -> Iterator[Finding]:
    """Yield a finding for each broken contract that is ``wanted``."""
    for contract, flaw in sorted(power.flaws.items()):
        if contract in wanted:
            yield _finding(power, contract, flaw)


def _finding(power: Power, contract: str, flaw: WrongImage) -> Finding:
    program = power.workload.program
    where: dict[str, Any] = {"position": flaw.image.position, "kind": flaw.image.kind.value}
    if flaw.failed is not None:
        where["failed_sync"] = flaw.failed.place.number
        script = failing_reproducer(power, contract)
    else:
        target, api = power.bench.target, power.bench.plan.api
        script = power_reproducer(target, api, contract, power.recorder, deadly=power.disks.deadly)
    return Finding(
        contract=contract,
        api=power.bench.plan.api,
        phase="power",
        summary=_summary(power, contract, flaw),
        expected=EXPECTED[contract],
        observed=_observed(power, flaw)[:WIDTH],
        steps=tuple(_told(power, flaw)),
        program={"program": to_json(program), "power": where},
        reproducer=script,
    )


def _told(power: Power, flaw: WrongImage) -> Iterator[str]:
    """Yield, in words, what was done before the power cut."""
    failed = flaw.failed
    where = failed.place.operation if failed is not None else None
    begun = len(flaw.image.started)
    for number, step in enumerate(power.workload.program[:begun]):
        returned = number < len(flaw.image.acknowledged)
        if failed is not None and number == where:
            yield from _failing(describe(step), failed, returned=returned)
        elif returned:
            yield f"{describe(step)}  -> returned"
    if failed is not None and where is None:
        yield f"while the saver was opened or closed, a sync of {failed.place.file!r} failed"
    cut = "power cut" if flaw.image.started else "power cut while the store is first opened"
    yield f"{cut}: of the unsynced writes, {flaw.image.kind.value} survive"


def _failing(step: str, failed: FailedSync, *, returned: bool) -> Iterator[str]:
    """Yield, in words, how the operation with the failed sync ended."""
    fails = f"a sync of {failed.place.file!r} fails in it"
    errors = failed.raised.get(failed.place.operation or 0, ())
    if not errors:
        yield f"{step}  -> {fails}" + (", and it returned" if returned else "")
        return
    yield f"{step}  -> {fails}, and it raised {errors[0]}"
    if returned:
        yield f"{step} again  -> returned"


def _summary(power: Power, contract: str, flaw: WrongImage) -> str:
    setting = "; ".join(flaw.failed.settings if flaw.failed is not None else ()) or "; ".join(
        power.settings
    )
    disks = power.disks if flaw.failed is None else power.failing
    after = "a power cut" if flaw.failed is None else "a sync that failed once and a power cut"
    if contract == KEEPS:
        bad, lost = sum(count for lost, count in disks.by_lost.items() if lost), len(flaw.lost)
        gone = "1 acknowledged operation is" if lost == 1 else f"{lost} acknowledged operations are"
        return f"after {after} {gone} gone ({bad} of {disks.images} disk images; {setting})"
    bad = sum(disks.counts[outcome] for outcome in WRONG)
    return (
        f"after {after} the store {_WORDS[flaw.outcome]} "
        f"({bad} of {disks.images} disk images; {setting})"
    )


def _observed(power: Power, flaw: WrongImage) -> str:
    """Return what is wrong, and the missing syncs: those of the first lost operation, or all if
    there is no such operation.
    """
    at = flaw.lost[:1] or tuple(flaw.missing)
    missing = [str(sync) for number in at for sync in flaw.missing.get(number, ())]
    named = list(dict.fromkeys(missing))
    if len(named) > _MOST_NAMED:
        named[_MOST_NAMED:] = [f"{len(named) - _MOST_NAMED} syncs more"]
    if flaw.lost and named:
        first = describe(power.workload.program[flaw.lost[0]])
        return f"{flaw.observed}; when {first} had returned, there was {', '.join(named)}"
    return "; ".join([flaw.observed, *named])
