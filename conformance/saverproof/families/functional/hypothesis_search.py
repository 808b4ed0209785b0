"""Search with Hypothesis: its state machine makes the programs, the kit shrinks and blames."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TypeAlias

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.stateful import run_state_machine_as_test

from saverproof.families.machines.explaining.trials import ProgramRun, Trials, run_of
from saverproof.families.machines.machine import SaverMachine
from saverproof.programs.theme import Theme

FollowUp: TypeAlias = Callable[[ProgramRun], None]


def search_with_hypothesis(
    family: type[SaverMachine],
    trials: Trials,
    theme: Theme,
    examples: int,
    seed: int,
    follow_up: FollowUp,
) -> None:
    """Let Hypothesis make ``examples`` programs of one of a family's themes.

    Which rules it may choose depends on the theme alone. Therefore it goes on even if a saver
    answers the same question differently each time.
    """
    if examples <= 0:
        return
    used = [(trials, follow_up)]
    machine = _collecting(family, theme, used)
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
        with _nothing_left():
            run_state_machine_as_test(machine, settings=settings)
    finally:
        # Hypothesis keeps the classes of machines for ever: with them, all runs would stay.
        used.clear()


@contextmanager
def _nothing_left() -> Iterator[None]:
    """Give Hypothesis a folder that goes: it keeps there which constants the loaded modules have,
    by default in ``.hypothesis`` of the user's project.
    """
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            set_hypothesis_home_dir(None)


def _collecting(
    family: type[SaverMachine], chosen: Theme, used: list[tuple[Trials, FollowUp]]
) -> type[SaverMachine]:
    """Return a machine of the family for one theme. It hands each run over, and never fails itself.

    ``used`` holds the trials and the function that gets the runs.
    """

    class CollectingMachine(family):  # type: ignore[misc, valid-type]
        themes = (chosen,)

        def __init__(self) -> None:
            ((trials, self.follow_up),) = used
            self.opened = trials.session(chosen)
            self.hand_over(self.opened.__enter__(), chosen)
            super().__init__()

        def teardown(self) -> None:
            try:
                self.session.finish()
                run = run_of(self.session)
            finally:
                self.opened.__exit__(None, None, None)
            self.follow_up(run)

    return CollectingMachine
