"""Violations: broken contracts, each with a program that shows it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from saverproof.families.machines.explaining.trials import ProgramRun
from saverproof.judging.session import Breach
from saverproof.mistakes import Mistake
from saverproof.programs.rewriting.renaming import names_of
from saverproof.programs.steps.definitions import Program
from saverproof.programs.trait import Trait


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken contract with the shortest program found that shows it.

    ``needs`` are the traits that the program cannot do without; none are looked for where a mistake
    is known. ``also`` are other contracts that it shows broken. ``shortened`` is False if a shorter
    program may exist. ``mistake`` is the known mistake that predicts what the program shows, if
    there is one.
    """

    contract: str
    program: Program
    breach: Breach
    needs: tuple[Trait, ...] = ()
    also: frozenset[str] = frozenset()
    shortened: bool = True
    mistake: Mistake | None = None

    def needs_instead(self, need: Trait, others: Iterable[Trait]) -> bool:
        """Return whether the program may need one of the ``others`` in place of ``need``.

        Taking out either takes out both: a thread id that joins two names has letters of paths, and
        nothing in the program tells which of the two makes the difference. This is asked of thread
        ids alone: a value of another kind is another value, which may be wrong for its own reason.
        """
        return _renames_threads(need, self.program) and any(
            _takes_out(need, other, self.program) and _takes_out(other, need, self.program)
            for other in others
        )


def _renames_threads(trait: Trait, program: Program) -> bool:
    return names_of(trait.without(program), "thread") != names_of(program, "thread")


def _takes_out(one: Trait, other: Trait, program: Program) -> bool:
    without = one.without(program)
    return other.without(without) == without


def plain(breaches: Iterable[Breach]) -> list[Breach]:
    """Return the breaches that were seen before the saver diverged from the model."""
    return [breach for breach in breaches if not breach.diverged]


def plain_breaches(run: ProgramRun) -> list[Breach]:
    """Return the breaches of a run that were seen before the saver diverged from the model."""
    return plain(run.breaches)


def kind_of(breach: Breach) -> str:
    """Return the name of the fact that differs, without its detail."""
    return breach.difference.fact.partition(":")[0]


def has_cause_of(one: Violation, other: Violation) -> bool:
    """Return whether a violation seems to have the same cause as another one of the same contract.

    It does if they differ in the same kind of fact, and it needs all that the other needs. One that
    needs less is not explained by the other.
    """
    return kind_of(one.breach) == kind_of(other.breach) and set(one.needs) >= set(other.needs)
