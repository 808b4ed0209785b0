"""A rule of attribution, and the case that it decides."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from saverproof.judging.facts import Difference, Fact
from saverproof.programs.model.records import Address, PendingWrite, Record
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import Put, PutWrites, Step


@dataclass(frozen=True, slots=True)
class Case:
    """A difference, the step after which it was first seen, and the model after that step."""

    difference: Difference
    step: Step
    model: Model

    @property
    def kind(self) -> Fact:
        """The kind of fact that differs."""
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
        """The model's record of the checkpoint that differs."""
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
        """True if the difference is in a checkpoint other than the one that the step wrote."""
        return self.address != self.place

    @property
    def thread_differs(self) -> bool:
        """True if the difference is in a thread other than the one that the step wrote to."""
        return bool(self.address and self.place and self.address[0] != self.place[0])

    @property
    def namespace_differs(self) -> bool:
        """True if the difference is in a namespace other than the one that the step wrote to."""
        return bool(self.address and self.place and self.address[1] != self.place[1])

    def is_nowhere(self) -> bool:
        """Return whether the difference belongs to no checkpoint."""
        return self.address is None


Contract = str | Callable[[Case], str]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that attributes a difference to ``contract``.

    It applies to differences of these ``facts`` (all if empty), ``after`` a step of these kinds, if
    ``when`` is true of the case.
    """

    why: str
    contract: Contract
    facts: Collection[Fact] = ()
    when: Callable[[Case], bool] = lambda _: True
    after: type[Step] | tuple[type[Step], ...] = Step

    def fits(self, case: Case) -> bool:
        """Return whether the rule decides this case."""
        return (
            (not self.facts or case.kind in self.facts)
            and isinstance(case.step, self.after)
            and self.when(case)
        )


def after(step: type[Step] | tuple[type[Step], ...], *rules: Rule) -> tuple[Rule, ...]:
    """Return these rules, limited to differences after a step of this kind."""
    return tuple(replace(rule, after=step) for rule in rules)
