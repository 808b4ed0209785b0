"""What searches find: broken contracts, each with a program that shows it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from saverproof.judging.session import Breach
from saverproof.machines.trials import ProgramRun
from saverproof.mistakes import Mistake
from saverproof.programs.trait import Trait
from saverproof.steps.definitions import Program


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken contract with the shortest program found that shows it.

    ``needs`` is what the program cannot do without, ``also`` are other contracts whose breach it
    shows as well; it is ``shortened`` unless it may be longer than it has to be. ``mistake`` is the
    known one that predicts what the program shows, if there is one.
    """

    contract: str
    program: Program
    breach: Breach
    needs: tuple[Trait, ...] = ()
    also: frozenset[str] = frozenset()
    shortened: bool = True
    mistake: Mistake | None = None


def plain(breaches: Iterable[Breach]) -> list[Breach]:
    """The breaches that do not come after the saver and the model had parted."""
    return [breach for breach in breaches if not breach.diverged]


def plain_breaches(run: ProgramRun) -> list[Breach]:
    """Those of a run."""
    return plain(run.breaches)


def kind_of(breach: Breach) -> str:
    """What sort of fact differs, its details aside."""
    return breach.difference.fact.partition(":")[0]


def has_cause_of(one: Violation, other: Violation) -> bool:
    """Whether two violations of a contract seem to have one cause: neither needs something that
    the other can do without, or one is shown by less than the other.
    """
    if kind_of(one.breach) != kind_of(other.breach):
        return False
    first, second = set(one.needs), set(other.needs)
    return first <= second or second <= first
