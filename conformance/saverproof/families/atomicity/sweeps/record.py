"""Adds up the trials of a sweep: the verdicts by contract, and the map of all places for the
report.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.sweeps.sweep import FaultSweep
from saverproof.families.atomicity.trials.observation import OperationEnding, TrialObservation
from saverproof.families.atomicity.verdicts import (
    CANCELLED,
    LATE,
    LOST_CONNECTION,
    PREVIOUS,
    READS_RAISE,
    SILENT,
    USABLE,
    WHOLE,
    FaultVerdict,
)
from saverproof.families.tally import Tally, keep_plainest
from saverproof_faults import Event, Moment, io_to_fail

DETAIL = 60
"""How many characters of a statement the map quotes."""
_SEVERITY = ("lost", "torn", "late", "stuck")
_BY_OPERATION = frozenset({WHOLE, PREVIOUS, SILENT})
"""Contracts about what one operation leaves behind. Each operation that breaks one has its own
flaw; other contracts are about the connection, which all operations share.
"""
MOST_OPERATIONS = 3
"""How many operations that break one contract are reported."""


@dataclass(frozen=True, slots=True)
class Found:
    """A broken contract, and the trial that shows it."""

    verdict: FaultVerdict
    sweep: FaultSweep
    injection: Injection | None
    ending: str

    @property
    def contract(self) -> str:
        """The broken contract."""
        return str(self.verdict.contract)

    @property
    def rank(self) -> tuple[int, ...]:
        """A sort key: lower for what is plainer to see and shorter to tell."""
        return (
            *plainness(self.injection, self.verdict.contract),
            _SEVERITY.index(self.verdict.outcome),
            len(self.sweep.scenario.start),
        )


def plainness(injection: Injection | None, contract: str | None) -> tuple[int, ...]:
    """Return a sort key: lower for common faults that a script can make in a few lines."""
    plan = None if injection is None else injection.plan
    if injection is None or plan is None:
        return (0, 0)
    # What one refusal by another's lock can lead to, savers meet without any fault layer.
    names = ("locked", "trigger-abort") if contract == USABLE else ("trigger-abort", "cancel")
    at_commit = plan.place.event is Event.COMMIT and plan.place.moment is Moment.BEFORE
    if injection.also is not None or injection.kind in ("io", "network"):
        return (4, plan.place.index)
    if injection.name in names:
        return (names.index(injection.name), plan.place.index)
    return (2 if at_commit else 3, plan.place.index)


@dataclass(slots=True)
class FaultRecord:
    """The results of all trials. It is filled in trial by trial, like the tally."""

    tally: Tally
    points: int = 0
    injected: Counter[str] = field(default_factory=Counter)
    found: dict[str, Found] = field(default_factory=dict)
    """Each broken contract, with the plainest trial that shows it."""
    local: bool = True
    """True if the saver made nothing but statements of SQLite, or system calls on files."""
    untried: str = ""
    """Why nothing was failed below the saver, if no layer reached it."""
    _map: Counter[tuple[str, ...]] = field(default_factory=Counter)
    _order: dict[tuple[str, ...], tuple[float, ...]] = field(default_factory=dict)
    """The position of each entry of the map in its operation."""
    _unfired: dict[tuple[str, str], str] = field(default_factory=dict)
    """Faults that never fired, in words, by contract and operation."""
    _fired: set[tuple[str, str]] = field(default_factory=set)
    _unseen_writes: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Why the writes of a server were not seen, and in which operations."""
    _operations: dict[str, dict[str, Found]] = field(default_factory=dict)
    """Each broken contract, with the operations that break it, and the plainest trial of each."""

    def beat(self, calls: int) -> None:
        """Report progress, after so many calls."""
        self.tally.operations = calls
        self.tally.beat(faults=self.injected.total())

    def counted(self, sweep: FaultSweep) -> None:
        """Add a clean run."""
        places = sweep.counted.places
        failed_io = len(io_to_fail(places.io_calls))
        if failed_io < len(places.io_calls):
            self.tally.note(
                f"{failed_io} of {len(places.io_calls)} I/O calls failed, of long runs of writes "
                f"the first, the last and some in between ({sweep.scenario.operation}, "
                f"{sweep.scenario.title})"
            )
        self.points += len(places.calls) + len(places.statements) + failed_io
        self.points += sum(not places.is_failed_above(call) for call in places.system_calls)
        self.points += len(places.sends)
        self.points += len(sweep.counted.cancellations) // 2 + sweep.counted.values
        self.local &= bool(places.statements or places.system_calls) and not places.sends
        if places.unproxied_connections:
            self.tally.note(
                "client-side faults not exercised on "
                f"{places.unproxied_connections} connections that no proxy could reach "
                f"({sweep.scenario.operation}: {places.unproxied_statements} statements)"
            )
        if sweep.counted.unseen_writes:
            self._unseen_writes[sweep.counted.unseen_writes].add(sweep.scenario.operation)
        # The clean runs are looked at by others, too.
        self.tally.agreed(SILENT)
        if sweep.clean is not None:
            self._find(Found(sweep.clean, sweep, None, str(OperationEnding.RETURNED)))

    def tried(
        self,
        sweep: FaultSweep,
        injection: Injection,
        observation: TrialObservation,
        verdict: FaultVerdict,
        api: str,
    ) -> None:
        """Add a trial."""
        operation = sweep.scenario.operation
        entry = (
            operation,
            injection.place,
            injection.kind,
            verdict.outcome,
            api,
            injection.about[:DETAIL],
            verdict.contract or "",
        )
        self._map[entry] += 1
        self._order[entry] = injection.order
        if verdict.outcome == "not-fired":
            why = f" ({verdict.summary})" if verdict.summary else ""
            text = f"a fault never fired{why}: {operation}, {injection.describe()}"
            for contract in _judged(injection, observation):
                self._unfired.setdefault((contract, operation), text)
            return
        self.injected[injection.name] += 1
        # The clean run and the retry also show that acknowledged data is there.
        self._fired |= {(name, operation) for name in (*_judged(injection, observation), SILENT)}
        for contract in _judged(injection, observation):
            if contract not in verdict.unseen:
                self.tally.agreed(contract)
            elif verdict.contract is not None:
                self.tally.give_up(
                    contract, "under no fault could it be looked at", verdict.contract
                )
        # After a failure the same call was made again, and looked for once the saver was closed.
        self.tally.agreed(
            SILENT, observation.whole and observation.retry is OperationEnding.RETURNED
        )
        if verdict.contract is not None:
            self._find(Found(verdict, sweep, injection, observation.said))

    def settle(self) -> None:
        """Decide which contracts were not judged, after all faults.

        A statement may be over before it can be made to fail, and whether an await suspends may
        depend on how soon a server answers. Such a fault counts as missing only if no other fault
        of the operation fired.
        """
        for why, operations in self._unseen_writes.items():
            of = ", ".join(sorted(operations))
            self.tally.note(f"faults inside the server not exercised in {of}: {why}")
        for (contract, operation), text in self._unfired.items():
            if (contract, operation) in self._fired:
                self.tally.note(text)
            else:
                self.tally.unsure((contract,), text)

    def nothing_known(self, why: str) -> None:
        """Note that no operation could be tried at all."""
        self.tally.not_answered(
            (WHOLE, LATE, USABLE, SILENT, CANCELLED, PREVIOUS, READS_RAISE), why
        )

    def tried_randomly(self, injected: int) -> None:
        """Add a random program: its faults are counted together."""
        if injected:
            self.injected["in random programs"] += injected

    def tried_read(self) -> None:
        """Add a read that failed."""
        self.injected["in reads"] += 1
        self.tally.agreed(READS_RAISE)

    def tried_of_two(self) -> None:
        """Add a call that failed while another caller's call was under way."""
        self.injected["of two callers"] += 1

    def tried_in_a_row(self, injected: int, demanded: Iterable[str]) -> None:
        """Add a program most of whose steps failed. Its saver was used after each of them, which is
        evidence for the contracts ``demanded``.
        """
        if injected:
            self.injected["in a row"] += injected
            for contract in {USABLE, *demanded}:
                self.tally.agreed(contract)

    def not_tried(self, injection: Injection, why: str) -> None:
        """Note that a fault was not tried: contracts that were not found broken then do not count
        as held.
        """
        cancelled = injection.kind == "cancellation"
        others = (WHOLE, LATE, USABLE, SILENT, PREVIOUS)
        self.tally.unsure((CANCELLED,) if cancelled else others, why)

    def _find(self, found: Found) -> None:
        contract, operation = found.verdict.contract, found.sweep.scenario.operation
        assert contract is not None
        self.tally.differences.note(contract)
        keep_plainest(self.found, contract, found)
        keep_plainest(self._operations.setdefault(contract, {}), operation, found)

    def shown(self, contract: str) -> list[Found]:
        """Return the trials of a broken contract to report: one trial, or one for each operation if
        each has a flaw of its own.
        """
        if contract not in _BY_OPERATION:
            return [self.found[contract]]
        found = sorted(self._operations[contract].values(), key=lambda one: one.rank)
        return found[:MOST_OPERATIONS]

    def other_operations(self, contract: str) -> list[str]:
        """Return the other operations that break the contract."""
        shown = {found.sweep.scenario.operation for found in self.shown(contract)}
        return sorted(self._operations[contract].keys() - shown)

    def as_data(self) -> dict[str, Any]:
        """Return the section "faults" of a report."""
        return {
            "points": self.points,
            "injected": self.injected.total(),
            "by_kind": dict(sorted(self.injected.items())),
            "map": [
                _entry(key, self._map[key])
                for key in sorted(self._map, key=self._order.__getitem__)
            ],
            "notes": self.tally.notes,
            **({"untried": self.untried} if self.untried else {}),
        }


def _entry(key: tuple[str, ...], count: int) -> dict[str, Any]:
    names = ("operation", "place", "kind", "outcome", "api", "detail", "contract")
    entry: dict[str, Any] = {name: text for name, text in zip(names, key, strict=True) if text}
    return entry if count == 1 else entry | {"count": count}


def _judged(injection: Injection, observation: TrialObservation) -> tuple[str, ...]:
    """Return the contracts that a trial is evidence for."""
    if injection.kind == "cancellation":
        return (CANCELLED,)
    if injection.disconnects:
        failed = (WHOLE, LATE, PREVIOUS) if injection.kind == "network" else (WHOLE,)
        raised = observation.ending is OperationEnding.RAISED
        return (LOST_CONNECTION, *(failed if raised else (SILENT,)))
    if observation.returned:
        return (SILENT, USABLE)
    return (WHOLE, LATE, USABLE, PREVIOUS)
