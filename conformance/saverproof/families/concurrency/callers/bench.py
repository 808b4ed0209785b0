"""The processes in which the scenes of one target are played."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from saverproof.families.concurrency.callers.watching import LIMIT_S
from saverproof.families.items import ItemPlan
from saverproof.families.trial_processes import harness_for
from saverproof.savers.targets.opening import fresh_workspace
from saverproof.savers.targets.target import Target
from saverproof_faults.kill import Body, Harness, TrialResult, View, Writer

DEADLINE_S = LIMIT_S + 6.0
"""Longer than the time limit of any scene: a process that takes longer could not even run its
watch.
"""


@dataclass(frozen=True, slots=True)
class CallerBench:
    """A target, and the process from which the processes of its scenes are forked."""

    plan: ItemPlan
    target: Target
    folder: Path
    harness: Harness

    @classmethod
    @contextmanager
    def of(cls, plan: ItemPlan, target: Target, children: Iterable[ModuleType]) -> Iterator[Self]:
        """Start the process from which the others are forked. It ends with the block.

        ``children`` are the modules whose functions run in these processes.

        Raises:
            HarnessError: the process cannot be started.
        """
        with harness_for(plan, children) as harness:
            yield cls(plan, target, Path(plan.folder), harness)

    @property
    def slow(self) -> bool:
        """True if each process is a fresh interpreter."""
        return self.harness.reason is not None

    @contextmanager
    def store(self) -> Iterator[dict[str, Any]]:
        """Make a new store, and yield it as arguments for the functions of its processes."""
        with fresh_workspace(self.folder, self.target) as workspace:
            yield {
                "target": self.plan.target,
                "api": self.plan.api,
                **workspace.to_json(),
            }

    def played(self, body: Body, arguments: Mapping[str, Any]) -> TrialResult:
        """Play a scene in a process of its own."""
        return self.harness.trial(body, arguments, deadline_s=DEADLINE_S)

    def together(self, body: Body, arguments: Sequence[Mapping[str, Any]]) -> list[TrialResult]:
        """Play a scene in several processes that begin together."""
        return self.writers([(body, one) for one in arguments])

    def writers(self, parts: Sequence[tuple[Body, Mapping[str, Any]]]) -> list[TrialResult]:
        """Play a scene in several processes that begin together, each with its own function and
        arguments.
        """
        writers = [Writer(body, arguments) for body, arguments in parts]
        return self.harness.together(writers, deadline_s=DEADLINE_S)

    def looked(self, body: Body, arguments: Mapping[str, Any]) -> View:
        """Run a function in one more process, before or after the scene."""
        return self.looked_at_each(body, [arguments])[0]

    def looked_at_each(self, body: Body, each: Sequence[Mapping[str, Any]]) -> list[View]:
        """Run a function in several processes at once, one for each of the arguments."""
        return self.harness.looks(body, each, deadline_s=DEADLINE_S)
