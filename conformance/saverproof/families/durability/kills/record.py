"""Adds up the trials of one item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from saverproof.contracts.tables import durability
from saverproof.families.durability.kills.judging import KilledRun, KillOutcome, KillVerdict
from saverproof.families.durability.kills.kill_choice import operation_at
from saverproof.families.durability.kills.kill_places import KillPlace, PlaceKind
from saverproof.families.tally import Tally, hidden, keep_plainest
from saverproof.programs.small import OPERATIONS

SURVIVES = durability.ACKNOWLEDGED_SURVIVES.id
ATOMIC = durability.IN_FLIGHT_ATOMIC.id
NO_GAPS = durability.NO_GAPS.id
REOPENS = durability.REOPENS.id
KILLED = (SURVIVES, ATOMIC, NO_GAPS, REOPENS)
_BELOW = {PlaceKind.STATEMENT, PlaceKind.IO, PlaceKind.SYSTEM_CALL, PlaceKind.MESSAGE}


@dataclass(frozen=True, slots=True)
class KillTrial:
    """One process that was killed, and what another process found afterwards.

    ``acknowledged`` operations had returned; ``flying`` says that the next one had begun.
    ``trouble`` says why the store could not be used any more; ``seen`` says that it nevertheless
    showed all it should. ``beside`` says that a second process was at work, ``survivor`` that this
    trial judges that second process. ``hung`` says that the process which looked, or went on, hung.
    ``continued`` says that only the next operation, a put, shows the flaw. ``put_again`` are the
    positions of puts that had to be repeated to show the flaw.
    """

    run: KilledRun
    versions: tuple[Any, ...]
    place: KillPlace
    acknowledged: int
    flying: bool
    verdict: KillVerdict
    trouble: str = ""
    recovery_ms: float | None = None
    beside: bool = False
    survivor: bool = False
    seen: bool = False
    hung: bool = False
    continued: bool = False
    put_again: tuple[int, ...] = ()

    @property
    def operation(self) -> str:
        """The operation in flight, in words."""
        if self.flying:
            return OPERATIONS[type(self.run.program[self.acknowledged])]
        if self.place.kind is PlaceKind.INSTANT:
            return "between operations"
        if self.place.operation < 0:
            return "opening"
        if self.place.operation >= len(self.run.program):
            return "closing"
        return f"after {OPERATIONS[type(self.run.program[self.place.operation])]}"

    @property
    def blamed(self) -> tuple[str, ...]:
        """The contracts that the trial shows to be broken."""
        match self.verdict.outcome:
            case KillOutcome.UNOPENED:
                return (REOPENS,)
            case KillOutcome.LOST:
                return (SURVIVES,)
            case KillOutcome.GAP:
                return (SURVIVES, NO_GAPS)
            case KillOutcome.TORN:
                return (ATOMIC,)
        return ()

    @property
    def judged(self) -> tuple[str, ...]:
        """The contracts for which the trial is evidence."""
        return (REOPENS,) if self._shows_nothing else (REOPENS, *self._asked)

    @property
    def given_up(self) -> tuple[str, ...]:
        """The contracts for which the trial would be evidence if the store could be used."""
        return self._asked if self._shows_nothing else ()

    @property
    def _shows_nothing(self) -> bool:
        return self.verdict.outcome is KillOutcome.UNOPENED and not self.seen

    @property
    def _asked(self) -> tuple[str, ...]:
        """The contracts that the trial judged. They depend on whether operations were acknowledged,
        and whether one was in flight.
        """
        found = [SURVIVES] if self.acknowledged else []
        found += [ATOMIC] if self.flying else []
        found += [NO_GAPS] if self.acknowledged > 1 else []
        return tuple(found)

    @property
    def rank(self) -> tuple[int, ...]:
        """A sort key: lower for a trial that is shorter to tell, and easier to repeat."""
        order = (
            PlaceKind.ACKNOWLEDGED,
            PlaceKind.STATEMENT,
            PlaceKind.CALL,
            PlaceKind.SYSTEM_CALL,
            PlaceKind.MESSAGE,
            PlaceKind.IO,
            PlaceKind.INSTANT,
        )
        where = (order.index(self.place.kind), self.acknowledged, self.place.index)
        return (self.beside, self.place.server, *where)


@dataclass(slots=True)
class KillRecord:
    """The results of all kills, filled in trial by trial, as the tally is."""

    tally: Tally
    found: dict[str, KillTrial] = field(default_factory=dict)
    """Each broken contract, with the plainest trial that shows it."""
    kill_points: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[KillOutcome] = field(default_factory=Counter)
    recoveries: list[float] = field(default_factory=list)
    places: Counter[str] = field(default_factory=Counter)
    """How many places the fixed programs have, by operation."""
    below: bool = False
    """True if some places of kills are inside requests of the saver to its database, its files or
    its server.
    """
    _given_up: Counter[str] = field(default_factory=Counter)
    """How many kills did not judge each contract, since the store could not be used."""
    _doubtful: dict[str, KillTrial] = field(default_factory=dict)
    _doubted: Counter[str] = field(default_factory=Counter)
    """How many trials show each contract broken, if no acknowledged work was lost."""
    _killed: dict[str, set[tuple[int, KillPlace]]] = field(default_factory=dict)
    """The places of kills, by operation."""
    _fixed: list[KilledRun] = field(default_factory=list)
    _detail: dict[tuple[str, ...], dict[str, Any]] = field(default_factory=dict)

    def cut_off(self, contracts: Iterable[str], hangs: int) -> None:
        """Note that no more trials are made because processes hung. These contracts then do not
        count as held.
        """
        if REOPENS in self.found:
            why = "kills left a store at which processes hang, and no more were tried"
            self.tally.hide(contracts, hidden(why, REOPENS), [REOPENS])
        else:
            self.tally.unsure(contracts, f"cut off: {hangs} processes hung")

    def counted(self, run: KilledRun, places: Iterable[KillPlace]) -> None:
        """Add the places of a fixed program."""
        self._fixed.append(run)
        for place in places:
            self.places[operation_at(place, run.program)] += 1
            self.below |= place.kind in _BELOW

    def tried(self, trial: KillTrial) -> None:
        """Add a trial."""
        if not trial.survivor:
            self._count(trial)
        self.tally.operations += trial.acknowledged
        outcome = trial.verdict.outcome
        if outcome is KillOutcome.NOT_FIRED:
            return
        self.outcomes[outcome] += 1
        for contract in trial.judged:
            self.tally.agreed(contract)
        self._given_up.update(trial.given_up)
        for contract in trial.blamed:
            if trial.verdict.doubtful:
                self._doubted[contract] += 1
                keep_plainest(self._doubtful, contract, trial)
            else:
                self.tally.differences.note(contract)
                keep_plainest(self.found, contract, trial)

    def settle(self) -> None:
        """Decide the doubtful trials, after all kills.

        A deletion, or a call that replaces something, may look like a loss when it is left in part.
        It counts as torn, unless there were losses where nothing was removed or replaced: these
        then explain it.
        """
        lost = SURVIVES in self.found
        for contract, trial in self._doubtful.items():
            self.tally.differences.note(SURVIVES if lost else contract, self._doubted[contract])
            if lost:
                why = "what a call in flight left in part may have been lost before"
                self.tally.hide([contract], hidden(why, SURVIVES), [SURVIVES])
            else:
                keep_plainest(self.found, contract, trial)
        # The kill in the middle is the one that tells: those around it are not enough.
        for contract, times in self._given_up.items():
            kills = "1 kill" if times == 1 else f"{times} kills"
            why = f"{kills} left a store that cannot be used"
            self.tally.hide([contract], hidden(why, REOPENS), [REOPENS])

    def killed_graph(self, operation: str, outcome: KillOutcome) -> None:
        """Add a graph that was killed."""
        self.kill_points["graph operation"] += 1
        entry = self._entry(operation, "before or after it", "graph operation", outcome)
        entry["count"] += 1

    def _count(self, trial: KillTrial) -> None:
        outcome = trial.verdict.outcome
        if outcome is not KillOutcome.NOT_FIRED:
            self.kill_points[trial.place.sort] += 1
            self._mark(trial.run, trial.place)
        beside = ", another process beside it" if trial.beside else ""
        entry = self._entry(
            trial.operation,
            trial.place.describe()[:100] + beside,
            trial.place.sort,
            outcome,
        )
        entry["count"] += 1
        entry["at"] = trial.place.index
        if trial.blamed:
            entry["contract"] = trial.blamed[0]
        if trial.recovery_ms is not None:
            self.recoveries.append(trial.recovery_ms)
            entry["recovery_ms"].append(round(trial.recovery_ms, 3))

    def _mark(self, run: KilledRun, place: KillPlace) -> None:
        for number, fixed in enumerate(self._fixed):
            # The clean run may have been corrected since then.
            if run.program is fixed.program and place.kind is not PlaceKind.INSTANT:
                killed = self._killed.setdefault(operation_at(place, run.program), set())
                killed.add((number, place))

    def _entry(self, operation: str, place: str, kind: str, outcome: KillOutcome) -> dict[str, Any]:
        return self._detail.setdefault(
            (operation, place, kind, outcome),
            {
                "operation": operation,
                "place": place,
                "kind": kind,
                "outcome": outcome.value,
                "count": 0,
                "recovery_ms": [],
            },
        )

    def as_data(self) -> dict[str, Any]:
        """Return the section "crash" of a report."""
        return {
            "trials": self.kill_points.total(),
            "kill_points": dict(sorted(self.kill_points.items())),
            "places": dict(sorted(self.places.items())),
            "places_killed": {name: len(killed) for name, killed in sorted(self._killed.items())},
            "recovery_ms": {"p50": self._percentile(50), "p99": self._percentile(99)},
            "lost": self.outcomes[KillOutcome.LOST] + self.outcomes[KillOutcome.GAP],
            "torn": self.outcomes[KillOutcome.TORN],
            "unopened": self.outcomes[KillOutcome.UNOPENED],
            "trials_detail": list(self._detail.values()),
            "notes": self.tally.notes,
        }

    def _percentile(self, percent: int) -> float:
        if not self.recoveries:
            return 0.0
        rank = -(-len(self.recoveries) * percent // 100)
        return round(sorted(self.recoveries)[max(rank, 1) - 1], 3)
