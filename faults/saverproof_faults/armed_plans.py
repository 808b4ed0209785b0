"""Fault plans that were armed, and which of them struck."""

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
    """A plan that was armed once.

    ``fired`` counts how often its fault struck; ``note`` says why it could not. ``action`` is
    called at a client-side place instead of raising an error. ``steps`` is how often SQLite called
    its progress handler during the statement before the fault interrupted it; reproducers repeat
    that number.
    """

    plan: Plan
    action: Callable[[], object] | None = None
    fired: int = 0
    note: str = ""
    steps: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def spent(self) -> bool:
        """True once a fault that strikes only once has struck."""
        return self.fired > 0 and self.plan.lasts is Lasts.ONCE

    def fire(self) -> bool:
        """Count a strike and return True, or return False if the fault is spent.

        Several threads may call this at once.
        """
        with self._lock:
            if self.spent:
                return False
            self.fired += 1
            return True

    def hits(self, index: int) -> bool:
        """Return whether the fault strikes at the ``index``-th event of its kind."""
        wanted = self.plan.place.index
        return index >= wanted if self.plan.lasts is Lasts.ONWARDS else index == wanted

    def require_fired(self) -> None:
        """Raise FaultsError if the fault never struck: such a trial has tested nothing."""
        if not self.fired:
            why = f": {self.note}" if self.note else ""
            raise FaultsError(f"the fault never fired{why}. Plan: {self.plan.describe()}")


@dataclass
class InjectionReport:
    """The plans of one injector, and what became of them.

    ``points`` counts the places that clean runs passed.
    """

    points: int = 0
    armed_plans: list[ArmedPlan] = field(default_factory=list)
    unproxied_connections: int = 0
    unproxied_statements: int = 0
    engine_unavailable: str | None = None

    @property
    def injected(self) -> int:
        """Number of plans whose fault struck."""
        return sum(1 for armed in self.armed_plans if armed.fired)

    @property
    def never_fired(self) -> tuple[ArmedPlan, ...]:
        """Plans whose fault did not strike. Each is an error of the run, not a pass."""
        return tuple(armed for armed in self.armed_plans if not armed.fired)

    @property
    def by_kind(self) -> dict[str, int]:
        """Number of plans that struck, by fault."""
        return _counted(armed.plan.fault.value for armed in self.armed_plans if armed.fired)

    @property
    def by_side(self) -> dict[str, int]:
        """Number of plans that struck, by class of faults (see ``Side``)."""
        return _counted(armed.plan.side.value for armed in self.armed_plans if armed.fired)

    def as_data(self) -> dict[str, Any]:
        """Return plain data for JSON."""
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
