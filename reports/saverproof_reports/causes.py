"""Group broken contracts by their cause: one heading, and what else it breaks.

Programs show that two findings have one cause, in one of these ways. One finding disappears if what
the other is about is taken out of its program. The shortest program of one shows the other as well.
One needs everything that the other needs. Both raise the same error. The known mistake behind one
gives the graphs of the other the same result. What follows from a contract by its table also
counts, unless the programs speak against it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

Contract = Mapping[str, Any]
_PHASES = (
    "functional",
    "graph",
    "concurrency",
    "fault",
    "crash",
    "power",
    "cost",
    "resources",
    "upgrade",
)
"""The phases in which a flaw shows, the plainest first."""
_STEPS = "steps of kind "
"""The beginning of a need that is a kind of step."""


def causes(contracts: Iterable[Contract]) -> list[dict[str, Any]]:
    """Return the groups of two or more broken contracts with one cause.

    ``contract`` is the one to mend first; ``also`` lists what it breaks as well, each with the
    evidence in words.
    """
    broken = {contract["id"]: contract for contract in contracts if contract["violations"]}
    seen = {
        (one, other): why
        for one, other in permutations(broken, 2)
        if (why := _evidence(broken[one], broken[other]))
    }
    groups: list[dict[str, Any]] = []
    left = list(broken)
    while left:
        group = _connected(left[0], left, seen)
        left = [name for name in left if name not in group]
        if len(group) > 1:
            root = min(group, key=lambda name: _rank(broken[name], group, seen))
            also = [
                {"contract": name, "why": seen.get((root, name)) or _by_others(name, group, seen)}
                for name in group
                if name != root
            ]
            groups.append({"contract": root, "also": also})
    return groups


def by_cause(judged: Mapping[str, Any], contracts: Sequence[Contract]) -> list[Contract]:
    """Return the contracts in the order in which to mend them.

    Contracts with one cause stand together, the one to mend first before the others. A saver that
    gets plain calls wrong also gets them wrong in graphs, beside other callers and after a kill.
    Contracts of operations that cannot even be called come first, then those that most others
    follow from, and of equal ones the one with the shortest program.
    """
    there = {contract["id"]: contract for contract in contracts}
    lead = dict.fromkeys(there, "")
    for group in judged.get("causes", ()):
        members = [name for name in _members(group) if name in there]
        lead |= dict.fromkeys(members, members[0] if members else "")
    size = Counter(lead[name] or name for name in there)
    place = {name: number for number, name in enumerate(there)}

    def rank(contract: Contract) -> tuple[int, ...]:
        name = contract["id"]
        first = there[lead[name] or name]
        advice = min(one.get("level") != "must" for one in _group(first["id"], lead, there))
        return (
            advice,
            *_urgency(first, size[first["id"]]),
            place[first["id"]],
            name != first["id"],
        )

    return sorted(contracts, key=rank)


def _members(group: Mapping[str, Any]) -> list[str]:
    return [group["contract"], *(entry["contract"] for entry in group["also"])]


def _group(name: str, lead: Mapping[str, str], there: Mapping[str, Contract]) -> Iterator[Contract]:
    yield there[name]
    yield from (there[other] for other, first in lead.items() if first == name)


def _urgency(contract: Contract, breaks: int) -> tuple[int, int, int, int]:
    """Return a sort key: contracts with the lowest are mended first.

    ``breaks`` says how many other contracts break by the contract's cause.
    """
    found = contract["violations"]
    phase = min((_PHASES.index(one["phase"]) for one in found), default=len(_PHASES))
    steps = min((len(one["steps"]) for one in found), default=0)
    return phase, int(steps > 0), -breaks, steps


def also_broken(judged: Mapping[str, Any], contract: str) -> list[Mapping[str, str]]:
    """Return what else breaks by the cause of this contract, if it is the one to mend first."""
    groups: Iterable[Mapping[str, Any]] = judged.get("causes", ())
    return [e for group in groups if group["contract"] == contract for e in group["also"]]


def cause_of(judged: Mapping[str, Any], contract: str) -> str | None:
    """Return the contract to mend first if this one breaks by the same cause; None if there is
    none.
    """
    for group in judged.get("causes", ()):
        if any(entry["contract"] == contract for entry in group["also"]):
            return str(group["contract"])
    return None


def _evidence(one: Contract, other: Contract) -> str | None:
    """Say why the second contract breaks by the cause of the first; None if it does not."""
    if mistake := _comes_out_alike(one, other):
        return f"a saver with that mistake alone shows it: {mistake}"
    if _has_own_mistake(other):
        return None
    # If something else breaks the second contract as well, it has a heading of its own.
    reasons = [
        next(filter(None, (_why(one["id"], first, other["id"], second) for first in like)), None)
        for second, like in _with_those_like_it(one, other)
    ]
    if reasons and all(reasons):
        return reasons[0]
    if _has_own_mistake(one):
        # The mistake would predict what else it breaks, so programs that look alike prove nothing.
        return None
    pairs = zip(reasons, _with_those_like_it(one, other), strict=True)
    if not reasons or not all(why or _needs_more(like, second) for why, (second, like) in pairs):
        return None
    return f"its program needs all that the one which breaks {one['id']} needs"


def _with_those_like_it(
    one: Contract, other: Contract
) -> Iterator[tuple[Mapping[str, Any], list[Mapping[str, Any]]]]:
    """Yield each violation of the second contract with those of the first in the same phase."""
    for second in other["violations"]:
        like = [first for first in one["violations"] if first["phase"] == second["phase"]]
        if like:
            yield second, like


def _needs_more(like: Iterable[Mapping[str, Any]], second: Mapping[str, Any]) -> bool:
    return not second.get("mistake") and any(_needs_all(first, second) for first in like)


def _comes_out_alike(one: Contract, other: Contract) -> str | None:
    """Return the mistake by which the first contract breaks, if everything that breaks the second
    one has the same result with that mistake; else None.

    Only graphs, and programs of other families, are compared with the mistakes of other contracts.
    """
    alike = [set(found.get("mistakes_alike", ())) for found in other["violations"]]
    own = (v["mistake"] for v in one["violations"] if v.get("mistake_of") == one["id"])
    return next((mistake for mistake in own if all(mistake in likes for likes in alike)), None)


def _has_own_mistake(contract: Contract) -> bool:
    """Return whether a violation shows a known mistake that breaks this very contract."""
    return any(found.get("mistake_of") == contract["id"] for found in contract["violations"])


def _needs_all(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Return whether the program of the second violation needs what that of the first needs."""
    needs, others = set(first.get("needs", ())), set(second.get("needs", ()))
    special, of_others = _special(needs), _special(others)
    wanted, there = (special, of_others) if special else (needs, others)
    return wanted <= there and (len(wanted) > 1 or bool(wanted and wanted == there and special))


def _why(root: str, first: Mapping[str, Any], name: str, second: Mapping[str, Any]) -> str | None:
    """Say why one violation comes from the cause of another, which breaks the contract ``root``.

    The result is None if it does not.
    """
    if mistake := second.get("mistake"):
        # A saver with just this mistake shows the very same, so that no other is needed. Where a
        # method is missing, no program shows it, and no mistake is looked for.
        same = first.get("mistake") == mistake or not first["steps"]
        proved = second.get("mistake_of") == root and same
        return f"a saver with that mistake alone shows it: {mistake}" if proved else None
    if first["observed"] == second["observed"] and first["observed"].startswith("raised "):
        return f"the same is raised as where {root} breaks"
    if first.get("mistake_of") == root:
        # A known mistake predicts whatever follows from it, and it did not predict this.
        return None
    needs, others = set(first.get("needs", ())), set(second.get("needs", ()))
    special, of_others = _special(needs), _special(others)
    if root in second.get("goes_without", ()):
        return f"it goes if what {root} is about is taken out of the program"
    shown = name in first.get("also_shows", ())
    if shown and (others or root in second.get("also_shows", ())):
        return f"the program that breaks {root} shows it as well"
    if first.get("mistake"):
        # The contract's table proves nothing either: the mistake would predict this as well.
        return None
    if name in first.get("may_break", ()) and not (
        special and of_others and special.isdisjoint(of_others)
    ):
        return f"it follows from {root}"
    return None


def _special(needs: Iterable[str]) -> set[str]:
    """Return the needs that are not kinds of steps: a step may be needed only in order to look."""
    return {each for each in needs if not each.startswith(_STEPS)}


def _connected(
    start: str, names: Iterable[str], seen: Mapping[tuple[str, str], str]
) -> dict[str, None]:
    """Return the contracts with the cause of one, in their order."""
    found, fresh = {start}, {start}
    while fresh:
        near = {b for a, b in seen if a in fresh} | {a for a, b in seen if b in fresh}
        fresh = near - found
        found |= near
    return {name: None for name in names if name in found}


def _rank(
    contract: Contract, group: Iterable[str], seen: Mapping[tuple[str, str], str]
) -> tuple[int, int, int]:
    """Return a sort key: the contract with the lowest is mended first.

    A must comes before advice, then what explains most others, then what has the shortest program.
    """
    explained = sum((contract["id"], other) in seen for other in group)
    advice = contract.get("level", "must") != "must"
    return (
        int(advice),
        -explained,
        min(len(violation["steps"]) for violation in contract["violations"]),
    )


def _by_others(name: str, group: Iterable[str], seen: Mapping[tuple[str, str], str]) -> str:
    return next(_reasons(name, group, seen))


def _reasons(name: str, group: Iterable[str], seen: Mapping[tuple[str, str], str]) -> Iterator[str]:
    for other in group:
        if (other, name) in seen:
            yield seen[other, name]
        if (name, other) in seen:
            yield f"{other} has the same cause: {seen[name, other]}"
