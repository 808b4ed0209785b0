"""Settles which contracts of an item stay in doubt because of differences that no finding
explains.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from saverproof.families.items import Unsettled
from saverproof.families.machines.explaining.differences import is_implied
from saverproof.families.machines.explaining.hiding import Hiding
from saverproof.families.machines.explaining.search import ProgramSearch
from saverproof.families.machines.explaining.trials import ProgramRun
from saverproof.families.tally import Tally, unsettled
from saverproof.mistakes import Mistake
from saverproof.programs.steps.codec import to_json
from saverproof.programs.steps.describing import describe


@dataclass(slots=True)
class Settling:
    """Withdraws the verdicts that a search has left in doubt.

    ``tried`` are the known mistakes whose own programs were run, with what these showed.
    """

    tally: Tally
    search: ProgramSearch
    tried: list[tuple[Mistake, ProgramRun]] = field(default_factory=list)

    def broken(self) -> list[str]:
        """Return the contracts that are broken, and those that may be broken because a difference
        is not shown.
        """
        shown = {one.contract for one in (*self.tally.findings, *self.tally.handed)}
        return sorted(shown or {*self.search.diagnosis.contracts, *self.search.ledger.names})

    def settle(self, broken: Sequence[str]) -> None:
        """Tell the tally which contracts are not known to hold.

        These are contracts with differences that no finding predicts, and contracts hidden by what
        is ``broken``.
        """
        tally = self.tally
        shown = [found.contract for found in tally.findings]
        tally.unsettled |= self.unexplained(shown)
        for name in sorted(tally.wanted) if broken else ():
            if not tally.checked[name]:
                self._hide(name, broken)
        for mistake in self._not_ruled_out():
            del tally.checked[mistake.breaks]
            why = (
                f"{', '.join(broken)} may hide this mistake: {mistake.note}; mend the former first"
            )
            tally.hide([mistake.breaks], why, broken)

    def unexplained(self, shown: Collection[str]) -> dict[str, Unsettled]:
        """Return the unexplained differences by contract, each with the shortest program that shows
        one.
        """
        ledger = self.search.ledger
        shortest = {name: one.program_for(name) for name, one in ledger.shortest().items()}
        ledger.examples |= {name: tuple(map(describe, p)) for name, p in shortest.items()}
        account = ledger.account(shown, self.tally.applicable)
        return {
            name: unsettled(times, ledger.examples[name], to_json(shortest[name]))
            for name, times in account.unknown.items()
        }

    def _hide(self, name: str, broken: Sequence[str]) -> None:
        """Mark a contract that was not judged as hidden by those that are ``broken``."""
        if behind := self.search.from_which_follow(name):
            why = f"all that it speaks of comes out wrong, by {', '.join(behind)}: mend that first"
            self.tally.hide([name], why, behind)
            return
        # Answers that broken contracts predict count neither as judging others nor as differences.
        behind = [one for one in broken if is_implied(name, [one])]
        if not behind and not self.tally.budget.left_out:
            # All programs were run. On a saver without flaws they reach this contract.
            behind = [*broken]
        if not behind:
            return
        why = (
            f"nothing could look at it beside what is broken: {', '.join(behind)}; mend that first"
        )
        self.tally.hide([name], why, behind)

    def _not_ruled_out(self) -> Iterator[Mistake]:
        """Yield the known mistakes that the saver may make, as far as its answers tell."""
        hiding = Hiding(self.search.diagnosis)
        for mistake, run in self.tried:
            name = mistake.breaks
            settled = name in self.search.found or name in self.tally.unsettled
            if not settled and self.tally.checked[name] and hiding.hides(mistake, run):
                yield mistake
