"""What a rule of attribution is."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from saverproof.judging.attribution.case import Case
from saverproof.judging.facts import Fact
from saverproof.steps.definitions import Step

Contract = str | Callable[[Case], str]


@dataclass(frozen=True, slots=True)
class Rule:
    """For differences of these ``facts`` (none: any) ``after`` such a step, if ``when`` holds."""

    why: str
    contract: Contract
    facts: Collection[Fact] = ()
    when: Callable[[Case], bool] = lambda _: True
    after: type[Step] | tuple[type[Step], ...] = Step

    def fits(self, case: Case) -> bool:
        """Whether the rule decides this case."""
        return (
            (not self.facts or case.kind in self.facts)
            and isinstance(case.step, self.after)
            and self.when(case)
        )


def after(step: type[Step] | tuple[type[Step], ...], *rules: Rule) -> tuple[Rule, ...]:
    """These rules, for differences after such a step alone."""
    return tuple(replace(rule, after=step) for rule in rules)
