"""What is known of a class of machines: programs that broke a contract, and what was looked into.

Programs that broke a contract before are taken first, and are kept in the example database of the
settings. Hypothesis calls a test again with choices that it made before, and insists that it ends
as it did: so what a program came to is decided once.
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
from saverproof.items import Finding
from saverproof.machines.search import ProgramSearch
from saverproof.machines.suiting import suited_program
from saverproof.machines.survey import SaverSurvey
from saverproof.machines.trials import ProgramRun, Trials
from saverproof.machines.violations import Violation
from saverproof.programs.axes.crossing import drawn_crossing
from saverproof.programs.theme import Theme
from saverproof.steps.codec import from_json, to_json
from saverproof.steps.definitions import Program

_CROSSED = 1 / 4
"""How many programs end with what crosses axes."""


@dataclass(slots=True)
class KnownFailures:
    """Of one class of machines, from its first machine to its last."""

    key: bytes
    survey: SaverSurvey
    themes: tuple[Theme, ...]
    search: ProgramSearch
    crossed: tuple[str, ...] = ()
    """The families whose axes are crossed."""
    standing: tuple[Finding, ...] = ()
    """What is wrong of the saver without any program."""
    again: Violation | None = None
    """What a program from before has shown once more."""
    _turns: dict[int, Theme] = field(default_factory=dict)
    _behind: dict[str, Violation] = field(default_factory=dict)
    """The contract that a difference was first blamed on, and the violation behind it."""
    _decided: dict[str, Violation | None] = field(default_factory=dict)

    @property
    def made(self) -> tuple[Theme, ...]:
        """The themes whose programs are made step by step."""
        return tuple(theme for theme in self.themes if theme.script is None)

    def theme_of(self, seed: int, otherwise: Theme) -> Theme:
        """The theme of the programs that begin with a seed. Many do that begin with the same one,
        and few seeds are drawn, so that themes take turns: none is to be left out.
        """
        themes = self.made or (otherwise,)
        return self._turns.setdefault(seed, themes[len(self._turns) % len(themes)])

    def try_given(self, trials: Trials, pinned: tuple[Program, ...]) -> None:
        """Take the programs that need not be made: the author's, those in the database, and those
        of scripted themes.
        """
        scripts = (t.script(Random(0)) for t in self.themes if t.script is not None)
        for program in (*pinned, *self._kept(), *scripts):
            run = trials.replay(program, thorough=False, watch_inputs=True)
            self.again = self.violation(trials, run)
            if self.again is not None:
                return
            self._forget(program)

    def ending(self, choose: Random) -> Program:
        """What a program ends with: nothing, or points of the axes of a family that is enforced,
        brought together on threads of their own. The rules alone seldom come to those.
        """
        if not self.crossed or choose.random() >= _CROSSED:
            return ()
        able = self.survey.able
        return suited_program(drawn_crossing(choose.choice(self.crossed), able, choose), able)

    def violation(self, trials: Trials, run: ProgramRun) -> Violation | None:
        """The shortest program that shows what a run showed, if that breaks a contract."""
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
            # Another version of the kit, or of the machine, may have kept it.
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
    """The example database of the test of Hypothesis which runs now."""
    return settings.default.database if currently_in_test_context() and settings.default else None


def _as_bytes(program: Program) -> bytes:
    return json.dumps(to_json(program), sort_keys=True).encode("ascii")
