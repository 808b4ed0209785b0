"""What a sweep adds up to: verdicts by contract, and the map of all places for the report."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from saverproof.atomicity.attacks import Attack
from saverproof.atomicity.judging import (
    CANCELLED,
    LATE,
    LOST_CONNECTION,
    PREVIOUS,
    SILENT,
    USABLE,
    WHOLE,
    Verdict,
)
from saverproof.atomicity.sight import Ending, Sight
from saverproof.atomicity.sweep import Sweep
from saverproof_faults import Event, Moment

DETAIL = 60
"""How many characters of a statement the map quotes."""
_SEVERITY = ("lost", "torn", "late", "stuck")


@dataclass(frozen=True, slots=True)
class Found:
    """A broken contract, and the trial that shows it."""

    verdict: Verdict
    sweep: Sweep
    attack: Attack | None
    ending: str

    @property
    def rank(self) -> tuple[int, ...]:
        """Lower for what is plainer to see and shorter to tell."""
        return (
            *plainness(self.attack, self.verdict.contract),
            _SEVERITY.index(self.verdict.outcome),
            len(self.sweep.scenario.start),
        )


def plainness(attack: Attack | None, contract: str | None) -> tuple[int, ...]:
    """Lower for faults that a few lines can bring about, and that everybody has met."""
    plan = None if attack is None else attack.plan
    if attack is None or plan is None:
        return (0, 0)
    # What one refusal by another's lock can lead to, savers meet without any fault layer.
    names = ("locked", "trigger-abort") if contract == USABLE else ("trigger-abort", "cancel")
    at_commit = plan.place.event is Event.COMMIT and plan.place.moment is Moment.BEFORE
    if attack.also is not None or attack.kind == "io":
        return (4, plan.place.index)
    if attack.name in names:
        return (names.index(attack.name), plan.place.index)
    return (2 if at_commit else 3, plan.place.index)


@dataclass(slots=True)
class Record:
    """Filled in trial by trial."""

    points: int = 0
    injected: Counter[str] = field(default_factory=Counter)
    checked: Counter[str] = field(default_factory=Counter)
    found: dict[str, Found] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    local: bool = True
    """Whether all that was seen were statements of SQLite."""
    _map: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def note(self, text: str) -> None:
        """Say something about the sweep as a whole, once."""
        if text not in self.notes:
            self.notes.append(text)

    def counted(self, sweep: Sweep) -> None:
        """Take in a clean run."""
        places = sweep.counted.places
        self.points += len(places.calls) + len(places.statements) + len(places.io_calls)
        self.points += len(sweep.counted.cancellations) // 2 + sweep.counted.values
        self.local &= bool(places.statements)
        if places.unproxied_connections:
            self.note(
                "client-side faults not exercised on "
                f"{places.unproxied_connections} connections that no proxy could reach "
                f"({sweep.scenario.operation}: {places.unproxied_statements} statements)"
            )
        # The clean runs are looked at by others, too.
        self.checked[SILENT] += 1
        if sweep.clean is not None:
            self._find(Found(sweep.clean, sweep, None, str(Ending.RETURNED)))

    def tried(self, sweep: Sweep, attack: Attack, sight: Sight, verdict: Verdict, api: str) -> None:
        """Take in a trial."""
        operation = sweep.scenario.operation
        entry = (operation, attack.place, attack.kind, verdict.outcome, api, attack.about[:DETAIL])
        self._map[entry] += 1
        if verdict.outcome == "not-fired":
            why = f" ({verdict.summary})" if verdict.summary else ""
            text = f"a fault never fired{why}: {operation}, {attack.describe()}"
            for contract in _judged(attack, sight):
                self.unknown.setdefault(contract, text)
            return
        self.injected[attack.name] += 1
        self.checked.update(_judged(attack, sight))
        # After a failure the same call was made again, and looked for once the saver was closed.
        self.checked[SILENT] += sight.whole and sight.retry is Ending.RETURNED
        if verdict.contract is not None:
            self._find(Found(verdict, sweep, attack, f"{sight.ending} {sight.error}".strip()))

    def nothing_known(self, why: str) -> None:
        """No operation could be tried at all."""
        for contract in (WHOLE, LATE, USABLE, SILENT, CANCELLED, PREVIOUS):
            self.unknown.setdefault(contract, why)

    def walked(self, injected: int) -> None:
        """Take in a random program: its faults are counted together."""
        if injected:
            self.injected["in random programs"] += injected

    def not_tried(self, attack: Attack, why: str) -> None:
        """Nothing was asked: what was not found broken is not known to hold."""
        cancelled = attack.kind == "cancellation"
        for contract in (CANCELLED,) if cancelled else (WHOLE, LATE, USABLE, SILENT, PREVIOUS):
            self.unknown.setdefault(contract, why)

    def _find(self, found: Found) -> None:
        assert found.verdict.contract is not None
        known = self.found.get(found.verdict.contract)
        if known is None or found.rank < known.rank:
            self.found[found.verdict.contract] = found

    def as_data(self) -> dict[str, Any]:
        """The section "faults" of a report."""
        return {
            "points": self.points,
            "injected": self.injected.total(),
            "by_kind": dict(sorted(self.injected.items())),
            "map": [_entry(key, count) for key, count in self._map.items()],
            "notes": self.notes,
        }


def _entry(key: tuple[str, ...], count: int) -> dict[str, Any]:
    names = ("operation", "place", "kind", "outcome", "api", "detail")
    entry: dict[str, Any] = {name: text for name, text in zip(names, key, strict=True) if text}
    return entry if count == 1 else entry | {"count": count}


def _judged(attack: Attack, sight: Sight) -> tuple[str, ...]:
    """The contracts that a trial is evidence for."""
    if attack.kind == "cancellation":
        return (CANCELLED,)
    if attack.lost:
        return (LOST_CONNECTION, WHOLE if sight.ending is Ending.RAISED else SILENT)
    if sight.ending is Ending.RETURNED:
        return (SILENT, USABLE)
    return (WHOLE, LATE, USABLE, PREVIOUS)
