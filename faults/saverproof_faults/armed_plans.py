"""What became of the plans that were armed."""

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from saverproof_faults.errors import FaultsError
from saverproof_faults.kinds import Lasts
from saverproof_faults.plan import Plan


@dataclass(eq=False)
class ArmedPlan:
    """One plan, armed once. ``fired`` counts how often it struck; ``note`` says why it could not.

    ``action`` is what a harness does at a client-side place instead of raising. ``steps`` is how
    many times SQLite asked during the statement before it was interrupted, for a reproducer.
    """

    plan: Plan
    action: Callable[[], object] | None = None
    fired: int = 0
    note: str = ""
    steps: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def spent(self) -> bool:
        """Whether it has struck and is not to strike again."""
        return self.fired > 0 and self.plan.lasts is Lasts.ONCE

    def fire(self) -> bool:
        """Strike, unless spent; True if it did. Safe from several threads."""
        with self._lock:
            if self.spent:
                return False
            self.fired += 1
            return True

    def hits(self, index: int) -> bool:
        """Whether the ``index``-th event of the plan's kind is where it strikes."""
        wanted = self.plan.place.index
        return index >= wanted if self.plan.lasts is Lasts.ONWARDS else index == wanted

    def require_fired(self) -> None:
        """Raise FaultsError if it never struck: such a plan has tested nothing."""
        if not self.fired:
            why = f": {self.note}" if self.note else ""
            raise FaultsError(f"the fault never fired{why}. Plan: {self.plan.describe()}")


@dataclass
class Report:
    """What an injector did since it was entered. ``points`` counts the places of clean runs."""

    points: int = 0
    armed_plans: list[ArmedPlan] = field(default_factory=list)
    unproxied_connections: int = 0
    unproxied_statements: int = 0
    engine_unavailable: str | None = None

    @property
    def injected(self) -> int:
        """How many plans struck."""
        return sum(1 for armed in self.armed_plans if armed.fired)

    @property
    def never_fired(self) -> tuple[ArmedPlan, ...]:
        """The plans that did not: each is an error of the run, not a pass."""
        return tuple(armed for armed in self.armed_plans if not armed.fired)

    @property
    def by_kind(self) -> dict[str, int]:
        """How many plans of each fault struck."""
        return _counted(armed.plan.fault.value for armed in self.armed_plans if armed.fired)

    @property
    def by_side(self) -> dict[str, int]:
        """How many plans of each class struck."""
        return _counted(armed.plan.side.value for armed in self.armed_plans if armed.fired)

    def as_data(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "points": self.points,
            "armed": len(self.armed_plans),
            "injected": self.injected,
            "by_kind": self.by_kind,
            "by_side": self.by_side,
            "never_fired": [
                armed.plan.as_data() | {"note": armed.note} for armed in self.never_fired
            ],
            "unproxied_connections": self.unproxied_connections,
            "unproxied_statements": self.unproxied_statements,
            "engine_unavailable": self.engine_unavailable,
        }


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
