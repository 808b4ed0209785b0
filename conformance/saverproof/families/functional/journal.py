"""The journal of a program: after the death of a process it tells in which step the process
died.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from saverproof.families.items import ItemPlan
from saverproof.programs.steps.codec import step_to_json
from saverproof.programs.steps.definitions import Step


def journal_of(plan: ItemPlan) -> Callable[[Step, int], None] | None:
    """Return a function that journals the steps of the current program; None if the plan has no
    journal.

    The function is called before each step, with the number of steps before it.
    """
    if plan.journal is None:
        return None
    path = Path(plan.journal)

    def write(step: Step, before: int) -> None:
        with path.open("a" if before else "w", encoding="utf-8") as journal:
            journal.write(json.dumps(step_to_json(step)) + "\n")

    return write
