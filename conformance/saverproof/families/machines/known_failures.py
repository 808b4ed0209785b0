"""Keeps the known failures of a class of machines: programs that broke a contract, with their
violations.

Programs that broke a contract earlier are run first. They are kept in the example database of the
Hypothesis settings. Hypothesis repeats tests with the same choices and insists on the same outcome,
so the outcome of each program is decided only once.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from hypothesis import settings
from hypothesis.control import currently_in_test_context
from hypothesis.database import ExampleDatabase

from saverproof.errors import SaverproofError
from saverproof.families.items import Finding
from saverproof.families.machines.explaining.search import ProgramSearch
from saverproof.families.machines.explaining.trials import ProgramRun, Trials
from saverproof.families.machines.explaining.violations import Violation
from saverproof.families.machines.suiting import suited_program
from saverproof.families.machines.survey import SaverSurvey
from saverproof.programs.axes.crossing import drawn_crossing
from saverproof.programs.steps.codec import from_json, to_json
from saverproof.programs.steps.definitions import Program
from saverproof.programs.theme import Theme

_CROSSED = 1 / 4
"""The share of programs that end with crossed axes."""


@dataclass(slots=True)
class KnownFailures:
    """The known failures of one class of machines, shared by all its instances."""

    key: bytes
    survey: SaverSurvey
    themes: tuple[Theme, ...]
    search: ProgramSearch
    crossed: tuple[str, ...] = ()
    """The families whose axes are crossed."""
    standing: tuple[Finding, ...] = ()
    """Findings about the saver that need no program."""
    again: Violation | None = None
    """The violation that a kept program has shown again."""
    _turns: dict[int, Theme] = field(default_factory=dict)
    _behind: dict[str, Violation] = field(default_factory=dict)
    """The violation behind a difference, by the contract that the difference was first blamed on.
    """
    _decided: dict[str, Violation | None] = field(default_factory=dict)

    @property
    def made(self) -> tuple[Theme, ...]:
        """The themes whose programs are made step by step, as opposed to scripted ones."""
        return tuple(theme for theme in self.themes if theme.script is None)

    def theme_of(self, seed: int, otherwise: Theme) -> Theme:
        """Return the theme of the programs that begin with this seed.

        Many programs begin with the same seed, and few seeds are drawn. So themes take turns, and
        none is left out.
        """
        themes = self.made or (otherwise,)
        return self._turns.setdefault(seed, themes[len(self._turns) % len(themes)])

    def try_given(self, trials: Trials, pinned: tuple[Program, ...]) -> None:
        """Run the ready-made programs: the author's, the database's, and those of scripted themes.

        Stop at the first that shows a violation. A program that shows none is taken out of the
        database.
        """
        scripts = (t.script(Random(0)) for t in self.themes if t.script is not None)
        for program in (*pinned, *self._kept(), *scripts):
            run = trials.replay(program, thorough=False, watch_inputs=True)
            self.again = self.violation(trials, run)
            if self.again is not None:
                return
            self._forget(program)

    def ending(self, choose: Random) -> Program:
        """Return the last steps of a program: none, or steps that bring together points of two
        axes.

        The axes are those of an enforced family, and the steps use threads of their own. Rules
        alone seldom bring such points together.
        """
        if not self.crossed or choose.random() >= _CROSSED:
            return ()
        able = self.survey.able
        return suited_program(drawn_crossing(choose.choice(self.crossed), able, choose), able)

    def violation(self, trials: Trials, run: ProgramRun) -> Violation | None:
        """Return the violation behind what a run showed, or None if no contract is broken."""
        shown = repr((run.program, [breach.contract for breach in run.breaches]))
        if shown not in self._decided:
            self._decided[shown] = self._look_into(trials, run)
        return self._decided[shown]

    def _look_into(self, trials: Trials, run: ProgramRun) -> Violation | None:
        names = dict.fromkeys(breach.contract for breach in run.breaches)
        if known := next((self._behind[name] for name in names if name in self._behind), None):
            return known
        self.search.use(trials)
        self.search.watch_inputs = True
        before = set(self.search.found)
        self.search.follow_up(run)
        found = next((v for name, v in self.search.found.items() if name not in before), None)
        if found is not None:
            self._behind |= dict.fromkeys(names, found)
            self._keep(found.program)
        return found

    # --- the example database ----------------------------------------------------------------

    def _kept(self) -> list[Program]:
        programs: list[Program] = []
        for kept in sorted(set(known.fetch(self.key))) if (known := database()) else ():
            # Another version of the kit, or of the machine, may have stored the program.
            with suppress(ValueError, SaverproofError):
                programs.append(from_json(json.loads(kept)))
        return programs

    def _keep(self, program: Program) -> None:
        if kept := database():
            kept.save(self.key, _as_bytes(program))

    def _forget(self, program: Program) -> None:
        if kept := database():
            kept.delete(self.key, _as_bytes(program))


def database() -> ExampleDatabase | None:
    """Return the example database of the Hypothesis test that is running, or None."""
    return settings.default.database if currently_in_test_context() and settings.default else None


def _as_bytes(program: Program) -> bytes:
    return json.dumps(to_json(program), sort_keys=True).encode("ascii")
