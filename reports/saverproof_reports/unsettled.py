"""Differences that may break a contract and that nothing explains.

They are no pass, and fail a run by default.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from saverproof_reports.verdicts import SETTLES, settles

Data = Mapping[str, Any]
_LONGEST_REASON = 1_200
"""Most characters of a reason, as of any text that a finding shows."""
_ELSEWHERE = "the programs of its own family did not break it"
NOT_CERTAIN = "which contract that breaks is not certain"
MEANS = (
    "The saver is wrong, or saverproof is. What is unsettled counts neither as held nor as broken."
)
DO = (
    "Mend what else is broken, and run again. If nothing is, take these steps by hand and check "
    "each answer; if all are right, please report an error of saverproof. With --saver-lenient a "
    "run does not fail because of this."
)


def unsettled(
    items: Iterable[Data], verdicts: Mapping[str, str], asked: Collection[str]
) -> dict[str, dict[str, Any]]:
    """Return the entries ``unsettled`` of the contracts that may be broken, by contract.

    ``verdicts`` are those that the findings give. Only the contracts in ``asked``, which the run is
    about, get an entry.
    """
    found: dict[str, dict[str, Any]] = {}
    for item in items:
        for names, seen in _left_by(item, verdicts):
            for name in names:
                if name in asked and verdicts.get(name) not in SETTLES:
                    part = entry_of(item, name, names, seen)
                    found[name] = joined_unsettled(found[name], part) if name in found else part
    return found


def _left_by(item: Data, verdicts: Mapping[str, str]) -> Iterator[tuple[Sequence[str], Data]]:
    """Yield what an item left open: the contracts in question, and what was seen."""
    for name, seen in item.get("unsettled", {}).items():
        yield [name], seen
    # Items name the contracts that may be behind a difference, including those of other families,
    # unless they show themselves that one of them is broken.
    shown = {found["contract"]: "violated" for found in item.get("handed", ())}
    for left in (item.get("extra") or {}).get("differences", {}).get("elsewhere", ()):
        if not settles(left, {**verdicts, **shown}):
            yield left["contracts"], {"why": _ELSEWHERE, **left}


def entry_of(item: Data, name: str, names: Sequence[str], seen: Data) -> dict[str, Any]:
    """Return what an item saw as the entry ``unsettled`` of one of the contracts in question."""
    return {
        "times": seen["times"],
        "why": seen["why"],
        "steps": list(seen.get("steps", ())),
        "program": seen.get("program"),
        "contracts": list(names),
        "seen_by": [{"family": item["family"], "api": item["api"], "times": seen["times"]}],
        **item.get("excuses", {}).get(name, {}),
    }


def joined_unsettled(one: Data, other: Data) -> dict[str, Any]:
    """Merge two entries: the shorter program stands for both, and an excuse must cover both."""
    plain = min((one, other), key=lambda part: (not part["steps"], len(part["steps"])))
    excuses = {
        name: one[name] for name in ("known", "baseline") if one.get(name) and other.get(name)
    }
    return {
        "times": one["times"] + other["times"],
        **{name: plain[name] for name in ("why", "steps", "program")},
        "contracts": list(dict.fromkeys([*one["contracts"], *other["contracts"]])),
        "seen_by": [*one["seen_by"], *other["seen_by"]],
        **excuses,
    }


def with_unsettled(contract: Data, entry: Data | None, *, lenient: bool) -> dict[str, Any]:
    """Return a contract of a report as unknown, with what is unsettled of it."""
    if entry is None:
        return dict(contract)
    excused = lenient or entry.get("known") or entry.get("baseline")
    return {
        **contract,
        "verdict": "unknown",
        "reason": reason(entry),
        "unsettled": {
            **entry,
            "fails": contract["level"] == "must" and not excused,
            "otherwise": {name: contract[name] for name in ("verdict", "reason")},
        },
    }


def without_unsettled(contract: Data) -> dict[str, Any]:
    """Return a contract as it would be without what is unsettled of it."""
    plain = {name: value for name, value in contract.items() if name != "unsettled"}
    return {**plain, **contract.get("unsettled", {}).get("otherwise", {})}


def reason(entry: Data) -> str:
    """Say in one sentence why the contract is unknown."""
    shown = f"; the shortest program: {'; '.join(entry['steps'])}" if entry["steps"] else ""
    return f"{seen_phrase(entry)}; {NOT_CERTAIN} ({entry['why']}){shown}"[:_LONGEST_REASON]


def seen_phrase(entry: Data) -> str:
    """Say how many answers were wrong, and whose programs they were given to."""
    count = entry["times"]
    seen = "1 answer was" if count == 1 else f"{count:,} answers were"
    families: dict[str, list[str]] = {}
    for part in entry["seen_by"]:
        families.setdefault(part["family"], []).append(part["api"])
    by = ", ".join(f"{family} ({', '.join(apis)})" for family, apis in families.items())
    return f"{seen} not as promised, in programs of {by}"


def heading(group: Sequence[Data]) -> str:
    """Return the heading of the contracts that one program may break, without their names."""
    return f"{seen_phrase(group[0]['unsettled'])}; {NOT_CERTAIN}"


def excuse_phrase(entry: Data) -> str:
    """Say why what is unsettled fails nothing; "" if it fails the run."""
    if entry["fails"]:
        return ""
    if known := entry.get("known"):
        return f"known: {known['reason']}"
    if entry.get("baseline"):
        return "as in the baseline"
    return "fails nothing: advice, or --saver-lenient"


def failing(judged: Data) -> list[Data]:
    """Return a saver's contracts that fail the run because something of them is unsettled."""
    return [one for one in judged["contracts"] if one.get("unsettled", {}).get("fails")]


def musts(judged: Data) -> list[Data]:
    """Return the musts of a saver that have unsettled differences."""
    return [one for one in judged["contracts"] if one["level"] == "must" and "unsettled" in one]


def groups(contracts: Iterable[Data]) -> list[list[Data]]:
    """Return the unsettled contracts in groups: those that one program may break form a group.

    Groups that fail the run come first.
    """
    found: dict[tuple[str, ...], list[Data]] = {}
    for one in contracts:
        if entry := one.get("unsettled"):
            # Without a program, only what the item says tells that they have something in common.
            key = tuple(entry["steps"]) or tuple(entry["contracts"])
            found.setdefault(key, []).append(one)
    return sorted(found.values(), key=_rank)


def _rank(group: Sequence[Data]) -> tuple[bool, bool, int]:
    """Return a sort key: lower for what fails the run, and for the shorter program."""
    steps = group[0]["unsettled"]["steps"]
    return not any(one["unsettled"]["fails"] for one in group), not steps, len(steps)
