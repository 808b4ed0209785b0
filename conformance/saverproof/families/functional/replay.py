"""Run the recorded program of a functional contract again."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

from saverproof.capability import Capability
from saverproof.families.answer import ReplayAnswer, Status
from saverproof.families.functional.journal import journal_of
from saverproof.families.items import ItemPlan
from saverproof.families.machines.explaining.search import ProgramSearch
from saverproof.families.machines.explaining.trials import Trials
from saverproof.families.machines.signatures import judge_standing
from saverproof.judging.session import Breach
from saverproof.judging.wording import fact_in_words, shown
from saverproof.programs.steps.codec import from_json
from saverproof.programs.steps.definitions import Program
from saverproof.savers.execution.store import Store
from saverproof.savers.targets.event_loop import loop_for
from saverproof.savers.targets.target import Target

WIDTH = 1_200
"""Characters of a value that an answer shows."""


def replay(plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
    """Return whether a recorded program still breaks the contract.

    Raises:
        ValueError: the data is no program.
        OpeningError: the saver could not be opened or closed.
    """
    program = from_json(data)
    with loop_for(plan.api) as loop:
        trials = Trials(
            target,
            Path(plan.folder),
            loop,
            ("sync", "async") if plan.api == "crossed" else (plan.api,),
            shallow=Capability.HISTORY not in plan.facts["capabilities"],
            on_step=journal_of(plan),
        )
        if not program:
            return _standing(plan, trials, contract)
        breach = _shown(trials, program, contract)
    if breach is None:
        return ReplayAnswer(Status.FIXED, "the program no longer breaks the contract")
    said = fact_in_words(breach.difference)
    return ReplayAnswer(Status.FAILING, said, *shown(breach.difference, WIDTH))


def _standing(plan: ItemPlan, trials: Trials, contract: str) -> ReplayAnswer:
    """Return whether the saver now has the operation and parameters that a contract asks for. No
    program is needed to see that.
    """
    with Store(trials.target, trials.folder, trials.loop, trials.apis) as store:
        takes_path = store.drivers[0].takes_paths
    wanted = frozenset({contract})
    standing = judge_standing(plan.facts, plan.api, trials.target, wanted, takes_path=takes_path)
    if standing.findings:
        found = standing.findings[0]
        return ReplayAnswer(Status.FAILING, found.summary, found.expected, found.observed)
    if contract in standing.checked:
        return ReplayAnswer(Status.FIXED, "what was missing is there")
    return ReplayAnswer(Status.UNCLEAR, "the artefact has no steps")


def _shown(trials: Trials, program: Program, contract: str) -> Breach | None:
    """Return the breach that the program still shows, or None.

    The program is run with more looks and with fewer, as searches do.
    """
    for thorough, watch_inputs in product((True, False), repeat=2):
        search = ProgramSearch(trials, frozenset({contract}), watch_inputs)
        run = trials.replay(program, thorough=thorough, watch_inputs=watch_inputs)
        for breach in run.breaches:
            # If only the run with fewer looks shows the breach, its contract was not searched for.
            unasked = not thorough and breach.contract == contract
            if unasked or search.blamed(run.program[: breach.position], breach) == contract:
                return breach
    return None
