"""Compare two reports: what got worse, got better, came, went."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from saverproof_reports.baseline import excused, excused_unsettled
from saverproof_reports.comparing import (
    Figure,
    SettingDifference,
    differences,
    figures,
    paired,
    shown,
)
from saverproof_reports.errors import ReportError
from saverproof_reports.laws import WorseLaw, worse_laws

Contract = Mapping[str, Any]
_NOT_JUDGED = ("unknown", "not-exercised", "not-applicable")


class VerdictChange(StrEnum):
    """The ways in which the verdict on a contract can change, in the order of the reports.

    A must that is still broken has an entry as well.
    """

    WORSE = "got worse"
    STILL = "still broken"
    ADVICE = "advice"
    BETTER = "got better"
    LISTED = "now listed as known"
    ADDED = "added"
    REMOVED = "removed"
    NEWLY_EXERCISED = "newly exercised"
    NO_LONGER_EXERCISED = "no longer exercised"


MEANINGS = {
    VerdictChange.WORSE: "broken now, listed as known or not, or no longer certain to hold since "
    "wrong answers could not be settled; not so in the old report, which knew the contract",
    VerdictChange.STILL: "broken in both: nothing got worse by that",
    VerdictChange.ADVICE: "a contract of level should is broken now: it fails nothing",
    VerdictChange.BETTER: "was broken or unsettled, and holds now",
    VerdictChange.LISTED: "broken in both, and now in the known-violations file",
    VerdictChange.ADDED: "the old report did not have the contract: nothing got worse by that",
    VerdictChange.REMOVED: "the new report does not have the contract any more",
    VerdictChange.NEWLY_EXERCISED: "was not judged before, and holds now or is known",
    VerdictChange.NO_LONGER_EXERCISED: "was judged before, and is not now: not a pass",
}
"""The meaning of each kind of change."""


@dataclass(frozen=True, slots=True)
class Change:
    """The verdicts on one contract in both reports; None in a report that lacks it.

    ``note`` says more: what was seen, or why the contract is not judged.
    """

    kind: VerdictChange
    contract: str
    level: str
    statement: str
    old: str | None
    new: str | None
    note: str
    reproducer: str | None


@dataclass(frozen=True, slots=True)
class SaverComparison:
    """One saver in both reports.

    Its names differ if it was renamed, or is compared with another.
    """

    old_name: str
    new_name: str
    changes: tuple[Change, ...]
    unchanged: Mapping[str, int]
    figures: tuple[Figure, ...]
    worse_laws: tuple[WorseLaw, ...]
    differences: tuple[SettingDifference, ...]

    def of(self, kind: VerdictChange) -> tuple[Change, ...]:
        """Return the changes of ``kind``."""
        return tuple(change for change in self.changes if change.kind is kind)

    @property
    def name(self) -> str:
        """The saver's name, or both names."""
        same = self.old_name == self.new_name
        return self.new_name if same else f"{self.old_name} → {self.new_name}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two reports compared. ``differences`` are those of the runs and their environments."""

    savers: tuple[SaverComparison, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    differences: tuple[SettingDifference, ...]

    def count(self, kind: VerdictChange) -> int:
        """Return how many contracts changed in the way ``kind``, over all savers."""
        return sum(len(saver.of(kind)) for saver in self.savers)

    @property
    def less_judged(self) -> bool:
        """True if something that the old report judged is not judged in the new one."""
        return bool(
            self.only_old
            or self.count(VerdictChange.NO_LONGER_EXERCISED)
            or self.count(VerdictChange.REMOVED)
        )

    @property
    def exit_status(self) -> int:
        """1 if a must got worse, else 0."""
        return int(self.count(VerdictChange.WORSE) > 0)


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> Comparison:
    """Compare the report ``old`` with the report ``new``.

    Savers match by name, then by class, then as the only ones left. Reports of other savers,
    versions or profiles may be compared: the result names the difference.

    Raises:
        ReportError: the reports have no saver in common.
    """
    pairs, only_old, only_new = paired(old["savers"], new["savers"])
    if not pairs:
        names = [_names(old), _names(new)]
        raise ReportError(f"nothing to compare: the old report has {names[0]}, the new {names[1]}")
    return Comparison(
        tuple(_saver(before, after) for before, after in pairs),
        tuple(only_old),
        tuple(only_new),
        tuple(differences(old, new)),
    )


def _names(report: Mapping[str, Any]) -> str:
    names = ", ".join(judged["saver"]["name"] for judged in report["savers"])
    return f"the savers {names}" if names else "no saver"


def _saver(old: Mapping[str, Any], new: Mapping[str, Any]) -> SaverComparison:
    before = {contract["id"]: contract for contract in old["contracts"]}
    after = {contract["id"]: contract for contract in new["contracts"]}
    changes: list[Change] = []
    unchanged: dict[str, int] = {}
    for identity in {**before, **after}:
        change = _change(before.get(identity), after.get(identity))
        if change:
            changes.append(change)
        else:
            verdict = after[identity]["verdict"]
            unchanged[verdict] = unchanged.get(verdict, 0) + 1
    order = list(VerdictChange)
    return SaverComparison(
        old["saver"]["name"],
        new["saver"]["name"],
        tuple(sorted(changes, key=lambda change: order.index(change.kind))),
        unchanged,
        tuple(figures(old, new)),
        tuple(worse_laws(old, new)),
        tuple(
            SettingDifference(field, shown(old["saver"][field]), shown(new["saver"][field]))
            for field in ("name", "class", "distribution", "version")
            if old["saver"][field] != new["saver"][field]
        ),
    )


def _change(old: Contract | None, new: Contract | None) -> Change | None:
    kind = _kind(old, new)
    told = new or old
    if kind is None or told is None:
        return None
    violation = new["violations"][0] if new and new["violations"] else None
    return Change(
        kind,
        told["id"],
        told["level"],
        told["statement"],
        old["verdict"] if old else None,
        new["verdict"] if new else None,
        _note(told, violation),
        violation["reproducer"] if violation else None,
    )


def _note(contract: Contract, violation: Mapping[str, Any] | None) -> str:
    if violation is None:
        return contract["reason"] or ""
    return f"{violation['summary']}{' (listed as known)' if contract['verdict'] == 'known' else ''}"


def _kind(old: Contract | None, new: Contract | None) -> VerdictChange | None:
    if old is None or new is None:
        return VerdictChange.ADDED if old is None else VerdictChange.REMOVED
    before, after = old["verdict"], new["verdict"]
    must = new["level"] == "must"
    if after == "violated":
        if all(excused(old, violation["api"]) for violation in new["violations"]):
            return VerdictChange.STILL if must else None
        return VerdictChange.WORSE if must else VerdictChange.ADVICE
    if _is_unsettled(new) and not excused_unsettled(old):
        return VerdictChange.WORSE if must else VerdictChange.NO_LONGER_EXERCISED
    if before == after:
        return None
    if after in _NOT_JUDGED:
        return None if before in _NOT_JUDGED else VerdictChange.NO_LONGER_EXERCISED
    was_seen_wrong = before in ("violated", "known") or _is_unsettled(old)
    if after == "held":
        return VerdictChange.BETTER if was_seen_wrong else VerdictChange.NEWLY_EXERCISED
    # A contract that is listed as known is broken all the same.
    if before == "held":
        return VerdictChange.WORSE if must else VerdictChange.ADVICE
    if before in ("unknown", "not-exercised") and not was_seen_wrong:
        return VerdictChange.NEWLY_EXERCISED
    return VerdictChange.LISTED


def _is_unsettled(contract: Contract) -> bool:
    return bool(contract.get("unsettled"))
