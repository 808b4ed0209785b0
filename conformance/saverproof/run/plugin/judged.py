"""The result of judging a plan, and what is certain if the judging was not finished."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from saverproof.contracts.registry import contracts
from saverproof.errors import JudgeError, SaverproofError
from saverproof.families.answer import Blame
from saverproof.families.items import Finding, ItemPlan, Outcome
from saverproof.process.client import JudgeGone

Kept = Mapping[str, Any]
"""What a judge process has reported as certain so far: findings, contracts that are settled, how
often each contract was checked, and differences that are not settled.
"""


@dataclass(frozen=True, slots=True)
class Judged:
    """The result of judging a plan."""

    outcome: Outcome
    trouble: str | None = None
    """The reason why some contracts could not be judged, other than a violation; None if all
    could.
    """
    output: str = ""
    """The end of what the saver printed."""
    blame: Blame | None = None
    """The blame if the process died, or was cut off: then it says which kind of step to leave out,
    and nothing is found.
    """
    deaths: tuple[Finding, ...] = ()
    """The findings about deaths of the process, which are in the outcome as well."""


def joined(first: Kept, second: Kept) -> Kept:
    """Join what was certain in two equal runs that both ended early, perhaps at different steps."""
    anew = {found["contract"] for found in second.get("findings", ())}
    before = [found for found in first.get("findings", ()) if found["contract"] not in anew]
    times, again = first.get("checked", {}), second.get("checked", {})
    return {
        "findings": [*before, *second.get("findings", ())],
        "settled": sorted({*first.get("settled", ()), *second.get("settled", ())}),
        "checked": {name: max(times.get(name, 0), again.get(name, 0)) for name in times | again},
        "unsettled": first.get("unsettled", {}) | second.get("unsettled", {}),
    }


def unfinished(plan: ItemPlan, why: str, kept: Kept) -> Outcome:
    """Return what is certain although the judging was not finished.

    This is what was found and settled, and the differences that were unexplained at that time. All
    other contracts are unknown because of ``why``.
    """
    findings = tuple(Finding.from_json(found) for found in kept.get("findings", ()))
    known = {found.contract for found in findings} | {*kept.get("settled", ())}
    checked = kept.get("checked", {})
    unknown = {
        name: f"{reason}; before that it was judged {checked[name]:,} times"
        if name in checked
        else reason
        for name, reason in _all_unknown(plan, why).items()
        if name not in known
    }
    return Outcome(
        checked={name: times for name, times in checked.items() if name in known},
        findings=findings,
        unknown=unknown,
        inapplicable={},
        unexercised={},
        operations=0,
        saver_s=0.0,
        total_s=0.0,
        unsettled=dict(kept.get("unsettled", {})),
    )


def unjudged(plan: ItemPlan, error: SaverproofError, kept: Kept) -> Judged:
    """Return the result of a plan that could not be judged because of ``error``."""
    trouble = error.message
    if isinstance(error, JudgeError):
        trouble = f"an error of the kit, please report it: {error.message}\n{error.details}"
    return Judged(unfinished(plan, error.message, kept), trouble)


def cut_off(plan: ItemPlan, gone: JudgeGone, kept: Kept) -> Judged:
    """Return the result of a plan whose process was cut off, nobody knows in which step."""
    trouble = f"{gone.reason}\n{gone.stacks}".strip()
    return Judged(unfinished(plan, gone.reason, kept), trouble, gone.output)


def ended_once(plan: ItemPlan, first: JudgeGone, second: Judged, kept: Kept) -> Judged:
    """Return what a run that came to its end says after an equal one that did not.

    ``kept`` is what the first run was certain of. Its findings count, too.
    """
    why = f"the first of two equal runs ended early ({first.reason}), the second did not"
    trouble = f"{why}\n{first.stacks}".strip()
    outcome = second.outcome
    anew = {found.contract for found in outcome.findings}
    before = [found for found in unfinished(plan, why, kept).findings if found.contract not in anew]
    unknown = {**_all_unknown(plan, why), **outcome.unknown}
    told = replace(outcome, unknown=unknown, findings=(*before, *outcome.findings))
    return Judged(told, trouble, second.output or first.output)


def _all_unknown(plan: ItemPlan, why: str) -> dict[str, str]:
    return {contract.id: why for contract in contracts(plan.family)}
