"""The state machine of the kit: every step as a rule, every contract as an invariant.

The random driver and Hypothesis both run its rules, and those of the classes derived from it.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from random import Random
from typing import Any, ClassVar, NoReturn, Self

import hypothesis
from hypothesis import HealthCheck, Verbosity
from hypothesis.control import currently_in_test_context
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition
from hypothesis.stateful import rule as hypothesis_rule

from saverproof.contracts.contract import Contract
from saverproof.contracts.registry import TABLES
from saverproof.families.items import Finding
from saverproof.families.machines.broken import ContractBroken, told
from saverproof.families.machines.choices import PHASES, SEEDS, SeededChoices
from saverproof.families.machines.everything import EVERYTHING
from saverproof.families.machines.explaining.trials import NOTHING, Stepper, programs, run_of
from saverproof.families.machines.explaining.violations import Violation
from saverproof.families.machines.findings import finding
from saverproof.families.machines.kit_rules import KitRules
from saverproof.families.machines.known_failures import KnownFailures
from saverproof.families.machines.own_rules import OwnAdditions, own_sources, with_own
from saverproof.families.machines.rules import install
from saverproof.families.machines.running import MachinePlan, running
from saverproof.families.machines.targeting import target_of
from saverproof.judging.session import Session
from saverproof.programs.legality import objection
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import Program, Step
from saverproof.programs.steps.describing import describe
from saverproof.programs.theme import Maker, Theme

_NAME_SETS = 1_000
"""How many numbers a program's name set is drawn from: many more than a theme has sets."""


class SaverMachine(KitRules, OwnAdditions, RuleBasedStateMachine, Stepper):
    """Runs a saver and the model side by side; subclass it to add rules and invariants.

    A subclass names its ``target``. What it finds broken, it shows by the shortest steps::

        class Mine(SaverMachine):
            target = my_saver

            @rule(pages=integers(1, 4))
            def vacuum(self, pages):
                "Reclaiming space changes nothing that is read."
                self.saver.vacuum(pages)

        TestMine = Mine.TestCase

    Attributes:
        target: the saver's target, or the function that opens it.
        apis: the APIs through which it is called: "sync", "async", or both in turns.
        themes: the kinds of programs: which rules they use how often, and which names.
        enforces: the invariants: contracts that no step may break.
        contracts: the ids of the invariants that are enforced; empty for all.
        strict: whether contracts that are advice are enforced as well.
        examples: programs that are run before any is made.

    Raises:
        ContractBroken: the saver broke an enforced contract.
    """

    target: ClassVar[Any]
    apis: ClassVar[tuple[str, ...]] = ("sync",)
    themes: ClassVar[tuple[Theme, ...]] = (EVERYTHING,)
    enforces: ClassVar[tuple[Contract, ...]] = tuple(
        each for table in TABLES if table.phase == "functional" for each in table.contracts
    )
    contracts: ClassVar[frozenset[str]] = frozenset()
    strict: ClassVar[bool] = False
    examples: ClassVar[tuple[Program, ...]] = ()
    _known: ClassVar[KnownFailures | None] = None
    _last: ClassVar[tuple[Violation, Finding] | None] = None

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        cls.themes = tuple(with_own(theme, cls.own_rules.values()) for theme in cls.themes)
        cls._known = cls._last = None
        install(cls, cls.themes, cls.own_rules)
        # The kit itself shortens a failing program, and prints its steps.
        cls.TestCase.settings = hypothesis.settings(
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=PHASES,
            verbosity=Verbosity.quiet,
        )

    def __init__(self) -> None:
        given = getattr(self, "_given", None)
        RuleBasedStateMachine.__init__(self)
        self._resources = ExitStack()
        self.choices = SeededChoices()
        self._is_driven = given is None
        self._printed = 0
        self._under_way = False
        if given is not None:
            Stepper.__init__(self, *given)
            self.session.own = self
            return
        try:
            self._open()
        except BaseException:
            self._resources.close()
            raise

    @classmethod
    def over(cls, session: Session, theme: Theme) -> Self:
        """Return a machine on an open session. It takes only the steps that its driver gives it."""
        machine = cls.__new__(cls)
        machine.hand_over(session, theme)
        machine.__init__()  # type: ignore[misc]
        return machine

    def hand_over(self, session: Session, theme: Theme) -> None:
        """Set the session and theme that the machine will work on; call it before ``__init__``."""
        self._given: tuple[Session, Theme] | None = (session, theme)

    def _open(self) -> None:
        """Open the saver on a new workspace, or fail at once if it is known to be broken."""
        cls = type(self)
        plan = cls.plan()
        self._trials, cls._known = self._resources.enter_context(running(plan, cls._known))
        known = cls._known
        if known.standing:
            self._fail(known.standing[0], ())
        if known.again is not None:
            self._fail(cls._finding(known.again), known.again.program)
        session = self._resources.enter_context(self._trials.session(NOTHING))
        Stepper.__init__(self, session, known.themes[0])
        session.own = self

    @classmethod
    def plan(cls) -> MachinePlan:
        """Return the settings of this class as data."""
        target = target_of(cls)
        return MachinePlan(
            f"saverproof:{cls.__module__}.{cls.__qualname__}".encode(),
            target,
            cls.apis,
            cls.themes,
            cls.enforces,
            cls.contracts,
            cls.strict,
            (*target.programs, *cls.examples),
            own_sources(cls),
            cls.over,
        )

    @classmethod
    def named_invariants(cls) -> dict[str, str]:
        """Return what each invariant of the class demands, by contract id.

        The author's invariants are included.
        """
        enforced = [one for one in cls.enforces if not cls.contracts or one.id in cls.contracts]
        own = {one.contract: one.statement for one in cls.own_invariants}
        return {one.id: one.statement for one in enforced} | own

    @classmethod
    def search(cls, *, steps: int = 20_000, seed: int = 0) -> None:
        """Run programs that the random driver makes, about ``steps`` steps in all.

        It makes several times as many programs a second as Hypothesis does, and has no example
        database.

        Raises:
            ContractBroken: the saver broke an enforced contract.
        """
        with running(cls.plan(), None) as (trials, known):
            if known.standing:
                cls._fail(known.standing[0], ())
            if known.again is not None:
                cls._fail(cls._finding(known.again), known.again.program)
            for theme, number in programs(known.themes, steps):
                choose = Random(f"{seed}:{theme.name}:{number}")
                run = trials.make(theme.with_name_set(number + seed), choose, known.ending)
                violation = known.violation(trials, run) if run.breaches else None
                if violation is not None:
                    cls._fail(cls._finding(violation), violation.program)

    # --- what rules and invariants of authors may use --------------------------------------

    @property
    def saver(self) -> Any:
        """The open saver."""
        return self.session.store.saver

    @property
    def model(self) -> Model:
        """The model: what a right saver would hold now."""
        return self.session.model

    def call(self, operation: str, *arguments: Any, **named: Any) -> Any:
        """Call a method of the saver through the API in use, given its name in the sync API."""
        return self.session.driver.invoke(operation, *arguments, **named)

    # --- taking steps ----------------------------------------------------------------------

    def take(self, step: Step) -> None:
        """Take a step, if it is legal here, and judge it."""
        __tracebackhide__ = True
        known = len(self.session.breaches)
        self._under_way = True
        self.session.take(step)
        self._judge(known)
        self._under_way = False

    def make(self, maker: Maker, choose: Random) -> None:
        """Take a step that a maker makes, if it makes one that is legal now."""
        __tracebackhide__ = True
        step = maker(self.model, choose, self.theme)
        if step is not None and objection(step, self.model) is None:
            self.take(step)

    @initialize(seed=SEEDS)
    def choose_theme(self, seed: int) -> None:
        """Choose the theme and the names of this program."""
        choose = self.choices.of(seed)
        known = self._known
        theme = self.theme if known is None else known.theme_of(seed, self.theme)
        self.theme = theme.with_name_set(choose.randrange(_NAME_SETS))
        self.session.watch_inputs = theme.watch_inputs

    @precondition(lambda self: not self.theme.weights)
    @hypothesis_rule()
    def rest(self) -> None:
        """Do nothing: a step for a saver that can take no other step of the theme."""

    def teardown(self) -> None:
        """Bring points of axes together, look at the whole store once more, and close it."""
        if not self._is_driven:
            return
        try:
            # Drawn from all seeds so far: most programs of Hypothesis begin like another one.
            if self._known is not None and not self._under_way:
                for step in self._known.ending(self.choices.of(0)):
                    self.take(step)
            known = len(self.session.breaches)
            self.session.finish()
            self._judge(known)
            self._tell_hypothesis()
        finally:
            self._resources.close()

    def _tell_hypothesis(self) -> None:
        """Report the judged contracts to Hypothesis, for its statistics and as its target."""
        if not currently_in_test_context():
            return
        judged = self.session.checked
        for contract in judged:
            hypothesis.event(f"judged {contract}")
        hypothesis.target(float(len(judged)), label="contracts judged in one program")

    def _repr_step(self, rule: Any, data: Any, result: Any) -> str:
        """Return the steps taken since the last call, as Hypothesis prints them."""
        del data, result
        taken = self.session.taken[self._printed :]
        self._printed = len(self.session.taken)
        return "\n".join(f"state.{rule.function.__name__}: {describe(step)}" for step in taken)

    # --- judging ---------------------------------------------------------------------------

    def _judge(self, known: int) -> None:
        """Raise ContractBroken if a breach after the first ``known`` ones breaks an enforced
        contract.
        """
        fresh = tuple(self.session.breaches[known:])
        if not fresh or not self._is_driven or self._known is None:
            return
        __tracebackhide__ = True
        run = replace(run_of(self.session, finished=False), breaches=fresh)
        if (violation := self._known.violation(self._trials, run)) is not None:
            self._fail(self._finding(violation), violation.program)

    @classmethod
    def _fail(cls, found: Finding, program: Program) -> NoReturn:
        """Raise ContractBroken. This is the only place where it is raised, because Hypothesis tells
        failures apart by their line.
        """
        __tracebackhide__ = True
        text = told(found, target_of(cls).name, own_sources(cls).statements.get(found.contract, ""))
        raise ContractBroken(text, program, found)

    @classmethod
    def _finding(cls, violation: Violation) -> Finding:
        """Return a violation as a finding. It is kept for the next call, since writing its script
        takes long.
        """
        if cls._last is None or cls._last[0] is not violation:
            plan = cls.plan()
            cls._last = violation, finding(plan.target, plan.api, violation, plan.own)
        return cls._last[1]


install(SaverMachine, SaverMachine.themes, {})
