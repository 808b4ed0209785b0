"""Accounts for every difference that programs showed, so that none is dropped.

A difference is shown by a finding, or proved to follow from one, or unsettled. It is proved if a
saver with the mistakes found shows exactly the same, or if the program no longer shows it without
what a finding needs. A contract with an unsettled difference is not known to hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from saverproof.families.machines.explaining.differences import Account, Differences, calls_in
from saverproof.families.machines.explaining.trials import ProgramRun
from saverproof.families.machines.explaining.violations import plain
from saverproof.judging.session import Breach
from saverproof.programs.steps.definitions import Program
from saverproof.programs.steps.describing import describe


@dataclass(slots=True, eq=False)
class LedgerEntry:
    """A run that showed differences, and the ones that are not settled yet."""

    run: ProgramRun
    left: tuple[Breach, ...]
    told: list[Breach] = field(default_factory=list)
    """The breaches that are settled: a finding shows them, they vanish when the program loses what
    a finding needs, or another broken contract explains them.
    """
    shorter: dict[str, Program] = field(default_factory=dict)
    """Shorter programs that show an unsettled breach, by contract."""
    counted: set[int] = field(default_factory=set)
    """The ``id()`` of each breach that was counted. A masked breach is counted as soon as it is
    seen to differ from what was predicted.
    """

    def program_for(self, name: str) -> Program:
        """Return the shortest program known to show the unsettled breach of a contract."""
        return self.shorter.get(name, self.run.program)

    @property
    def named(self) -> list[tuple[str, Breach]]:
        """Return the unsettled breaches, each with the contract under which it is counted.

        A breach seen after saver and model had diverged counts under the first breach's contract.
        """
        first = next((breach.contract for breach in plain(self.run.breaches)), None)
        return [(first if b.diverged and first else b.contract, b) for b in self.left]


@dataclass(slots=True)
class Ledger(Differences):
    """All runs that showed differences. ``open`` are those with something unsettled."""

    entries: list[LedgerEntry] = field(default_factory=list)
    open: list[LedgerEntry] = field(default_factory=list)
    total: int = 0
    names: set[str] = field(default_factory=set)
    """The contracts that differences were first blamed on."""
    elsewhere: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """Differences that follow from the breach of one of several contracts, if no program of this
    item shows that breach.
    """

    def enter(self, run: ProgramRun) -> LedgerEntry:
        """Add a run, and count all differences that it showed."""
        entry = LedgerEntry(run, run.breaches)
        self._count(entry, run.breaches)
        self.names.update(breach.contract for breach in run.breaches)
        self.entries.append(entry)
        self.open.append(entry)
        return entry

    def weigh(self, entry: LedgerEntry, left: Iterable[Breach]) -> None:
        """Set which breaches of a run are not proved to follow from findings."""
        told = set(map(id, entry.told))
        entry.left = tuple(breach for breach in left if id(breach) not in told)
        self._count(entry, entry.left)
        if not entry.left and entry in self.open:
            self.open.remove(entry)

    def reopen(self, is_shown: Callable[[ProgramRun, Breach], bool]) -> None:
        """Unsettle everything that was explained, except what findings show by the very same
        program.
        """
        self.open = [*self.entries]
        self.elsewhere.clear()
        for entry in self.open:
            entry.told = [breach for breach in entry.told if is_shown(entry.run, breach)]
            entry.left = entry.run.breaches

    def _count(self, entry: LedgerEntry, breaches: Iterable[Breach]) -> None:
        fresh = [breach for breach in breaches if id(breach) not in entry.counted]
        entry.counted.update(map(id, fresh))
        self.total += _times(fresh)

    def tell(self, entry: LedgerEntry, breach: Breach, behind: tuple[str, ...]) -> None:
        """Settle a breach, because a finding shows it or one of the contracts ``behind`` it is
        broken.
        """
        if behind:
            self.elsewhere[behind] += breach.difference.times
            self.examples[behind[0]] = tuple(map(describe, entry.run.program[: breach.position]))
        entry.told.append(breach)
        self.weigh(entry, entry.left)

    def leave(self, contract: str, program: Program) -> None:
        """Count a difference that comes from a broken contract without a finding."""
        self.elsewhere[(contract,)] += 1
        self.examples.setdefault(contract, tuple(map(describe, program)))

    def shortest(self) -> dict[str, LedgerEntry]:
        """Return, for each contract, the entry whose program shows an unsettled breach in fewest
        calls.
        """
        found: dict[str, LedgerEntry] = {}
        for entry in self.open:
            for name, _ in entry.named:
                if name not in found or _calls(entry) < _calls(found[name]):
                    found[name] = entry
        return found

    def account(self, shown: Collection[str], own: Collection[str]) -> Account:
        """Account for all differences.

        ``shown`` are the contracts of the findings, ``own`` those that the item judges.
        """
        unknown, elsewhere = Counter[str](), Counter(self.elsewhere)
        for name, breach in (named for entry in self.open for named in entry.named):
            times = breach.difference.times
            if name in own:
                unknown[name] += times
            else:
                elsewhere[(name,)] += times
        left = elsewhere.total()
        # Findings about signatures are shown without a program, so they are not in the total.
        total = max(self.total - left, len(shown))
        return Account(
            total,
            len(shown),
            total - unknown.total() - len(shown),
            unknown,
            elsewhere,
            self.examples,
        )


def _times(breaches: Iterable[Breach]) -> int:
    return sum(breach.difference.times for breach in breaches)


def _calls(entry: LedgerEntry) -> int:
    return calls_in(entry.run.program)
