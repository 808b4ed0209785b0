"""Searches with Hypothesis: the machine makes the programs, the search shortens and blames."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from random import Random

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from saverproof.judging.search import Search
from saverproof.judging.session import Session
from saverproof.judging.trial import Run, Trials
from saverproof.machines.machine import making_rule
from saverproof.model.store import Model
from saverproof.programs.legality import objection
from saverproof.programs.theme import Maker, Theme


def search_with_hypothesis(
    trials: Trials,
    search: Search,
    theme: Theme,
    examples: int,
    seed: int,
    tell: Callable[[Trials], None],
) -> None:
    """Let Hypothesis make ``examples`` programs of a theme, and follow up what they show."""
    if examples <= 0:
        return

    def finished(run: Run) -> None:
        search.follow_up(run)
        tell(trials)

    machine = _machine(trials, theme, finished)
    hypothesis.seed(seed)(machine)
    # Every setting is given, so that no profile of the user's own can change what is searched.
    settings = hypothesis.settings(
        max_examples=examples,
        stateful_step_count=theme.length,
        phases=(Phase.generate,),
        deadline=None,
        database=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        suppress_health_check=tuple(HealthCheck),
        backend="hypothesis",
    )
    run_state_machine_as_test(machine, settings=settings)


def _machine(
    trials: Trials, theme: Theme, finished: Callable[[Run], None]
) -> type[RuleBasedStateMachine]:
    numbers = count()

    class Machine(RuleBasedStateMachine):
        """Takes steps of the theme on a saver of its own; it collects, and never fails."""

        def __init__(self) -> None:
            super().__init__()
            self.theme = theme.with_cast(next(numbers))
            self.opened = trials.session(self.theme)
            self.session: Session = self.opened.__enter__()

        @property
        def model(self) -> Model:
            return self.session.model

        def make(self, maker: Maker, choose: Random) -> None:
            step = maker(self.model, choose, self.theme)
            if step is not None and objection(step, self.model) is None:
                self.session.take(step)

        def teardown(self) -> None:
            try:
                self.session.finish()
                run = Run(tuple(self.session.taken), tuple(self.session.breaches))
            finally:
                self.opened.__exit__(None, None, None)
            finished(run)

    for maker in theme.weights:
        setattr(Machine, maker.__name__, making_rule(maker))
    return Machine
