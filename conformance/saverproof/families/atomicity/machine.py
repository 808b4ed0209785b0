"""The state machine of faults: operations and faults, each a rule, in any order.

Its invariant is atomic rollback: a call that raised has left nothing or everything, and the saver
works as before. A second saver takes the same calls without any fault, for comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random
from typing import Any, ClassVar, NoReturn

import hypothesis
from hypothesis import HealthCheck, Verbosity
from hypothesis.control import currently_in_test_context
from hypothesis.stateful import RuleBasedStateMachine, precondition
from hypothesis.stateful import rule as hypothesis_rule

from saverproof.errors import SaverproofError
from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.fault_rules import FaultRules
from saverproof.families.atomicity.machine_bench import (
    KnownPrograms,
    answered,
    folder_of_machine,
    plan_of,
)
from saverproof.families.atomicity.programs.own_steps import OwnStepsOfMachine, StandInMachine
from saverproof.families.atomicity.programs.random_programs import (
    OUTAGES,
    WATCHED,
    DrawnSteps,
    FaultMaker,
    PlannedStep,
    StepSource,
    fault_theme,
)
from saverproof.families.atomicity.programs.random_violation import ProgramViolation
from saverproof.families.atomicity.trials.worker import UnansweredError
from saverproof.families.machines.broken import ContractBroken, told
from saverproof.families.machines.choices import PHASES, SEEDS, SeededChoices
from saverproof.families.machines.own_rules import own_sources, with_own
from saverproof.families.machines.rules import install
from saverproof.families.machines.targeting import target_of
from saverproof.programs.legality import objection
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import Step
from saverproof.programs.theme import Maker, Theme

_LENGTH = 24
"""How many calls a program of the random driver has, beside its faults."""
_STEPS = 40
"""How many rules a program of Hypothesis has, many of which are faults."""
_OUTAGES = 0.2
_OUTAGE_CALLS = 3
"""How many calls an outage lasts at most."""
_EVERYTHING = frozenset({"delete_thread", "copy_thread", "prune"})


class AtomicityMachine(FaultRules, StandInMachine, RuleBasedStateMachine):
    """Mixes operations with faults; subclass it to name a target, and to add faults.

    ::

        class Faulty(AtomicityMachine):
            target = my_saver

        TestFaulty = Faulty.TestCase

    Attributes:
        target: the saver's target, or the function that opens it.
        api: "sync" or "async", through which it is called.
        contracts: the ids of the contracts of atomicity to be enforced; empty for all.
        examples: programs that are taken before any is made, as artefacts have them.

    Raises:
        ContractBroken: the saver broke an enforced contract.
    """

    target: ClassVar[Any]
    api: ClassVar[str] = "sync"
    contracts: ClassVar[frozenset[str]] = frozenset()
    examples: ClassVar[tuple[Any, ...]] = ()
    _known: ClassVar[KnownPrograms | None] = None
    standing_for = None
    """The saver on which an author's step acts, if that is not the machine's own saver."""

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        cls._known = None
        install(cls, [_theme(cls, _EVERYTHING)], cls.own_rules)
        cls.TestCase.settings = hypothesis.settings(
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=PHASES,
            stateful_step_count=_STEPS,
            verbosity=Verbosity.quiet,
        )

    def __init__(self) -> None:
        super().__init__()
        self.choices = SeededChoices()
        self._next: Injection | None = None
        self._outage = 0
        self._of_outage: Injection | None = None
        self._over = False
        self._resources = ExitStack()
        try:
            self._open()
        except BaseException:
            self._resources.close()
            raise

    def _open(self) -> None:
        cls = type(self)
        folder = self._resources.enter_context(folder_of_machine())
        is_first = cls._known is None
        known = cls._known_programs(folder)
        self._bench = self._resources.enter_context(known.bench(folder))
        self._kinds = known.kinds(self._bench)
        self.theme: Theme = _theme(cls, known.plan.facts["operations"][cls.api])
        if is_first:
            known.try_given(self._bench, cls.examples)
        if known.again is not None:
            cls._fail(known.again)
        self._trial = known.trial(self._bench, _Asked())
        self._bench.on_worker(self._trial.__enter__)
        self._worker = self._bench.worker

    @classmethod
    def _known_programs(cls, folder: Path) -> KnownPrograms:
        """Return what is known of the class. The saver's capabilities are found out only once."""
        if cls._known is None:
            target = target_of(cls)
            cls._known = KnownPrograms(
                f"saverproof:{cls.__module__}.{cls.__qualname__}".encode(),
                target,
                plan_of(target, cls.api, folder),
                cls.contracts,
                own_sources(cls),
                OwnStepsOfMachine(cls),
            )
        return cls._known

    # --- what rules and invariants of authors may use --------------------------------------

    @property
    def saver(self) -> Any:
        """The saver on which a rule or an invariant acts."""
        return self._acting[0].saver

    @property
    def model(self) -> Model:
        """The model of what a saver holds if no call fails."""
        return self._acting[1]

    @property
    def _acting(self) -> tuple[Any, Model]:
        return self.standing_for or (self._trial.driver, self._trial.model)

    def call(self, operation: str, *arguments: Any, **named: Any) -> Any:
        """Call a method of the saver, by its name in the sync API, through the API in use."""
        return self._acting[0].invoke(operation, *arguments, **named)

    # --- rules -----------------------------------------------------------------------------

    def make(self, maker: Maker, choose: Random) -> None:
        """Take a step that a maker makes, if the maker makes one now."""
        __tracebackhide__ = True
        step = maker(self.model, choose, self.theme)
        if step is not None and objection(step, self.model) is None:
            self.take(step)

    def can_fail(self, kind: str) -> bool:
        """Return whether the next call can be made to fail by this kind of fault."""
        return kind in self._kinds and self._next is None and not self._outage

    def fail_next(self, maker: FaultMaker, choose: Random) -> None:
        """Fail the next call with a fault that a maker makes."""
        self._next = maker(choose)

    @precondition(lambda self: any(map(self.can_fail, OUTAGES)))
    @hypothesis_rule(seed=SEEDS)
    def an_outage_begins(self, seed: int) -> None:
        """Let the next calls fail, one after the other."""
        choose = self.choices.of(seed)
        # All rules are as likely, and this one takes the place of several faults.
        if choose.random() < _OUTAGES:
            self._of_outage = OUTAGES[choose.choice([*filter(self.can_fail, OUTAGES)])]
            self._outage = _OUTAGE_CALLS

    @precondition(lambda self: self._outage > 0)
    @hypothesis_rule()
    def the_outage_ends(self) -> None:
        """Let calls work again; those that failed are made once more."""
        __tracebackhide__ = True
        self._outage = 0
        self._ask(lambda: self._trial.finish())

    def take(self, step: Step) -> None:
        """Call the saver, under the next fault if there is one, and judge it."""
        __tracebackhide__ = True
        injection, self._next = self._of_outage if self._outage else self._next, None
        self._outage = max(self._outage - 1, 0)
        self._ask(lambda: self._trial.take(PlannedStep(step, injection)))

    def teardown(self) -> None:
        """End an outage, close the saver, and remove what is left of a fault."""
        try:
            if not self._over:
                self._ask(lambda: self._trial.finish())
                if currently_in_test_context():
                    hypothesis.target(float(self._trial.injected), label="faults that fired")
        finally:
            # A worker that was given up has its saver's connections, which no other may close.
            if self._worker is self._bench.worker:
                with suppress(SaverproofError, UnansweredError):
                    self._bench.on_worker(lambda: self._trial.__exit__())
            self._resources.close()

    # --- judging ---------------------------------------------------------------------------

    def _ask(self, work: Callable[[], ProgramViolation | None]) -> None:
        """Do the work on the worker's thread, and raise if it breaks an enforced contract."""
        __tracebackhide__ = True
        if self._over:
            return
        violation = answered(self._bench, self._trial, work)
        if violation is None:
            return
        self._over = True
        known = type(self)._known
        assert known is not None
        contract = known.keep(self._bench, violation)
        if contract is not None:
            type(self)._fail(contract)

    @classmethod
    def search(cls, *, programs: int = 200, seed: int = 0) -> None:
        """Run programs of the random driver.

        Raises:
            ContractBroken: the saver broke an enforced contract.
        """
        with folder_of_machine() as folder:
            known = cls._known_programs(folder)
            theme = _theme(cls, known.plan.facts["operations"][cls.api])
            with known.bench(folder) as bench:
                kinds = known.kinds(bench)
                for number in range(programs):
                    choose = Random(f"{seed}:{number}")
                    trial = known.trial(bench, DrawnSteps(choose, theme, _LENGTH, kinds))
                    violation = answered(bench, trial, trial.run)
                    if violation is None:
                        continue
                    if (contract := known.keep(bench, violation)) is not None:
                        cls._fail(contract)

    @classmethod
    def _fail(cls, contract: str) -> NoReturn:
        """Raise a failure. All failures are raised here, as Hypothesis tells them apart by their
        place.
        """
        __tracebackhide__ = True
        assert cls._known is not None
        found, program = cls._known.found[contract]
        demanded = cls._known.sources.statements.get(contract, "")
        raise ContractBroken(told(found, cls._known.target.name, demanded), program, found)


class _Asked(StepSource):
    """A source of steps that come one by one from the caller of the trial."""

    threads: tuple[str, ...] = WATCHED

    def planned(self, number: int, model: Model) -> PlannedStep | None:
        """Return None: a step exists only once the caller takes one."""
        return None


def _theme(machine: type[AtomicityMachine], able: Collection[str]) -> Theme:
    return with_own(fault_theme(able), machine.own_rules.values())


install(AtomicityMachine, [fault_theme(_EVERYTHING)], {})
