"""What a rule of attribution is, and the case that it is asked about."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from saverproof.judging.facts import Difference, Fact
from saverproof.model.records import Address, PendingWrite, Record
from saverproof.model.store import Model
from saverproof.steps.definitions import Put, PutWrites, Step


@dataclass(frozen=True, slots=True)
class Case:
    """A difference, the step after which it was first seen, and the model after that step."""

    difference: Difference
    step: Step
    model: Model

    @property
    def kind(self) -> Fact:
        """What sort of fact differs."""
        return self.difference.kind

    @property
    def address(self) -> Address | None:
        """The checkpoint that differs."""
        return self.difference.address

    @property
    def write(self) -> PendingWrite | None:
        """The pending write that differs."""
        return self.difference.write

    @property
    def record(self) -> Record | None:
        """What the model has of the checkpoint that differs."""
        return None if self.address is None else self.model.record(self.address)

    @property
    def place(self) -> Address | None:
        """The checkpoint that the step wrote, if it wrote one."""
        step = self.step
        if not isinstance(step, (Put, PutWrites)):
            return None
        return step.thread, step.namespace, step.number

    @property
    def elsewhere(self) -> bool:
        """Whether another checkpoint differs than the step wrote."""
        return self.address != self.place

    @property
    def thread_differs(self) -> bool:
        """Whether a thread differs in which the step wrote nothing."""
        return bool(self.address and self.place and self.address[0] != self.place[0])

    @property
    def namespace_differs(self) -> bool:
        """Whether a namespace differs in which the step wrote nothing."""
        return bool(self.address and self.place and self.address[1] != self.place[1])

    def is_nowhere(self) -> bool:
        """Whether what differs is no checkpoint's."""
        return self.address is None


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
