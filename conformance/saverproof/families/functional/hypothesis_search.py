"""Searches with Hypothesis: the machine makes the programs, the search shortens and blames."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from random import Random

import hypothesis
import hypothesis.strategies as st
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.errors import FlakyStrategyDefinition
from hypothesis.stateful import RuleBasedStateMachine, initialize, run_state_machine_as_test

from saverproof.judging.session import Session
from saverproof.machines.machine import making_rule
from saverproof.machines.search import ProgramSearch
from saverproof.machines.trials import ProgramRun, Trials
from saverproof.model.store import Model
from saverproof.programs.legality import objection
from saverproof.programs.theme import Maker, Theme

_NAME_SETS = 999


def search_with_hypothesis(
    trials: Trials,
    search: ProgramSearch,
    theme: Theme,
    examples: int,
    seed: int,
    tell: Callable[[Trials], None],
) -> None:
    """Let Hypothesis make ``examples`` programs of a theme, and follow up what they show.

    Hypothesis needs savers that do the same when asked the same. Where one does not, the random
    driver makes the programs that are left.
    """
    if examples <= 0:
        return
    finished = count()

    def follow_up(run: ProgramRun) -> None:
        next(finished)
        search.follow_up(run)
        tell(trials)

    machine = _machine(trials, theme, follow_up)
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
    try:
        run_state_machine_as_test(machine, settings=settings)
    except FlakyStrategyDefinition:
        for number in range(next(finished), examples):
            themed = theme.with_name_set(number + seed)
            follow_up(trials.make(themed, Random(f"{seed}:{theme.name}:{number}")))


def _machine(
    trials: Trials, theme: Theme, finished: Callable[[ProgramRun], None]
) -> type[RuleBasedStateMachine]:
    class Machine(RuleBasedStateMachine):
        """Takes steps of the theme on a saver of its own; it collects, and never fails."""

        def __init__(self) -> None:
            super().__init__()
            self.theme = theme
            self.opened = trials.session(theme)
            self.session: Session = self.opened.__enter__()

        @property
        def model(self) -> Model:
            return self.session.model

        @initialize(number=st.integers(0, _NAME_SETS))
        def take_names(self, number: int) -> None:
            self.theme = theme.with_name_set(number)

        def make(self, maker: Maker, choose: Random) -> None:
            step = maker(self.model, choose, self.theme)
            if step is not None and objection(step, self.model) is None:
                self.session.take(step)

        def teardown(self) -> None:
            try:
                self.session.finish()
                run = ProgramRun(tuple(self.session.taken), tuple(self.session.breaches))
            finally:
                self.opened.__exit__(None, None, None)
            finished(run)

    for maker in theme.weights:
        setattr(Machine, maker.__name__, making_rule(maker))
    return Machine
