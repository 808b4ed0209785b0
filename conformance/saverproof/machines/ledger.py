"""Where every difference went that programs showed: none is dropped.

A difference is shown by a finding; or proved to follow from what was found, because a saver with
those mistakes shows the very same, or because the program no longer shows it without what a finding
is about; or it is unsettled, and its contract is not known to hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from saverproof.judging.session import Breach
from saverproof.machines.differences import Account, Differences, calls_in
from saverproof.machines.trials import ProgramRun
from saverproof.machines.violations import plain
from saverproof.steps.definitions import Program
from saverproof.steps.describing import describe


@dataclass(slots=True, eq=False)
class Entry:
    """A run that showed something, and what of that is not settled yet."""

    run: ProgramRun
    left: tuple[Breach, ...]
    told: list[Breach] = field(default_factory=list)
    """What findings show, or what another contract is behind."""
    shorter: dict[str, Program] = field(default_factory=dict)
    """Programs that show what is left in fewer steps, by contract."""
    counted: set[int] = field(default_factory=set)
    """Which differences are counted, by the identity of the breach: masked ones are once they
    are seen to differ from what was predicted.
    """

    def program_for(self, name: str) -> Program:
        """The shortest program known to show what is left of a contract."""
        return self.shorter.get(name, self.run.program)

    @property
    def named(self) -> list[tuple[str, Breach]]:
        """What is left, each with the contract it is counted under: what came after saver and
        model had parted goes with what parted them.
        """
        first = next((breach.contract for breach in plain(self.run.breaches)), None)
        return [(first if b.diverged and first else b.contract, b) for b in self.left]


@dataclass(slots=True)
class Ledger(Differences):
    """Every run that showed something; ``open`` are those with something that is not settled."""

    entries: list[Entry] = field(default_factory=list)
    open: list[Entry] = field(default_factory=list)
    total: int = 0
    names: set[str] = field(default_factory=set)
    """The contracts that differences were first blamed on."""
    elsewhere: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """Differences that come from one of these contracts being broken, of which the item knows no
    program that shows it.
    """

    def enter(self, run: ProgramRun) -> Entry:
        """Count all that a run showed."""
        entry = Entry(run, run.breaches)
        self._count(entry, run.breaches)
        self.names.update(breach.contract for breach in run.breaches)
        self.entries.append(entry)
        self.open.append(entry)
        return entry

    def weigh(self, entry: Entry, left: Iterable[Breach]) -> None:
        """What of a run is not proved to come from what was found."""
        told = set(map(id, entry.told))
        entry.left = tuple(breach for breach in left if id(breach) not in told)
        self._count(entry, entry.left)
        if not entry.left and entry in self.open:
            self.open.remove(entry)

    def _count(self, entry: Entry, breaches: Iterable[Breach]) -> None:
        fresh = [breach for breach in breaches if id(breach) not in entry.counted]
        entry.counted.update(map(id, fresh))
        self.total += _times(fresh)

    def tell(self, entry: Entry, breach: Breach, behind: tuple[str, ...]) -> None:
        """A finding shows a difference of a run; or one of the contracts ``behind`` is broken."""
        if behind:
            self.elsewhere[behind] += breach.difference.times
            self.examples[behind[0]] = tuple(map(describe, entry.run.program[: breach.position]))
        entry.told.append(breach)
        self.weigh(entry, entry.left)

    def leave(self, contract: str, program: Program) -> None:
        """A difference comes from a contract being broken that no finding shows."""
        self.elsewhere[(contract,)] += 1
        self.examples.setdefault(contract, tuple(map(describe, program)))

    def shortest(self) -> dict[str, Entry]:
        """The shortest program that shows something unsettled of each contract."""
        found: dict[str, Entry] = {}
        for entry in self.open:
            for name, _ in entry.named:
                if name not in found or _calls(entry) < _calls(found[name]):
                    found[name] = entry
        return found

    def account(self, shown: Collection[str], own: Collection[str]) -> Account:
        """Where all went, given the contracts of the findings shown and those of the item."""
        unknown, elsewhere = Counter[str](), Counter(self.elsewhere)
        for name, breach in (named for entry in self.open for named in entry.named):
            times = breach.difference.times
            if name in own:
                unknown[name] += times
            else:
                elsewhere[(name,)] += times
        left = elsewhere.total()
        # What signatures show is seen without a program.
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


def _calls(entry: Entry) -> int:
    return calls_in(entry.run.program)
