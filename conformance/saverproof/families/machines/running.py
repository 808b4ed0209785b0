"""Opens what all machines of one class share, and finds out what the first machine needs to
know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from saverproof.contracts.contract import Contract, Level
from saverproof.contracts.tables import serialization
from saverproof.families.machines.explaining.search import ProgramSearch
from saverproof.families.machines.explaining.trials import Stepper, Trials
from saverproof.families.machines.known_failures import KnownFailures
from saverproof.families.machines.signatures import judge_standing
from saverproof.families.machines.suiting import suited, suited_program
from saverproof.families.machines.survey import survey
from saverproof.judging.session import Session
from saverproof.process.scratch import scratch_folder
from saverproof.programs.axes.table import CROSSED
from saverproof.programs.steps.definitions import Program
from saverproof.programs.theme import Theme
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.target import Target
from saverproof.scripts.own_source import OwnSources

LARGE = serialization.LARGE.id


@dataclass(frozen=True, slots=True)
class MachinePlan:
    """The settings of a class of machines; ``key`` names the class in example databases."""

    key: bytes
    target: Target
    apis: tuple[str, ...]
    themes: tuple[Theme, ...]
    enforces: tuple[Contract, ...]
    contracts: frozenset[str]
    strict: bool
    examples: tuple[Program, ...]
    own: OwnSources
    over: Callable[[Session, Theme], Stepper]

    @property
    def api(self) -> str:
        """The API as reports name it: "sync", "async" or "crossed"."""
        return "crossed" if len(self.apis) > 1 else self.apis[0]


@contextmanager
def running(
    plan: MachinePlan, known: KnownFailures | None
) -> Iterator[tuple[Trials, KnownFailures]]:
    """Provide trials and the known failures of the class, until the block ends.

    If ``known`` is None, the saver is surveyed, the enforced contracts are settled, and programs
    that broke a contract earlier are run again.

    Raises:
        OpeningError: the saver could not be opened or closed.
        TargetError: it has no API that may be used.
    """
    with scratch_folder() as folder, EventLoop() as loop:
        trials = Trials(plan.target, folder, loop, plan.apis, machine=plan.over)
        if known is None:
            known = _found_out(plan, trials, loop)
            able, serde = known.survey.able, known.survey.serde
            known.try_given(trials, tuple(suited_program(p, able, serde) for p in plan.examples))
        trials.shallow = "history" not in known.survey.able
        yield trials, known


def _found_out(plan: MachinePlan, trials: Trials, loop: EventLoop) -> KnownFailures:
    found = survey(plan.target, trials.folder, loop)
    enforced = {
        each.id
        for each in found.applicable(plan.enforces)
        if plan.strict or each.level is Level.MUST or each.id in plan.contracts
    }
    if plan.contracts:
        enforced &= plan.contracts
    standing = judge_standing(
        found.facts,
        plan.api,
        plan.target,
        frozenset(enforced),
        takes_path=found.takes_path,
    )
    return KnownFailures(
        plan.key,
        found,
        suited(
            (t for t in plan.themes if LARGE in enforced or not t.heavy), found.serde, found.able
        ),
        ProgramSearch(trials, frozenset({*enforced, *plan.own.statements})),
        tuple(family for family in CROSSED if family in {each.family for each in plan.enforces}),
        tuple(standing.findings),
    )
