"""Mends a saver as its author would: what the report names first, then a new run, until the end.

What is behind a program is found out by trial: the flaw without which the program shows it no more.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from saverproof.contracts.registry import contract
from saverproof.families.answer import Status
from saverproof.families.machines.explaining.trials import Trials
from saverproof.families.registry import family
from saverproof.programs.steps.codec import from_json
from saverproof.savers.targets.event_loop import loop_for
from tests.conformance.judging_support import plan_of
from tests.crowds.flawed import Flaw, FlawedSaver, api_of
from tests.crowds.judging import Judgement, judge


@dataclass(slots=True)
class Mending:
    """How a saver was mended.

    Attributes:
        rounds: what was mended in each run, by name.
        left: the flaws that the last run, which found nothing more, does not know of.
        misled: what the report named first, if no flaw is behind it.
    """

    rounds: list[str] = field(default_factory=list)
    left: tuple[str, ...] = ()
    misled: str | None = None

    @property
    def ended(self) -> bool:
        """Whether all was mended, each flaw by a run that named it."""
        return not self.left and self.misled is None


def mend(saver: FlawedSaver, *, seed: int = 0) -> Mending:
    """Mend a saver round by round; there are as many rounds as flaws at most."""
    mending = Mending()
    while True:
        found = judge(saver, mending.rounds, seed=seed)
        left = [flaw for flaw in saver.flaws if flaw.name not in mending.rounds]
        if found.clean or not left:
            mending.left = tuple(flaw.name for flaw in left)
            mending.misled = None if found.clean else said_first(found)
            return mending
        behind = flaw_behind(saver, found, left, mending.rounds)
        if behind is None:
            mending.left = tuple(flaw.name for flaw in left)
            mending.misled = said_first(found)
            return mending
        mending.rounds.append(behind.name)


def said_first(found: Judgement) -> str:
    """What a report says first: a violation, or a difference that it cannot settle."""
    return next(iter((*found.order, *found.unsettled, *found.trouble)))


def flaw_behind(
    saver: FlawedSaver, found: Judgement, left: Collection[Flaw], mended: Collection[str]
) -> Flaw | None:
    """The flaw that the report shows first: those of the contract that it names are tried first."""
    name = said_first(found)
    nearest = sorted(left, key=lambda flaw: flaw.contract != name)
    with saver.served():
        for flaw in nearest:
            if not _is_shown(saver, found, name, (*mended, flaw.name)):
                return flaw
    return None


def _is_shown(saver: FlawedSaver, found: Judgement, name: str, mended: Collection[str]) -> bool:
    """Whether what the report shows first is still there."""
    if name in found.findings:
        program = found.findings[name][0].program
        return _breaks(saver, name, program, mended)
    if name in found.unsettled:
        return _differs(saver, name, found.unsettled[name], mended)
    return True


def _breaks(saver: FlawedSaver, name: str, program: Any, mended: Collection[str]) -> bool:
    """Whether a program still breaks a contract."""
    of = contract(name).family
    target = saver.target(mended)
    with TemporaryDirectory() as folder:
        plan = plan_of(target, of, api_of(of), Path(folder), facts=saver.facts())
        return family(of).replay(plan, target, name, program).status is Status.FAILING


def _differs(saver: FlawedSaver, name: str, program: Any, mended: Collection[str]) -> bool:
    """Whether a program still shows a difference, of whatever contract."""
    api = api_of(contract(name).family)
    with TemporaryDirectory() as folder, loop_for(api) as loop:
        apis = ("sync", "async") if api == "crossed" else (api,)
        trials = Trials(saver.target(mended), Path(folder), loop, apis)
        steps = from_json(program)
        return any(trials.replay(steps, thorough=each).breaches for each in (True, False))
